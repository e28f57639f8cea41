#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <format>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "diagnose/error_budget.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/noise_model.h"
#include "diagnose/rules.h"
#include "graph/model.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

bool NamesBatch(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return lower == "n" || lower == "b" || lower == "bs" ||
         lower.contains("batch");
}

// The name of the first axis, when it stands for a batch; empty otherwise.
std::string BatchAxis(const ValueInfo& value) {
  if (!value.shape || value.shape->size() < 2) return "";
  const Dimension& first = value.shape->front();
  return !first.value && NamesBatch(first.name) ? first.name : "";
}

// Every input and output has the same batch axis.
bool IsBatched(const Graph& graph) {
  const std::vector<ValueInfo> inputs = graph.RequiredInputs();
  if (inputs.empty() || graph.outputs.empty()) return false;
  const std::string name = BatchAxis(inputs.front());
  const auto same = [&](const ValueInfo& value) {
    return BatchAxis(value) == name;
  };
  return !name.empty() && std::ranges::all_of(inputs, same) &&
         std::ranges::all_of(graph.outputs, same);
}

// Entry `index` of the first axis, with a batch of 1.
Result<Tensor> Entry(const Tensor& tensor, std::int64_t index) {
  Shape shape = tensor.shape();
  const auto size =
      tensor.bytes().size() / static_cast<std::size_t>(shape.front());
  shape.front() = 1;
  return Tensor::Copy(
      tensor.dtype(), std::move(shape),
      tensor.bytes().subspan(static_cast<std::size_t>(index) * size, size));
}

std::optional<NamedTensors> EntryOfEach(const NamedTensors& tensors,
                                        std::int64_t index) {
  NamedTensors entries;
  for (const NamedTensor& tensor : tensors) {
    Result<Tensor> entry = Entry(tensor.tensor, index);
    if (!entry) return std::nullopt;
    entries.push_back({.name = tensor.name, .tensor = *std::move(entry)});
  }
  return entries;
}

// Float32 kernels may take other paths at other batch sizes.
constexpr double kRoundoffs = 4096;

bool Same(const Tensor& whole, const Tensor& alone, double& largest) {
  const ErrorSize error = SizeOfError(alone, whole);
  largest = std::max(largest, error.max);
  const auto scale = Compare(alone.view(), alone.view(), {});
  const double bound = kRoundoffs * UnitRoundoff(alone.dtype()) *
                       (scale ? scale->max_abs_expected : 0);
  return Within(error, {.rms = bound, .max = bound});
}

}  // namespace

std::optional<Finding> ExamineBatch(Laboratory& lab, const Model& model,
                                    const Subject& subject) {
  if (!lab.has_reference() || !IsBatched(model.graph)) return std::nullopt;
  const NamedTensors& inputs = subject.request.inputs;
  const std::int64_t batch = inputs.front().tensor.shape().front();
  const auto has_batch = [&](const NamedTensor& tensor) {
    return !tensor.tensor.shape().empty() &&
           tensor.tensor.shape().front() == batch;
  };
  if (batch < 2 || !std::ranges::all_of(inputs, has_batch) ||
      !std::ranges::all_of(subject.expected, has_batch))
    return std::nullopt;
  double largest = 0;
  std::int64_t differing = 0;
  for (std::int64_t i = 0; i < batch; ++i) {
    const std::optional<NamedTensors> alone = EntryOfEach(inputs, i);
    const std::optional<NamedTensors> whole = EntryOfEach(subject.expected, i);
    if (!alone || !whole) return std::nullopt;
    const auto run = lab.Reference({.inputs = *alone});
    if (!run) return std::nullopt;
    bool same = true;
    for (const NamedTensor& output : *whole) {
      const Tensor* const other = FindTensor(run->outputs, output.name);
      same = same && other != nullptr && Same(output.tensor, *other, largest);
    }
    // Entries that depend on what else is in the batch would show in the first
    // one, too: a network may mean that. One whose result depends on its place
    // is wrong.
    if (i == 0 && !same) return std::nullopt;
    if (!same) ++differing;
  }
  if (differing == 0) return std::nullopt;
  Finding finding;
  finding.cause = Cause::kReference;
  finding.confidence = Confidence::kCertain;
  finding.case_name = subject.name;
  finding.message = std::format(
      "the reference is not consistent over the batch: {} of {} entries give "
      "another result alone than at their place in the batch, the first does "
      "not; the graph repeats it",
      differing, batch);
  finding.evidence = {{.name = "max difference between an entry alone and in "
                               "the batch",
                       .value = Text(largest)}};
  return finding;
}

}  // namespace parity
