#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "diagnose/departure.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/rules.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

// Another convention in which an image may have been meant.
struct Convention {
  std::string description;  // "in [0,255]"
  // Nothing when it does not apply to such a tensor.
  std::function<std::optional<Tensor>(const Tensor&)> apply;
};

std::optional<Tensor> MapValues(const Tensor& tensor,
                                const std::function<float(float)>& map) {
  if (tensor.dtype() != DType::kFloat32) return std::nullopt;
  Result<Tensor> mapped = Tensor::Allocate(DType::kFloat32, tensor.shape());
  if (!mapped) return std::nullopt;
  std::ranges::transform(tensor.As<float>(), mapped->MutableAs<float>().begin(),
                         map);
  return *std::move(mapped);
}

// Elements of a rank-4 tensor at other places: `source` maps coordinates of the
// result to those of `tensor`.
std::optional<Tensor> Rearrange(
    const Tensor& tensor, const Shape& shape,
    const std::function<Shape(const Shape&)>& source) {
  Result<Tensor> result = Tensor::Allocate(tensor.dtype(), shape);
  if (!result) return std::nullopt;
  const auto size = static_cast<std::size_t>(ByteSize(tensor.dtype()));
  const Shape& from = tensor.shape();
  for (std::int64_t i = 0; i < result->element_count(); ++i) {
    const Shape place = source(UnravelIndex(i, shape));
    std::int64_t flat = 0;
    for (std::size_t axis = 0; axis < from.size(); ++axis)
      flat = flat * from[axis] + place[axis];
    std::ranges::copy(
        tensor.bytes().subspan(static_cast<std::size_t>(flat) * size, size),
        result->mutable_bytes()
            .subspan(static_cast<std::size_t>(i) * size)
            .begin());
  }
  return *std::move(result);
}

std::optional<Tensor> ReverseChannels(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.size() != 4 || shape[1] != 3) return std::nullopt;
  return Rearrange(tensor, shape, [](const Shape& place) {
    return Shape{place[0], 2 - place[1], place[2], place[3]};
  });
}

std::optional<Tensor> ChannelsFirst(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.size() != 4 || shape[3] > 4) return std::nullopt;
  return Rearrange(tensor, {shape[0], shape[3], shape[1], shape[2]},
                   [](const Shape& place) {
                     return Shape{place[0], place[2], place[3], place[1]};
                   });
}

std::optional<Tensor> ChannelsLast(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.size() != 4 || shape[1] > 4) return std::nullopt;
  return Rearrange(tensor, {shape[0], shape[2], shape[3], shape[1]},
                   [](const Shape& place) {
                     return Shape{place[0], place[3], place[1], place[2]};
                   });
}

std::optional<Tensor> SwapSpatial(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  if (shape.size() != 4) return std::nullopt;
  return Rearrange(tensor, {shape[0], shape[1], shape[3], shape[2]},
                   [](const Shape& place) {
                     return Shape{place[0], place[1], place[3], place[2]};
                   });
}

std::vector<Convention> Conventions() {
  const auto mapped = [](float factor, float offset) {
    return [=](const Tensor& tensor) {
      return MapValues(tensor, [=](float x) { return x * factor + offset; });
    };
  };
  return {
      {"times 255 (a range of [0,255] for [0,1])", mapped(255, 0)},
      {"divided by 255 (a range of [0,1] for [0,255])", mapped(1.0F / 255, 0)},
      {"as 2x - 1 (a range of [-1,1] for [0,1])", mapped(2, -1)},
      {"as (x + 1) / 2 (a range of [0,1] for [-1,1])", mapped(0.5F, 0.5F)},
      {"with the channels reversed (BGR for RGB)", ReverseChannels},
      {"with channels first (NCHW for NHWC)", ChannelsFirst},
      {"with channels last (NHWC for NCHW)", ChannelsLast},
      {"with height and width exchanged", SwapSpatial}};
}

// Applied to all inputs it applies to; nothing when there is none.
std::optional<NamedTensors> Apply(const Convention& convention,
                                  const NamedTensors& inputs) {
  NamedTensors changed = inputs;
  bool any = false;
  for (NamedTensor& input : changed) {
    if (std::optional<Tensor> tensor = convention.apply(input.tensor)) {
      input.tensor = *std::move(tensor);
      any = true;
    }
  }
  if (!any) return std::nullopt;
  return changed;
}

// Equal but for float32 rounding, pair by pair in order.
bool Resemble(const NamedTensors& expected, const NamedTensors& actual) {
  constexpr double kClose = 1e-4;
  if (actual.empty() || expected.size() != actual.size()) return false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].tensor.shape() != actual[i].tensor.shape() ||
        RelativeDistance(SketchOf(expected[i].tensor.view()),
                         SketchOf(actual[i].tensor.view())) > kClose)
      return false;
  }
  return true;
}

}  // namespace

std::optional<Finding> ExamineInputs(const Investigation& investigation) {
  constexpr std::int64_t kMostElements = 8'000'000;
  const NamedTensors& inputs = investigation.subject().request.inputs;
  std::int64_t elements = 0;
  for (const NamedTensor& input : inputs)
    elements += input.tensor.element_count();
  if (elements == 0 || elements > kMostElements ||
      !investigation.lab().has_reference() || !MayDepartAtInputs(investigation))
    return std::nullopt;
  for (const Convention& convention : Conventions()) {
    const std::optional<NamedTensors> changed = Apply(convention, inputs);
    if (!changed) continue;
    const auto run = investigation.lab().Reference64({.inputs = *changed});
    if (!run) continue;
    const Agreement agreement =
        investigation.Compare(run->outputs, investigation.subject().actual);
    if (!agreement.agrees) continue;
    Finding finding = investigation.MakeFinding(
        Cause::kInput, Confidence::kCertain,
        std::format("the graph takes its inputs in another form than the "
                    "reference: the reference, fed {}, gives the candidate's "
                    "outputs",
                    convention.description));
    finding.evidence.push_back(
        {.name = "max difference then", .value = Text(agreement.max_error)});
    return finding;
  }
  return std::nullopt;
}

Finding ExamineRefusal(Laboratory& lab, const Error& error,
                       const std::string& name, const RunRequest& request,
                       const NamedTensors& actual) {
  Finding finding;
  finding.cause = Cause::kInput;
  finding.confidence = Confidence::kLikely;
  finding.case_name = name;
  finding.fails = false;
  finding.message = std::format("the reference does not take these inputs: {}",
                                error.message);
  for (const Convention& convention : Conventions()) {
    const std::optional<NamedTensors> changed =
        Apply(convention, request.inputs);
    if (!changed) continue;
    const auto run = lab.Reference({.inputs = *changed});
    if (!run) continue;
    finding.message = std::format(
        "the graph takes its inputs in another form than the reference, which "
        "runs when it is fed {}",
        convention.description);
    if (Resemble(run->outputs, actual)) {
      finding.confidence = Confidence::kCertain;
      finding.message += " and then gives the candidate's outputs";
    }
    break;
  }
  return finding;
}

}  // namespace parity
