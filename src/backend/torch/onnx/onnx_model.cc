#include "backend/torch/onnx/onnx_model.h"

#include <cstdint>
#include <format>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/onnx/graph_evaluator.h"
#include "backend/torch/onnx/operator_context.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/stopwatch.h"
#include "formats/onnx/onnx_reader.h"
#include "graph/model.h"
#include "parity/error.h"

namespace parity {
namespace {

constexpr std::int64_t kOldestOpset = 7;  // broadcasting as it is today
constexpr std::int64_t kNewestOpset = 22;

std::string UnknownNote(const std::vector<std::string>& operators) {
  std::string list;
  for (const std::string& name : operators)
    list += (list.empty() ? "" : ", ") + Printable(name);
  return std::format("libtorch cannot evaluate the operators: {}", list);
}

}  // namespace

Result<OnnxModel> OnnxModel::Open(const std::string& path,
                                  FloatingType floating) {
  PARITY_ASSIGN_OR_RETURN(Model model, ReadOnnxModel(path));
  const std::int64_t opset = model.opset_version();
  if (opset != 0 && opset < kOldestOpset) {
    return Fail(ErrorCode::kUnsupported,
                std::format("{}: opset {} cannot be evaluated, only {} and "
                            "newer",
                            path, opset, kOldestOpset));
  }
  std::vector<std::string> inputs;
  for (const ValueInfo& input : model.graph.RequiredInputs())
    inputs.push_back(input.name);
  std::vector<std::string> outputs;
  outputs.reserve(model.graph.outputs.size());
  for (const ValueInfo& output : model.graph.outputs)
    outputs.push_back(output.name);

  OnnxModel opened(GraphEvaluator(std::move(model), floating));
  opened.input_names_ = std::move(inputs);
  opened.output_names_ = std::move(outputs);
  if (opset > kNewestOpset) {
    opened.notes_.push_back(
        std::format("the operators of opset {} are evaluated as those of "
                    "opset {}",
                    opset, kNewestOpset));
  }
  const std::vector<std::string> unknown = opened.evaluator_.UnknownOperators();
  if (!unknown.empty()) opened.notes_.push_back(UnknownNote(unknown));
  return opened;
}

Result<RunResult> OnnxModel::Run(const RunRequest& request) const {
  RunResult result;
  GraphEvaluator::Tracer tracer;
  if (request.trace) {
    tracer = [&result](TracedValue value) {
      result.trace.push_back(std::move(value));
    };
  }
  const Stopwatch time;
  PARITY_ASSIGN_OR_RETURN(
      result.outputs,
      evaluator_.Evaluate(request.inputs, request.output_names, tracer));
  result.run_ms = time.milliseconds();
  return result;
}

}  // namespace parity
