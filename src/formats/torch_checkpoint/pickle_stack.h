// The stack and the memo of the pickle machine. A mark remembers a height of
// the stack, below which nothing is taken until the mark is used up.
#ifndef PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_STACK_H_
#define PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_STACK_H_

#include <cstddef>
#include <cstdint>
#include <format>
#include <unordered_map>
#include <vector>

#include "base/status_macros.h"
#include "formats/torch_checkpoint/pickle_value.h"
#include "parity/error.h"

namespace parity {

// Errors are kCorrupt: the pickle takes what is not there.
class PickleStack {
 public:
  void Push(PickleRef ref) { stack_.push_back(ref); }
  void Mark() { marks_.push_back(stack_.size()); }

  [[nodiscard]] Result<PickleRef> Top() const {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
      return Fail(ErrorCode::kCorrupt, "the pickle takes from an empty stack");
    }
    return stack_.back();
  }
  [[nodiscard]] Result<PickleRef> Pop() {
    PARITY_ASSIGN_OR_RETURN(const PickleRef top, Top());
    stack_.pop_back();
    return top;
  }
  // Everything above the last mark, which is used up.
  [[nodiscard]] Result<std::vector<PickleRef>> PopMark() {
    if (marks_.empty())
      return Fail(ErrorCode::kCorrupt, "the pickle has no mark where needed");
    const auto first =
        stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleRef> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }
  // Python's POP takes a mark too.
  [[nodiscard]] Status PopItemOrMark() {
    if (!marks_.empty() && stack_.size() == marks_.back()) {
      marks_.pop_back();
      return {};
    }
    PARITY_RETURN_IF_ERROR(Pop());
    return {};
  }

  // Keeps the top under a number, or under the number of values kept so far.
  [[nodiscard]] Status Remember(std::uint64_t slot) {
    PARITY_ASSIGN_OR_RETURN(memo_[slot], Top());
    return {};
  }
  [[nodiscard]] Status Memoize() { return Remember(memo_.size()); }
  [[nodiscard]] Result<PickleRef> Recall(std::uint64_t slot) const {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) {
      return Fail(
          ErrorCode::kCorrupt,
          std::format("the pickle recalls {}, which it never kept", slot));
    }
    return found->second;
  }

  // What it takes in memory, in entries.
  [[nodiscard]] std::size_t size() const {
    return stack_.size() + marks_.size() + memo_.size();
  }

 private:
  std::vector<PickleRef> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleRef> memo_;
};

}  // namespace parity

#endif  // PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_STACK_H_
