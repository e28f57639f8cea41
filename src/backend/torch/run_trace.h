// What libtorch computes on the way to a run's outputs, value by value.
#ifndef PARITY_BACKEND_TORCH_RUN_TRACE_H_
#define PARITY_BACKEND_TORCH_RUN_TRACE_H_

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace parity {

// While it lives, every ATen operator that this thread calls leaves its outputs
// here, in the order in which they were ready: also inside branches, loops and
// other operators. One at a time in a process.
//
// Left out are views, copies and constant fills, which compute nothing, and
// outputs that are empty, undefined or not dense on the CPU. An operator that
// returns what an operator inside it returned gives its name to that value
// ("aten::conv2d", not the kernels it ends in); one that returns the very
// numbers of the value before it, as dropout in evaluation mode does, adds
// none.
class RunTrace {
 public:
  // The module that is computing now. Without one, ModuleScope tells.
  using Locator = std::function<std::string()>;

  explicit RunTrace(Locator locate = {});
  ~RunTrace();
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;

  // Ends the trace. Rethrows what went wrong while recording.
  [[nodiscard]] std::vector<TracedValue> Take();

  class Recorder;

 private:
  std::unique_ptr<Recorder> recorder_;
};

// Whether values computed now are recorded: work that would be cut in pieces is
// then better done at once.
[[nodiscard]] bool IsTracing();

// Adds a value that was put together from pieces, if anything is recorded now.
void TraceValue(std::string_view op, const at::Tensor& value);

// Operators called by this thread while it lives are not recorded.
class TracePause {
 public:
  TracePause();
  ~TracePause();
  TracePause(const TracePause&) = delete;
  TracePause& operator=(const TracePause&) = delete;

 private:
  bool before_;
};

// Values that this thread computes while it lives belong to the module at
// `path`, which must outlive it.
class ModuleScope {
 public:
  explicit ModuleScope(std::string_view path);
  ~ModuleScope();
  ModuleScope(const ModuleScope&) = delete;
  ModuleScope& operator=(const ModuleScope&) = delete;

 private:
  std::string_view before_;
};

// "a.b" of "a.b.c", "" of "a".
[[nodiscard]] std::string_view ParentModule(std::string_view path);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_RUN_TRACE_H_
