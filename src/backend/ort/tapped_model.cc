#include "backend/ort/tapped_model.h"

#include <cstdint>
#include <format>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "parity/error.h"

namespace parity {
namespace {

// A model in memory is one protobuf message, which ends at 2 GiB; the nodes
// need some room.
constexpr std::uint64_t kMostWeightBytes = 2'000'000'000;

std::set<std::string> ValuesOf(const Graph& graph) {
  std::set<std::string> names;
  for (const ValueInfo& input : graph.inputs) names.insert(input.name);
  for (const Initializer& initializer : graph.initializers)
    names.insert(initializer.name);
  for (const Node& node : graph.nodes)
    names.insert(node.outputs.begin(), node.outputs.end());
  names.erase("");  // an omitted output
  return names;
}

std::uint64_t WeightBytes(const Graph& graph) {
  std::uint64_t bytes = 0;
  for (const Initializer& initializer : graph.initializers)
    bytes += initializer.tensor.bytes().size();
  return bytes;
}

}  // namespace

Result<TappedModel> ReadTappedModel(const std::string& path,
                                    const std::vector<std::string>& taps) {
  PARITY_ASSIGN_OR_RETURN(Model model, ReadOnnxModel(path));
  Graph& graph = model.graph;
  if (WeightBytes(graph) > kMostWeightBytes) {
    return Fail(ErrorCode::kUnsupported,
                std::format("{}: values inside a model can be seen up to 2 GB "
                            "of weights, and it has {} bytes",
                            path, WeightBytes(graph)));
  }
  TappedModel tapped;
  std::set<std::string> returned;
  for (const ValueInfo& output : graph.outputs) {
    tapped.outputs.push_back(output.name);
    returned.insert(output.name);
  }
  const std::set<std::string> values = ValuesOf(graph);
  for (const std::string& tap : taps) {
    if (!values.contains(tap)) {
      return Fail(ErrorCode::kNotFound,
                  std::format("{}: there is no value '{}' in the main graph",
                              path, tap));
    }
    if (!returned.insert(tap).second) continue;
    // ONNX Runtime infers the type.
    graph.outputs.push_back({.name = tap,
                             .dtype = std::nullopt,
                             .shape = std::nullopt,
                             .other_type = ""});
  }
  tapped.bytes = SerializeModel(model);
  return tapped;
}

}  // namespace parity
