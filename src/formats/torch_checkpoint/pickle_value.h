// The values a pickle can build here. They live in a heap and refer to each
// other by index, so that hostile nesting and cycles cost neither recursion nor
// leaks.
#ifndef PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_VALUE_H_
#define PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {

// Index into a PickleHeap.
using PickleRef = std::uint32_t;

struct PickleNone {};

// An integer beyond 64 bits: `bytes` little-endian two's complement, or decimal
// `digits`.
struct PickleBigInt {
  std::string_view bytes;
  std::string_view digits;
};

struct PickleSequence {
  enum class Kind : std::uint8_t { kTuple, kList, kSet };
  Kind kind = Kind::kTuple;
  std::vector<PickleRef> items;
};

// Also OrderedDict. Keys may repeat: the last one counts, as in Python.
struct PickleDict {
  std::vector<std::pair<PickleRef, PickleRef>> items;
};

// What an allowed global does when it is called.
enum class GlobalRole : std::uint8_t {
  kDict,              // collections.OrderedDict and its like
  kSet,               // set, frozenset
  kRebuildTensor,     // torch._utils._rebuild_tensor, _rebuild_tensor_v2
  kRebuildTensorV3,   // with a dtype of its own
  kRebuildParameter,  // torch._utils._rebuild_parameter…
  kRebuildFromType,   // torch._tensor._rebuild_from_type_v2
  kSize,              // torch.Size
  kStorageType,       // torch.FloatStorage and its like
  kDType,             // torch.float32 and its like
  kOpaque,            // a pure function or class whose results are ignored
};

struct PickleGlobal {
  GlobalRole role = GlobalRole::kOpaque;
  std::optional<DType> dtype;  // of kDType, and of typed kStorageType
};

// A storage as a persistent id names it. Sizes are in bytes and were checked
// for overflow only; the file may be shorter.
struct StorageReference {
  std::string_view key;
  std::optional<DType> dtype;  // nothing: untyped
  std::uint64_t size = 0;
  // The legacy format's views: a part of the storage that stands for it.
  std::uint64_t view_begin = 0;
  std::uint64_t view_size = 0;
};

// A tensor before its bytes are looked up. Offset and strides count elements.
struct TensorDescription {
  StorageReference storage;
  DType dtype = DType::kFloat32;
  std::int64_t offset = 0;
  Shape shape;
  std::vector<std::int64_t> strides;
};

// A value whose content nobody asks for: bytes, objects, devices.
struct PickleOpaque {};

using PickleValue =
    std::variant<PickleNone, bool, std::int64_t, double, std::string_view,
                 PickleBigInt, PickleSequence, PickleDict, PickleGlobal,
                 std::unique_ptr<StorageReference>,
                 std::unique_ptr<TensorDescription>, PickleOpaque>;

// Owns values. References from operator[] and Get() stay valid while the heap
// lives. Texts point into the pickle's bytes or into the heap.
class PickleHeap {
 public:
  PickleRef Add(PickleValue value) {
    values_.push_back(std::move(value));
    return static_cast<PickleRef>(values_.size() - 1);
  }
  // Keeps a decoded text alive.
  std::string_view Keep(std::string text) {
    return texts_.emplace_back(std::move(text));
  }
  PickleValue& operator[](PickleRef ref) { return values_[ref]; }
  const PickleValue& operator[](PickleRef ref) const { return values_[ref]; }
  [[nodiscard]] std::size_t size() const { return values_.size(); }

  // Null when the value is of another type.
  template <class T>
  [[nodiscard]] const T* Get(PickleRef ref) const {
    return std::get_if<T>(&values_[ref]);
  }
  template <class T>
  [[nodiscard]] T* Get(PickleRef ref) {
    return std::get_if<T>(&values_[ref]);
  }
  [[nodiscard]] const PickleSequence* GetTuple(PickleRef ref) const {
    const auto* const sequence = Get<PickleSequence>(ref);
    const bool is_tuple =
        sequence != nullptr && sequence->kind == PickleSequence::Kind::kTuple;
    return is_tuple ? sequence : nullptr;
  }

 private:
  std::deque<PickleValue> values_;
  std::deque<std::string> texts_;
};

}  // namespace parity

#endif  // PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_VALUE_H_
