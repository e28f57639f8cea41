// Parts of an ONNX file that have no in-memory form here: strings, float8,
// 4-bit and sparse tensors, types, references to function attributes, and
// external tensors that were not loaded. They are kept as their protobuf bytes,
// so that a model that contains them can be listed and written back unchanged.
#ifndef PARITY_GRAPH_ENCODED_H_
#define PARITY_GRAPH_ENCODED_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "parity/tensor.h"

namespace parity {

// Bytes of one protobuf message, borrowed from `owner`.
struct EncodedMessage {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner = {};
};

// A TensorProto, or a SparseTensorProto when `sparse`.
struct EncodedTensor {
  std::string dtype;          // "string", "float8e4m3fn", "float32", …
  Shape shape = {};           // as declared; not checked against any data
  bool sparse = false;        // the dense shape is `shape`
  std::string location = {};  // external data file, relative to the model's
                              // folder; empty: inside the model
  std::string reason = {};    // why there are no values, for messages: "string
                              // tensors are not supported"
  EncodedMessage message = {};
};

// An AttributeProto whose value is `kind`: "string tensor", "sparse tensor",
// "type", "reference to 'alpha'".
struct EncodedAttribute {
  std::string kind;
  bool external = false;  // refers to a file beside the model
  EncodedMessage message = {};
};

}  // namespace parity

#endif  // PARITY_GRAPH_ENCODED_H_
