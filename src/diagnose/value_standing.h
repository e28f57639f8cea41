// Which values of an ONNX graph are numbers that its reference computed, too.
#ifndef PARITY_DIAGNOSE_VALUE_STANDING_H_
#define PARITY_DIAGNOSE_VALUE_STANDING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "diagnose/reference_values.h"
#include "graph/model.h"
#include "tensor/value_sketch.h"

namespace parity {

enum class Standing : std::uint8_t {
  kUnexplained,
  kNeutral,    // computed from constants and shapes alone, or a constant
  kExplained,  // a value of the reference, or an input
  kPermuted,   // one of the reference in another order, or with more zeros
};

struct ValueState {
  std::string_view name;
  std::ptrdiff_t node = -1;             // that computes it; -1: none
  const ValueSketch* sketch = nullptr;  // null: not traced
  Standing standing = Standing::kUnexplained;
  // Place in the reference of what it equals; of values that equal nothing, the
  // last place of what they are computed from. -1: none.
  std::ptrdiff_t place = -1;
  // Unexplained, but nearly the elements of a value of the reference: their
  // order, or a few of them, look wrong. What comes of them is not explained
  // without regard to order either.
  bool reordered = false;
};

// The inputs of a node and what its subgraphs use of the graph around them;
// without omitted ones, each once.
[[nodiscard]] std::vector<std::string_view> UsedValues(const Node& node);

// What it is made from must outlive it.
//
// A value is explained when its numbers are those of some value of the
// reference, in the same order. Weak values (IsWeak()) are not told apart by
// their numbers: they must also come from explained values, and the operator
// must fit. In another order the numbers explain a value unless that order
// looks like the fault: values of the same shape, computed from values in the
// right order, and all that comes of them. So do they with additional zeros
// (channels that fill up a vector), where the reference has no value of that
// size. Values without a trace are what they are computed from.
class ValueStandings {
 public:
  ValueStandings(const Graph& graph, const ReferenceValues& reference,
                 std::span<const TracedValue> candidate, double tolerance);

  // Null when the graph has no such value.
  [[nodiscard]] const ValueState* Find(std::string_view name) const;
  // Whether some value of the graph equals that of the reference.
  [[nodiscard]] bool IsMatched(std::size_t place) const {
    return matched_[place];
  }

 private:
  // What is known of a node's inputs.
  struct Origin {
    bool neutral = true;
    bool explained = true;
    bool permuted = false;
    bool reordered = false;
    std::ptrdiff_t place = -1;
  };

  void AddConstantsAndInputs(const Graph& graph);
  [[nodiscard]] Origin OriginOf(const Node& node) const;
  void Classify(const Node& node, const Origin& origin,
                const TracedValue* traced, ValueState& state);
  void ClassifyReordered(const Node& node, const Origin& origin,
                         const TracedValue& traced, ValueState& state);
  void Settle(Standing standing, std::size_t place, ValueState& state);
  [[nodiscard]] bool ExplainsWeak(const Node& node, std::string_view value,
                                  std::size_t place) const;
  [[nodiscard]] bool ExplainsPermuted(const Node& node,
                                      const TracedValue& traced,
                                      const Origin& origin,
                                      std::size_t place) const;

  const ReferenceValues& reference_;
  double tolerance_;
  std::unordered_map<std::string_view, ValueState> states_;
  std::vector<bool> matched_;
};

}  // namespace parity

#endif  // PARITY_DIAGNOSE_VALUE_STANDING_H_
