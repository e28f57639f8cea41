// Decodes one TensorProto.
#ifndef PARITY_FORMATS_ONNX_TENSOR_PROTO_H_
#define PARITY_FORMATS_ONNX_TENSOR_PROTO_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/onnx/external_data.h"
#include "graph/encoded.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {

struct DecodedTensor {
  std::string name;
  Tensor tensor;
  std::optional<EncodedTensor>
      encoded;  // set when `tensor` could not or should not be filled
};

// Where the bytes of a message come from.
struct TensorSource {
  std::shared_ptr<const void>
      owner;  // keeps the bytes alive for tensors that borrow them
  ExternalFiles* external = nullptr;  // null: external tensors stay encoded
};

// raw_data, float_data and double_data are borrowed where aligned; other typed
// fields are decoded. Throws protozero's exceptions for bytes that are no
// protobuf message: callers turn them into errors at the module's edge. Errors,
// naming the tensor: kCorrupt when the data do not fit dtype and shape; those
// of ExternalFiles::Read().
[[nodiscard]] Result<DecodedTensor> DecodeTensor(std::string_view message,
                                                 const TensorSource& source);

// A SparseTensorProto; always kept encoded, under the name of its values.
[[nodiscard]] Result<DecodedTensor> DecodeSparseTensor(
    std::string_view message, const TensorSource& source);

}  // namespace parity::onnx

#endif  // PARITY_FORMATS_ONNX_TENSOR_PROTO_H_
