#include "graph/subgraphs.h"

#include <memory>
#include <variant>
#include <vector>

#include "graph/model.h"

namespace parity {

std::vector<const Graph*> Subgraphs(const Node& node) {
  std::vector<const Graph*> graphs;
  for (const Attribute& attribute : node.attributes) {
    if (const auto* one =
            std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
      graphs.push_back(one->get());
    } else if (const auto* many =
                   std::get_if<std::vector<std::shared_ptr<Graph>>>(
                       &attribute.value)) {
      for (const std::shared_ptr<Graph>& graph : *many)
        graphs.push_back(graph.get());
    }
  }
  std::erase(graphs, nullptr);
  return graphs;
}

}  // namespace parity
