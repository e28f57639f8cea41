// libtorch calls observers around every operator that goes through its
// dispatcher (at::RecordFunction), with the outputs when it returns. Operators
// are made of operators: the observers of the inner ones are called first, so
// what an outer one returns is mostly there already, and is found again by its
// sketch among the values that appeared since the outer one began.
#include "backend/torch/run_trace.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/operator_name.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/tensor_bridge.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

constexpr std::size_t kLargestTensor = std::size_t{16} << 20;

// Return nothing that was computed, without their schemas saying so.
constexpr auto kSkipped =
    std::to_array<std::string_view>({"aten::empty",
                                     "aten::empty_like",
                                     "aten::empty_strided",
                                     "aten::new_empty",
                                     "aten::new_empty_strided",
                                     "aten::empty_permuted",
                                     "aten::zeros",
                                     "aten::zeros_like",
                                     "aten::new_zeros",
                                     "aten::ones",
                                     "aten::ones_like",
                                     "aten::new_ones",
                                     "aten::full",
                                     "aten::full_like",
                                     "aten::new_full",
                                     "aten::zero_",
                                     "aten::fill_",
                                     "aten::scalar_tensor",
                                     "aten::resize_",
                                     "aten::resize_as_",
                                     "aten::set_",
                                     "aten::copy_",
                                     "aten::clone",
                                     "aten::_to_copy",
                                     "aten::_unsafe_view"});

constexpr std::string_view kConversion = "aten::to";

// Small differences of their inputs become whole steps.
constexpr auto kSteps = std::to_array<std::string_view>(
    {"aten::round", "aten::floor", "aten::ceil", "aten::trunc", "aten::fix",
     "aten::sign", "aten::sgn"});

std::atomic<RunTrace::Recorder*> active = nullptr;
thread_local bool paused = false;
thread_local int open_calls = 0;
thread_local std::string_view current_module;

bool HasSteps(std::string_view op) {
  if (op.ends_with('_')) op.remove_suffix(1);
  return std::ranges::contains(kSteps, op);
}

bool SameNumbers(const ValueSketch& x, const ValueSketch& y) {
  return x.element_count == y.element_count && x.ToNumbers() == y.ToNumbers();
}

// What an operator's schema says about it.
struct OperatorRule {
  std::string name;  // empty: nothing of it is recorded
  // By return: a view of an input.
  std::vector<bool> is_view;
};

OperatorRule RuleFor(const at::RecordFunction& function,
                     const c10::OperatorName& operator_name) {
  OperatorRule rule;
  if (std::ranges::contains(kSkipped, operator_name.name)) return rule;
  rule.name = operator_name.name;
  const std::optional<c10::FunctionSchema> schema = function.operator_schema();
  if (!schema) return {};
  for (const c10::Argument& returned : schema->returns()) {
    const c10::AliasInfo* const alias = returned.alias_info();
    // A conversion may be one, and mostly is not.
    rule.is_view.push_back(alias != nullptr && !alias->isWrite() &&
                           rule.name != kConversion);
  }
  return rule;
}

struct CallContext : at::ObserverContext {
  CallContext(std::size_t values, bool inner)
      : first_value(values), is_inner(inner) {}
  std::size_t first_value;  // of those that appear during the call
  bool is_inner;            // an operator called it
};

std::unique_ptr<at::ObserverContext> OnStart(
    const at::RecordFunction& function);
void OnEnd(const at::RecordFunction& function, at::ObserverContext* context);

}  // namespace

