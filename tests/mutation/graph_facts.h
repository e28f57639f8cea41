// What can be said of a graph's values without running it, as far as planting
// faults needs it.
#ifndef PARITY_TESTS_MUTATION_GRAPH_FACTS_H_
#define PARITY_TESTS_MUTATION_GRAPH_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {

// Borrows from the graph.
class GraphFacts {
 public:
  explicit GraphFacts(const Graph& graph);

  // Nothing: not known.
  [[nodiscard]] std::optional<DType> TypeOf(std::string_view value) const;
  [[nodiscard]] bool IsFloat(std::string_view value) const;
  // Null when it is no initializer, has no values or is an input, too.
  [[nodiscard]] const Tensor* ConstantOf(std::string_view value) const;
  // The values of an initializer, or of a Constant node.
  [[nodiscard]] const Tensor* AnyConstantOf(std::string_view value) const;
  [[nodiscard]] std::optional<std::size_t> ProducerOf(
      std::string_view value) const;
  // Computed from an input's elements, not from shapes and constants alone.
  [[nodiscard]] bool IsData(std::string_view value) const {
    return data_.contains(value);
  }
  // Its number of elements depends on the elements of other values.
  [[nodiscard]] bool IsCounted(std::string_view value) const {
    return counted_.contains(value);
  }
  // Whether an output of the graph is computed from the node.
  [[nodiscard]] bool IsUsed(std::size_t node) const { return used_[node]; }
  // 0: not known.
  [[nodiscard]] std::size_t RankOf(std::string_view value) const;
  // Values that certainly have the same shape and type are in one class, named
  // by one of them.
  [[nodiscard]] std::string_view ShapeClassOf(std::string_view value) const;
  // Indices of nodes worth a fault: ONNX's own operators that compute data and
  // are used.
  [[nodiscard]] const std::vector<std::size_t>& data_nodes() const {
    return data_nodes_;
  }

 private:
  [[nodiscard]] std::optional<DType> OutputType(const Node& node) const;
  void AddNode(const Node& node, std::size_t index);
  void AddShapeClass(const Node& node);
  void FindUsed(const Graph& graph);

  std::unordered_map<std::string_view, DType> types_;
  std::unordered_map<std::string_view, const Tensor*> constants_;
  std::unordered_map<std::string_view, const Tensor*> constant_nodes_;
  std::unordered_map<std::string_view, std::size_t> producers_;
  std::unordered_set<std::string_view> data_;
  std::unordered_set<std::string_view> counted_;
  std::unordered_map<std::string_view, std::string_view> classes_;
  std::unordered_map<std::string_view, std::size_t> ranks_;
  std::vector<bool> used_;
  std::vector<std::size_t> data_nodes_;
};

// Integer attributes, or what is to be assumed.
[[nodiscard]] std::int64_t IntegerOr(const Node& node, std::string_view name,
                                     std::int64_t otherwise);
[[nodiscard]] double FloatOr(const Node& node, std::string_view name,
                             double otherwise);
[[nodiscard]] std::string_view TextOr(const Node& node, std::string_view name,
                                      std::string_view otherwise);
// Empty when absent.
[[nodiscard]] std::vector<std::int64_t> IntegersOf(const Node& node,
                                                   std::string_view name);

// The element type's number in TensorProto.DataType; 0 for complex ones.
[[nodiscard]] std::int64_t OnnxTypeNumber(DType dtype);

}  // namespace parity

#endif  // PARITY_TESTS_MUTATION_GRAPH_FACTS_H_
