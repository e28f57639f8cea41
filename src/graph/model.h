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

#include "parity/dtype.h"
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
                           // "string"; empty for tensors
};

using AttributeValue =
    std::variant<float, std::int64_t, std::string, Tensor,
                 std::shared_ptr<Graph>, std::vector<float>,
                 std::vector<std::int64_t>, std::vector<std::string>,
                 std::vector<Tensor>, std::vector<std::shared_ptr<Graph>>>;

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

  // Null when there is none of that name.
  [[nodiscard]] const AttributeValue* FindAttribute(
      std::string_view attribute) const;
};

// A constant. Its tensor borrows from the mapped file (or external data file)
// where possible.
struct Initializer {
  std::string name;
  Tensor tensor;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;  // in topological order
  std::vector<Initializer> initializers;
  std::vector<ValueInfo> inputs;  // may contain initializers' names (IR version
                                  // < 4); see RequiredInputs()
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_infos;

  // Inputs that are no initializers, in order: what a caller must feed.
  [[nodiscard]] std::vector<ValueInfo> RequiredInputs() const;
};

struct OpsetImport {
  std::string domain;  // empty = ai.onnx
  std::int64_t version = 0;
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

  // Version of the default domain's operator set; 0 when it is not imported.
  [[nodiscard]] std::int64_t opset_version() const;
};

}  // namespace parity

#endif  // PARITY_GRAPH_MODEL_H_
