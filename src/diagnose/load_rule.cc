#include <algorithm>
#include <format>
#include <string>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/local_errors.h"
#include "diagnose/rules.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/error.h"

namespace parity {
namespace {

// The node the runtime's message is about: one whose name it quotes, else one
// that takes a value whose name it quotes.
std::string MentionedNode(const Model& model, const std::string& message) {
  const auto quoted = [&](const std::string& name) {
    return !name.empty() && (message.contains("'" + name + "'") ||
                             message.contains("(" + name + ")") ||
                             message.contains("\"" + name + "\""));
  };
  for (const Node& node : model.graph.nodes) {
    if (quoted(node.name)) return node.name;
  }
  for (const Node& node : model.graph.nodes) {
    if (std::ranges::any_of(node.inputs, quoted)) return NodeLabel(node);
  }
  return "";
}

// Loads, and runs where inputs are known.
bool Works(Laboratory& lab, const LoadRequest& load,
           const RunRequest* request) {
  // Without inputs the run fails, but only after the model has loaded.
  const auto run = lab.CandidateVariant(
      load, request == nullptr ? RunRequest{}
                               : RunRequest{.inputs = request->inputs});
  if (run) return true;
  return request == nullptr && !lab.last_load_failed();
}

}  // namespace

Finding ExamineLoadFailure(Laboratory& lab, const Model* model,
                           const Error& error, const RunRequest* request) {
  Finding finding;
  finding.cause = Cause::kLoad;
  finding.confidence = Confidence::kCertain;
  finding.message = error.message;
  if (model == nullptr || error.code == ErrorCode::kInvalidArgument)
    return finding;
  if (std::string node = MentionedNode(*model, error.message); !node.empty()) {
    finding.node = node;
    for (const Node& candidate : model->graph.nodes) {
      if (NodeLabel(candidate) == node) finding.op = candidate.op_type;
    }
  }
  const LoadRequest& candidate = lab.options().candidate;
  if (!candidate.provider.empty() && candidate.provider != kCpuProviderName) {
    LoadRequest load = candidate;
    load.provider = kCpuProviderName;
    lab.Progress("explaining: the CPU execution provider");
    if (Works(lab, load, request)) {
      finding.cause = Cause::kProvider;
      finding.message = std::format(
          "{} cannot load or run it, the CPU execution provider "
          "can: {}",
          candidate.provider, error.message);
      return finding;
    }
  }
  if (candidate.optimization != "disabled") {
    LoadRequest load = candidate;
    load.optimization = "disabled";
    lab.Progress("explaining: graph optimizations off");
    if (Works(lab, load, request)) {
      finding.cause = Cause::kOptimizer;
      finding.message = std::format(
          "it loads and runs with the runtime's graph optimizations off, and "
          "not with them (--optimization disabled): {}",
          error.message);
      finding.evidence.push_back(
          {.name = "optimizations off", .value = "loads and runs"});
    }
  }
  return finding;
}

}  // namespace parity
