#include "diagnose/pinned_selections.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "diagnose/selection.h"
#include "graph/model.h"
#include "parity/compare.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

std::int64_t DifferingIndices(std::span<const std::int64_t> expected,
                              std::span<const std::int64_t> actual) {
  std::vector<std::int64_t> a(expected.begin(), expected.end());
  std::vector<std::int64_t> b(actual.begin(), actual.end());
  std::ranges::sort(a);
  std::ranges::sort(b);
  std::vector<std::int64_t> missing;
  std::ranges::set_difference(b, a, std::back_inserter(missing));
  return std::ssize(missing);
}

}  // namespace

std::vector<const Node*> SelectionNodes(const Graph& graph) {
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes) {
    if (IsSelection(node)) nodes.push_back(&node);
  }
  return nodes;
}

std::int64_t DifferingCells(const NamedTensors& expected,
                            const NamedTensors& actual) {
  for (const NamedTensor& mine : actual) {
    const Tensor* const other = FindTensor(expected, mine.name);
    if (other == nullptr || other->shape() != mine.tensor.shape() ||
        other->dtype() != mine.tensor.dtype())
      continue;
    std::int64_t differing = 0;
    if (mine.tensor.dtype() == DType::kInt64) {
      differing = DifferingIndices(other->As<std::int64_t>(),
                                   mine.tensor.As<std::int64_t>());
    } else if (const auto comparison = Compare(
                   other->view(), mine.tensor.view(), {.atol = 0, .rtol = 0})) {
      differing = comparison->mismatch_count;
    }
    if (differing > 0) return differing;
  }
  return 0;
}

}  // namespace parity
