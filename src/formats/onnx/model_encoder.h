// Encodes the parts of a model as protobuf messages; large tensors are borrowed
// from the model.
#ifndef PARITY_FORMATS_ONNX_MODEL_ENCODER_H_
#define PARITY_FORMATS_ONNX_MODEL_ENCODER_H_

#include <string>
#include <string_view>

#include "formats/onnx/message_writer.h"
#include "graph/model.h"
#include "parity/tensor.h"

namespace parity::onnx {

// GraphProto's fields before and after the initializers of the outermost graph,
// which the writer lays out itself. Fields are written in the order of their
// numbers, so the bytes are those of the protobuf library.
[[nodiscard]] MessageWriter EncodeGraphBeforeInitializers(const Graph& graph);
[[nodiscard]] MessageWriter EncodeGraphAfterInitializers(const Graph& graph);

// ModelProto's fields before and after the graph.
[[nodiscard]] MessageWriter EncodeModelBeforeGraph(const Model& model);
[[nodiscard]] MessageWriter EncodeModelAfterGraph(const Model& model);

// A whole TensorProto.
[[nodiscard]] MessageWriter EncodeTensor(std::string_view name,
                                         const Tensor& tensor);
// Its dims, data_type and name: everything but the values.
[[nodiscard]] MessageWriter EncodeTensorHead(std::string_view name,
                                             const Tensor& tensor);
// An initializer that is not to be laid out.
void AddInitializer(const Initializer& initializer, MessageWriter* graph);

// Name of the first tensor of the model whose values stand in an external file
// and were not loaded; empty if none.
[[nodiscard]] std::string FirstUnloadedTensor(const Model& model);

}  // namespace parity::onnx

#endif  // PARITY_FORMATS_ONNX_MODEL_ENCODER_H_
