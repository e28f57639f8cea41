#include "worker/trace_tensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

// No model names a value with a control character in front.
constexpr std::string_view kPrefix = "\x01trace/";
constexpr std::string_view kSketches = "\x01trace/sketches";

std::string TensorName(std::size_t index) {
  return std::format("{}{}", kPrefix, index);
}

}  // namespace

bool IsTraceTensor(std::string_view name) { return name.starts_with(kPrefix); }

Status AppendTrace(const std::vector<TracedValue>& trace,
                   NamedTensors& tensors) {
  if (trace.empty()) return {};
  PARITY_ASSIGN_OR_RETURN(
      Tensor sketches,
      Tensor::Allocate(DType::kFloat64,
                       {static_cast<std::int64_t>(trace.size()),
                        static_cast<std::int64_t>(ValueSketch::kNumbers)}));
  const std::span<double> numbers = sketches.MutableAs<double>();
  for (std::size_t i = 0; i < trace.size(); ++i) {
    std::ranges::copy(trace[i].sketch.ToNumbers(),
                      numbers.subspan(i * ValueSketch::kNumbers).begin());
    if (trace[i].tensor)
      tensors.push_back({.name = TensorName(i), .tensor = *trace[i].tensor});
  }
  tensors.push_back(
      {.name = std::string(kSketches), .tensor = std::move(sketches)});
  return {};
}

Status CompleteTrace(const NamedTensors& tensors,
                     std::vector<TracedValue>& trace) {
  if (trace.empty()) return {};
  const Tensor* const sketches = FindTensor(tensors, kSketches);
  const Shape expected = {static_cast<std::int64_t>(trace.size()),
                          static_cast<std::int64_t>(ValueSketch::kNumbers)};
  if (sketches == nullptr || sketches->dtype() != DType::kFloat64 ||
      sketches->shape() != expected)
    return Fail(ErrorCode::kCorrupt, "a trace without its sketches");
  const std::span<const double> numbers = sketches->As<double>();
  for (std::size_t i = 0; i < trace.size(); ++i) {
    trace[i].sketch =
        ValueSketch::FromNumbers(numbers.subspan(i * ValueSketch::kNumbers)
                                     .first<ValueSketch::kNumbers>());
    const Tensor* const tensor = FindTensor(tensors, TensorName(i));
    if (tensor == nullptr) continue;
    if (tensor->dtype() != trace[i].dtype || tensor->shape() != trace[i].shape)
      return Fail(ErrorCode::kCorrupt,
                  "a traced tensor that is not as it was described");
    trace[i].tensor = *tensor;
  }
  return {};
}

}  // namespace parity
