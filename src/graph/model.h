// An ONNX model in memory: plain data, as the ONNX specification names it.
// Reading and writing: formats/onnx.
#ifndef PARITY_GRAPH_MODEL_H_
#define PARITY_GRAPH_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/encoded.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct Graph;

// One axis of a declared shape: a fixed size, a named dimension, or (neither
// set) anything.
struct Dimension {
  std::optional<std::int64_t> value;
  std::string name;  // dim_param
};

// A declared input, output or intermediate value.
struct ValueInfo {
  std::string name;
  std::optional<DType>
      dtype;  // nothing: not declared, or not a tensor of a known dtype
  std::optional<std::vector<Dimension>> shape;  // nothing: any rank
  std::string other_type;  // "sequence", "map", "optional", "sparse_tensor",
                           // "string", "float8e4m3fn", …; empty for tensors of
                           // a known dtype
  std::string encoded_type = {};  // the TypeProto's bytes when other_type is
                                  // set by a file; written back unchanged
};

using AttributeValue = std::variant<
    float, std::int64_t, std::string, Tensor, std::shared_ptr<Graph>,
    std::vector<float>, std::vector<std::int64_t>, std::vector<std::string>,
    std::vector<Tensor>, std::vector<std::shared_ptr<Graph>>, EncodedAttribute>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

struct Node {
  std::string name;
  std::string op_type;
  std::string domain;  // empty = ai.onnx
  std::vector<std::string>
      inputs;  // an empty name is an omitted optional input
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
  std::string overload = {};  // of the function called; mostly empty
  std::string doc_string = {};
  std::map<std::string, std::string> metadata = {};  // metadata_props

  // Null when there is none of that name.
  [[nodiscard]] const AttributeValue* FindAttribute(
      std::string_view attribute) const;
};

// A constant. Its tensor borrows from the mapped file (or external data file)
// where possible.
struct Initializer {
  std::string name;
  Tensor tensor;
  // Set when the values are not in `tensor`, which is empty then.
  std::optional<EncodedTensor> encoded = {};

  // The tensor. Errors: kUnsupported naming the initializer, its dtype and why
  // its values are not here.
  [[nodiscard]] Result<Tensor> Values() const;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // in topological order
  std::vector<Initializer> initializers;
  std::vector<ValueInfo> inputs;  // may contain initializers' names (IR version
                                  // < 4); see RequiredInputs()
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_infos;
  std::string doc_string = {};

  // Inputs that are no initializers, in order: what a caller must feed.
  [[nodiscard]] std::vector<ValueInfo> RequiredInputs() const;
};

struct OpsetImport {
  std::string domain;  // empty = ai.onnx
  std::int64_t version = 0;
};

// A model-local function: nodes whose op_type is `name` in `domain` stand for
// its nodes.
struct Function {
  std::string domain;
  std::string name;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;        // without a default value
  std::vector<Attribute> default_attributes;  // with one
  std::vector<Node> nodes;
  std::vector<OpsetImport> opset_imports;
  std::vector<ValueInfo> value_infos;
  std::string doc_string;
};

struct Model {
  std::int64_t ir_version = 0;
  std::vector<OpsetImport> opset_imports;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  std::string doc_string;
  std::map<std::string, std::string> metadata;  // metadata_props
  Graph graph;
  std::int64_t model_version = 0;
  std::vector<Function> functions = {};
  // Lines for the user about what the reader kept without reading it.
  std::vector<std::string> warnings = {};

  // Version of the default domain's operator set; 0 when it is not imported.
  [[nodiscard]] std::int64_t opset_version() const;
};

}  // namespace parity

#endif  // PARITY_GRAPH_MODEL_H_
