#include "backend/ort/tapped_model.h"

#include <cstdint>
#include <expected>
#include <format>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "parity/error.h"

namespace parity {
namespace {

// A model in memory is one protobuf message, which ends at 2 GiB.
constexpr std::uint64_t kMostBytes = 2'000'000'000;

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

std::unexpected<Error> TooLarge(const std::string& path) {
  return Fail(ErrorCode::kUnsupported,
              std::format("{}: values inside a model can only be seen where "
                          "the whole model is below 2 GB",
                          path));
}

}  // namespace

Result<TappedModel> ReadTappedModel(const std::string& path,
                                    const std::vector<std::string>& taps) {
  PARITY_ASSIGN_OR_RETURN(Model model, ReadOnnxModel(path));
  Graph& graph = model.graph;
  // Before they are all copied.
  if (WeightBytes(graph) > kMostBytes) return TooLarge(path);
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
  if (tapped.bytes.size() > kMostBytes) return TooLarge(path);
  return tapped;
}

}  // namespace parity
