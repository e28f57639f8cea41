// Small changes of a graph that leave it sound.
#ifndef PARITY_TESTS_MUTATION_GRAPH_EDITS_H_
#define PARITY_TESTS_MUTATION_GRAPH_EDITS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {

// Sets an attribute, or adds it.
void SetAttribute(Node& node, std::string_view name, AttributeValue value);

// The elements as doubles; empty for other than floating tensors.
[[nodiscard]] std::vector<double> FloatElements(const Tensor& tensor);
// Floating elements, rounded to `dtype`.
[[nodiscard]] Tensor FloatTensor(DType dtype, const Shape& shape,
                                 const std::vector<double>& elements);

// "name", or "name_1", … when the graph has a value, node or initializer of
// that name.
[[nodiscard]] std::string FreshName(const Graph& graph, std::string name);

// Gives input `input` of the node a constant of its own, changed by `edit`;
// others that use the same constant keep it. The input must be a floating
// initializer, or come from a Constant node.
void EditConstant(Graph& graph, std::size_t node, std::size_t input,
                  const std::function<void(std::vector<double>&)>& edit);

// Puts nodes behind the value: `make` gets the value's name inside, and the
// name that the last of the nodes has to give. Whoever used the value, as an
// output, too, uses theirs. The value must be a node's output.
void InsertBehind(Graph& graph, const std::string& value,
                  const std::function<std::vector<Node>(
                      const std::string& from, const std::string& to)>& make);

// A node "…/<op>_<suffix>" beside `neighbour`, as exporters would name it.
[[nodiscard]] Node MakeNode(const Graph& graph, const std::string& neighbour,
                            std::string op, std::string_view suffix,
                            std::vector<std::string> inputs, std::string output,
                            std::vector<Attribute> attributes = {});

// Renames values everywhere outside of subgraphs.
void RenameValues(
    Graph& graph,
    const std::function<std::string(const std::string& name)>& new_name);

// If, Loop, Scan.
[[nodiscard]] bool HasSubgraphs(const Graph& graph);

}  // namespace parity

#endif  // PARITY_TESTS_MUTATION_GRAPH_EDITS_H_
