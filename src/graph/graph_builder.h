// Builds a Graph node by node and sees to its names.
//
// Every node belongs to a module, written as PyTorch writes module paths
// ("backbone.layer1.0.conv1"; empty for the network itself). The node is named
// "/backbone/layer1/0/conv1/Conv" and its value
// "/backbone/layer1/0/conv1/Conv_output_0"; the second Conv of that module is
// ".../Conv_1" with "…/Conv_1_output_0", and so on. So every value says which
// module computed it, and in which call.
#ifndef PARITY_GRAPH_GRAPH_BUILDER_H_
#define PARITY_GRAPH_GRAPH_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {

// A value of the graph being built: a handle, so that naming it later renames
// every use. A default-made one stands for an omitted optional input.
struct Value {
  int id = -1;
};

// One element of `shape` ({} or {1}). `dtype` is bool, float16, float32 or
// float64.
[[nodiscard]] Tensor OneElement(double value, DType dtype, Shape shape);

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string graph_name) {
    graph_.name = std::move(graph_name);
  }

  [[nodiscard]] Value Input(std::string name, DType dtype,
                            std::vector<Dimension> dimensions);
  // Makes `value` an output of the graph, after those already made. It takes
  // the name, so it must be a node's and not yet an output.
  void Output(Value value, std::string name, DType dtype,
              std::vector<Dimension> dimensions);

  // A named constant. The tensor can be given later, but before Take().
  [[nodiscard]] Value Initializer(std::string name, Tensor tensor = {});
  void SetTensor(Value initializer, Tensor tensor);

  // Small constants, each stored once and named after its content
  // ("constant/int64/2,3", "constant/float32/0.5"; long ones are numbered). The
  // shape of integers is (n) unless told; a float is a scalar. `dtype` is
  // float16, float32 or float64.
  [[nodiscard]] Value Integers(std::span<const std::int64_t> values);
  [[nodiscard]] Value Integers(std::span<const std::int64_t> values,
                               Shape shape);
  [[nodiscard]] Value Float(double value, DType dtype);
  [[nodiscard]] Value Floats(std::span<const float> values);

  // Adds a node with `output_count` outputs.
  std::vector<Value> Add(std::string_view module, std::string_view op_type,
                         std::span<const Value> inputs,
                         std::vector<Attribute> attributes,
                         std::size_t output_count);

  // Names the value after another module and operator, as if those had
  // computed it: for a node that also does the work of the next module.
  void NameAs(Value value, std::string_view module, std::string_view op_type);

  // The finished graph; the builder is empty afterwards.
  [[nodiscard]] Graph Take() &&;

 private:
  struct PendingNode {
    Node node;  // without inputs and outputs
    std::vector<Value> inputs;
    std::vector<Value> outputs;
  };

  [[nodiscard]] Value NewValue(std::string name);
  [[nodiscard]] Value Constant(const std::string& content, Tensor tensor);
  // "/module/OpType" or "/module/OpType_n".
  [[nodiscard]] std::string NextNodeName(std::string_view module,
                                         std::string_view op_type);

  Graph graph_;
  std::vector<std::string> names_;  // of values, by id
  std::vector<PendingNode> nodes_;
  std::unordered_map<std::string, int> uses_;  // of node names before "_n"
  std::unordered_map<std::string, Value> constants_;   // by content
  std::unordered_map<int, std::size_t> initializers_;  // value id → in graph_
};

}  // namespace parity

#endif  // PARITY_GRAPH_GRAPH_BUILDER_H_
