#include <algorithm>
#include <cstddef>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/noise_model.h"
#include "diagnose/rules.h"
#include "graph/model.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

RunRequest Plain(const Investigation& investigation) {
  return {.inputs = investigation.subject().request.inputs};
}

// Batch normalisation and dropout left in training mode: the same module in
// evaluation mode gives the candidate's outputs.
std::optional<Finding> ExamineTrainingMode(const Investigation& investigation) {
  Laboratory& lab = investigation.lab();
  if (lab.options().reference_kind != ModelKind::kTorchScript)
    return std::nullopt;
  const Result<LoadRequest>& reference = lab.ReferenceLoad();
  if (!reference) return std::nullopt;
  LoadRequest load = *reference;
  std::string& training = load.attributes["training"];
  if (training == "false") return std::nullopt;
  training = "false";
  lab.Progress("explaining: the reference in evaluation mode");
  const auto run = lab.ReferenceVariant(load, Plain(investigation));
  if (!run) return std::nullopt;
  const Agreement agreement =
      investigation.Compare(run->outputs, investigation.subject().actual);
  if (!agreement.agrees) return std::nullopt;
  // A process of its own may be right in any mode: the mode is no reason then.
  const auto again = lab.Reference(Plain(investigation));
  if (again &&
      investigation.Compare(again->outputs, investigation.subject().actual)
          .agrees)
    return std::nullopt;
  Finding finding = investigation.MakeFinding(
      Cause::kReference, Confidence::kCertain,
      "the reference was left in training mode; in evaluation mode it gives "
      "the candidate's outputs (--attribute training=false)");
  finding.evidence.push_back(
      {.name = "max difference with the reference in evaluation mode",
       .value = Text(agreement.max_error)});
  for (const Node& node : investigation.graph().nodes) {
    if (node.op_type == "BatchNormalization" || node.op_type == "Dropout") {
      investigation.Locate(finding, NodeLabel(node));
      break;
    }
  }
  return finding;
}

std::optional<Finding> ExamineRepeatability(
    const Investigation& investigation) {
  const auto again = investigation.lab().Reference(Plain(investigation));
  if (!again) return std::nullopt;
  double largest = 0;
  bool same = true;
  for (const NamedTensor& output : investigation.subject().expected) {
    const Tensor* const other = FindTensor(again->outputs, output.name);
    if (other == nullptr || other->shape() != output.tensor.shape()) {
      same = false;
      continue;
    }
    const auto comparison =
        Compare(output.tensor.view(), other->view(),
                {.atol = 0, .rtol = 1e-4, .equal_nonfinite = true});
    if (!comparison) continue;
    largest = std::max(largest, comparison->max_abs_error);
    // A few elements may be on the edge of a step.
    same =
        same && comparison->mismatch_count * 1000 <= comparison->element_count;
  }
  if (same) return std::nullopt;
  Finding finding = investigation.MakeFinding(
      Cause::kReference, Confidence::kCertain,
      "the reference is not deterministic: two runs on the same inputs differ");
  finding.evidence.push_back(
      {.name = "max difference of two reference runs", .value = Text(largest)});
  return finding;
}

// Other convolution kernels give the float64 result.
std::optional<Finding> ExamineKernels(const Investigation& investigation) {
  Laboratory& lab = investigation.lab();
  // A second run that is right would not be the kernels' merit.
  const auto again = lab.Reference(Plain(investigation));
  if (again &&
      investigation.Compare(again->outputs, investigation.subject().actual)
          .agrees)
    return std::nullopt;
  const Result<LoadRequest>& reference = lab.ReferenceLoad();
  if (!reference) return std::nullopt;
  for (const std::string_view kernels : {"native", "onednn"}) {
    if (reference->reference_kernels == kernels) continue;
    lab.Progress(
        std::format("explaining: the reference with {} kernels", kernels));
    LoadRequest load = *reference;
    load.reference_kernels = kernels;
    const auto run = lab.ReferenceVariant(load, Plain(investigation));
    if (!run) continue;
    const Agreement agreement =
        investigation.Compare(run->outputs, investigation.subject().actual);
    if (!agreement.agrees) continue;
    Finding finding = investigation.MakeFinding(
        Cause::kReference, Confidence::kCertain,
        std::format("the reference's {} convolution kernels are wrong here: "
                    "with {} kernels it gives the candidate's outputs",
                    reference->reference_kernels, kernels));
    finding.evidence.push_back(
        {.name = std::format("max difference with {} kernels", kernels),
         .value = Text(agreement.max_error)});
    return finding;
  }
  return std::nullopt;
}

// Where the reference is not finite although it is in float64; empty: nowhere.
std::string Overflow(const Investigation& investigation) {
  for (std::size_t i = 0; i < investigation.budgets().size(); ++i) {
    const ErrorBudget& budget = investigation.budgets()[i];
    if (!budget.reference || budget.reference->nonfinite_disagreements == 0 ||
        budget.total.nonfinite_disagreements == 0)
      continue;
    const NamedTensor& output = investigation.subject().expected[i];
    const DType dtype = output.tensor.dtype();
    return std::format(
        "the reference's {} is not finite in {}{}, in float64 "
        "it is",
        output.name, Name(dtype),
        dtype == DType::kFloat16 ? " (65504 at most)" : "");
  }
  return "";
}

}  // namespace

std::optional<Finding> ExamineReference(const Investigation& investigation) {
  if (!investigation.lab().has_reference()) return std::nullopt;
  if (auto finding = ExamineTrainingMode(investigation)) return finding;
  const std::vector<Leg> guilty = investigation.GuiltyLegs();
  const bool off = std::ranges::contains(guilty, Leg::kReference);
  if (!off && investigation.reference64() != nullptr) return std::nullopt;
  // Kernels first: those that read what they did not write differ from run to
  // run, too.
  if (auto finding = ExamineKernels(investigation)) return finding;
  if (auto finding = ExamineRepeatability(investigation)) return finding;
  if (!off) return std::nullopt;
  Finding finding =
      investigation.MakeFinding(Cause::kReference, Confidence::kLikely,
                                "the reference is far from itself in float64");
  if (std::string overflow = Overflow(investigation); !overflow.empty())
    finding.message = std::move(overflow);
  for (std::size_t i = 0; i < investigation.budgets().size(); ++i) {
    const ErrorBudget& budget = investigation.budgets()[i];
    if (!budget.reference) continue;
    finding.evidence.push_back(
        {.name = "reference error of " + investigation.subject().actual[i].name,
         .value = Text(budget.reference->max)});
  }
  return finding;
}

std::optional<Finding> ExamineDeterminism(const Investigation& investigation) {
  const auto again = investigation.lab().Candidate(Plain(investigation));
  if (!again) return std::nullopt;
  const Agreement agreement = investigation.CompareGraphs(
      investigation.subject().actual, again->outputs);
  if (agreement.agrees) return std::nullopt;
  // A faulty kernel that reads what it did not write is told by the provider's
  // rule, which knows a provider that is right.
  Finding finding = investigation.MakeFinding(
      Cause::kNondeterministic, Confidence::kCertain,
      "the candidate is not deterministic: two runs on the same inputs differ");
  finding.evidence.push_back({.name = "max difference of two candidate runs",
                              .value = Text(agreement.max_error)});
  return finding;
}

}  // namespace parity