// Threads that a script forks inherit the observer: hence the mutex.
class RunTrace::Recorder {
 public:
  explicit Recorder(Locator locate)
      : locate_(std::move(locate)),
        handle_(at::addThreadLocalCallback(
            at::RecordFunctionCallback(OnStart, OnEnd)
                .needsOutputs(true)
                .scopes({at::RecordScope::FUNCTION}))) {
    active = this;
  }
  ~Recorder() { Stop(); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void Stop() {
    if (active.exchange(nullptr) == this) at::removeCallback(handle_);
  }

  [[nodiscard]] std::vector<TracedValue> Take() {
    Stop();
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return std::move(values_);
  }

  [[nodiscard]] std::size_t size() {
    const std::scoped_lock lock(mutex_);
    return values_.size();
  }

  // libtorch swallows what its observers throw.
  template <class Body>
  void Guard(Body body) {
    // What this calls of libtorch is not part of the run.
    const at::RecordFunctionGuard no_observers(/*is_enabled=*/false);
    try {
      body();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (failure_ == nullptr) failure_ = std::current_exception();
    }
  }

  void Add(const at::RecordFunction& function, const CallContext& call) {
    const OperatorRule* const rule = Rule(function);
    if (rule == nullptr || rule->name.empty()) return;
    // Operators convert their operands, down to the 2 of x * 2.
    if (call.is_inner && rule->name == kConversion) return;
    // From the interpreter of scripts comes its whole stack, the outputs last.
    const std::size_t count =
        std::min(function.outputs().size(), rule->is_view.size());
    const std::span<const c10::IValue> outputs =
        std::span(function.outputs()).last(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (rule->is_view[i]) continue;
      if (outputs[i].isTensor()) {
        Add(rule->name, outputs[i].toTensor(), call.first_value);
      } else if (outputs[i].isTensorList()) {
        for (const at::Tensor& tensor : outputs[i].toTensorVector())
          Add(rule->name, tensor, call.first_value);
      }
    }
  }

  void Add(std::string_view op, const at::Tensor& tensor,
           std::size_t first_value) {
    if (!tensor.defined() || !tensor.is_cpu() || tensor.numel() == 0) return;
    const Result<Tensor> bytes = ParityFromTorch(tensor, op);
    if (!bytes) return;  // sparse, quantized, …
    TracedValue value = {.op = std::string(op),
                         .dtype = bytes->dtype(),
                         .shape = bytes->shape(),
                         .sketch = SketchOf(bytes->view())};
    if ((!IsFloating(value.dtype) || HasSteps(op)) &&
        bytes->bytes().size() <= kLargestTensor) {
      // Copied: operators may yet write to it.
      if (Result<Tensor> copy =
              Tensor::Copy(value.dtype, value.shape, bytes->bytes()))
        value.tensor = *std::move(copy);
    }
    const std::scoped_lock lock(mutex_);
    if (IsKnown(value, first_value)) return;
    value.module = locate_ ? locate_() : std::string(current_module);
    values_.push_back(std::move(value));
  }

 private:
  const OperatorRule* Rule(const at::RecordFunction& function) {
    const std::optional<c10::OperatorName> name = function.operator_name();
    if (!name) return nullptr;
    const std::scoped_lock lock(mutex_);
    const auto found = rules_.find(*name);
    if (found != rules_.end()) return &found->second;
    return &rules_.emplace(*name, RuleFor(function, *name)).first->second;
  }

  bool IsKnown(const TracedValue& value, std::size_t first_value) {
    for (std::size_t i = values_.size(); i > first_value; --i) {
      TracedValue& inner = values_[i - 1];
      if (inner.dtype == value.dtype && inner.shape == value.shape &&
          SameNumbers(inner.sketch, value.sketch)) {
        inner.op = value.op;
        if (value.tensor) inner.tensor = value.tensor;
        return true;
      }
    }
    return !values_.empty() &&
           SameNumbers(values_.back().sketch, value.sketch) &&
           (values_.back().tensor || !value.tensor);
  }

  Locator locate_;
  std::mutex mutex_;
  std::vector<TracedValue> values_;
  std::unordered_map<c10::OperatorName, OperatorRule> rules_;
  std::exception_ptr failure_;
  at::CallbackHandle handle_;
};

namespace {

std::unique_ptr<at::ObserverContext> OnStart(const at::RecordFunction&) {
  RunTrace::Recorder* const recorder = active;
  if (recorder == nullptr || paused) return nullptr;
  return std::make_unique<CallContext>(recorder->size(), open_calls++ > 0);
}

void OnEnd(const at::RecordFunction& function, at::ObserverContext* context) {
  if (context == nullptr) return;
  --open_calls;
  RunTrace::Recorder* const recorder = active;
  if (recorder == nullptr) return;
  recorder->Guard(
      [&] { recorder->Add(function, *static_cast<CallContext*>(context)); });
}

}  // namespace

RunTrace::RunTrace(Locator locate)
    : recorder_(std::make_unique<Recorder>(std::move(locate))) {}
RunTrace::~RunTrace() = default;

std::vector<TracedValue> RunTrace::Take() { return recorder_->Take(); }

bool IsTracing() { return active != nullptr && !paused; }

void TraceValue(std::string_view op, const at::Tensor& value) {
  if (!IsTracing()) return;
  RunTrace::Recorder* const recorder = active;
  recorder->Guard([&] { recorder->Add(op, value, recorder->size()); });
}

TracePause::TracePause() : before_(std::exchange(paused, true)) {}
TracePause::~TracePause() { paused = before_; }

ModuleScope::ModuleScope(std::string_view path)
    : before_(std::exchange(current_module, path)) {}
ModuleScope::~ModuleScope() { current_module = before_; }

std::string_view ParentModule(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view()
                                       : path.substr(0, dot);
}

}  // namespace parity
