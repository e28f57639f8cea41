// Each opcode is one byte, followed by its own arguments; its handler moves
// values between the bytes, the stack and the memo. A mark remembers a height
// of the stack, below which nothing is taken until the mark is used up. Source:
// the comments of Python's Lib/pickletools.py describe the opcodes.
#include "formats/torch_checkpoint/pickle_machine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/byte_reader.h"
#include "base/status_macros.h"
#include "formats/torch_checkpoint/pickle_stack.h"
#include "formats/torch_checkpoint/pickle_text.h"
#include "formats/torch_checkpoint/pickle_value.h"
#include "formats/torch_checkpoint/torch_globals.h"
#include "parity/error.h"

namespace parity {
namespace {

using SequenceKind = PickleSequence::Kind;

// A state dict has a few dozen values a tensor; this many are an attack.
constexpr std::size_t kMaxValues = std::size_t{1} << 24;
// Legitimate calls copy fewer items than their pickle has bytes. (A legacy
// file's bytes are mostly no pickle: hence the second bound.)
constexpr std::size_t kItemsPerByte = 4;
constexpr std::size_t kMaxItems = std::size_t{1} << 26;

std::unexpected<Error> Corrupt(std::string message) {
  return Fail(ErrorCode::kCorrupt, std::move(message));
}

class Machine {
 public:
  explicit Machine(std::span<const std::byte> bytes)
      : reader_(bytes),
        item_budget_(std::min(kItemsPerByte * bytes.size(), kMaxItems)) {
    none_ = heap_.Add(PickleNone{});
    false_ = heap_.Add(false);
    true_ = heap_.Add(true);
    empty_tuple_ = heap_.Add(PickleSequence{});
  }

  Result<Pickle> Run();

 private:
  using Handler = Status (Machine::*)();
  static constexpr std::array<Handler, 256> MakeHandlers();

  Status Push(PickleRef ref) {
    stack_.Push(ref);
    return {};
  }
  Status PushValue(PickleValue value) {
    return Push(heap_.Add(std::move(value)));
  }

  // ---- arguments in the bytes
  template <class Size>
  Result<std::string_view> TakeSized() {
    PARITY_ASSIGN_OR_RETURN(const Size size, reader_.Read<Size>());
    PARITY_ASSIGN_OR_RETURN(const auto bytes, reader_.Take(size));
    return std::string_view(reinterpret_cast<const char*>(bytes.data()),
                            bytes.size());
  }

  // ---- constants
  Status Mark() {
    stack_.Mark();
    return {};
  }
  Status None() { return Push(none_); }
  Status True() { return Push(true_); }
  Status False() { return Push(false_); }
  template <class Integer>
  Status Int() {
    PARITY_ASSIGN_OR_RETURN(const Integer value, reader_.Read<Integer>());
    return PushValue(std::int64_t{value});
  }
  template <class Size>
  Status Long() {
    PARITY_ASSIGN_OR_RETURN(const std::string_view bytes, TakeSized<Size>());
    if (bytes.size() > sizeof(std::int64_t))
      return PushValue(PickleBigInt{.bytes = bytes, .digits = {}});
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    const bool negative = !bytes.empty() && (bytes.back() & 0x80) != 0;
    if (negative && bytes.size() < sizeof(value))
      value |= ~std::uint64_t{0} << (8 * bytes.size());
    return PushValue(static_cast<std::int64_t>(value));
  }
  Status IntLine() {
    PARITY_ASSIGN_OR_RETURN(const std::string_view line, reader_.TakeLine());
    if (line == "00") return False();
    if (line == "01") return True();
    PARITY_ASSIGN_OR_RETURN(PickleValue value, ParsePickleInt(line));
    return PushValue(std::move(value));
  }
  Status LongLine() {
    PARITY_ASSIGN_OR_RETURN(std::string_view line, reader_.TakeLine());
    if (line.ends_with('L')) line.remove_suffix(1);
    PARITY_ASSIGN_OR_RETURN(PickleValue value, ParsePickleInt(line));
    return PushValue(std::move(value));
  }
  Status FloatLine() {
    PARITY_ASSIGN_OR_RETURN(const std::string_view line, reader_.TakeLine());
    PARITY_ASSIGN_OR_RETURN(const double value, ParsePickleFloat(line));
    return PushValue(value);
  }
  Status BinFloat() {
    PARITY_ASSIGN_OR_RETURN(const auto bits, reader_.Read<std::uint64_t>());
    return PushValue(std::bit_cast<double>(std::byteswap(bits)));
  }
  template <class Size>
  Status Text() {
    PARITY_ASSIGN_OR_RETURN(const std::string_view text, TakeSized<Size>());
    return PushValue(text);
  }
  template <class Size>
  Status Bytes() {
    PARITY_RETURN_IF_ERROR(TakeSized<Size>());
    return PushValue(PickleOpaque{});
  }
  Status StringLine() {
    PARITY_ASSIGN_OR_RETURN(const std::string_view line, reader_.TakeLine());
    PARITY_ASSIGN_OR_RETURN(std::string text, ParsePickleString(line));
    return PushValue(heap_.Keep(std::move(text)));
  }
  Status UnicodeLine() {
    PARITY_ASSIGN_OR_RETURN(const std::string_view line, reader_.TakeLine());
    PARITY_ASSIGN_OR_RETURN(std::string text, ParsePickleUnicode(line));
    return PushValue(heap_.Keep(std::move(text)));
  }

  // ---- collections
  Status EmptyTuple() { return Push(empty_tuple_); }
  template <SequenceKind kKind>
  Status Empty() {
    return PushValue(PickleSequence{.kind = kKind, .items = {}});
  }
  Status EmptyDict() { return PushValue(PickleDict{}); }
  template <SequenceKind kKind>
  Status FromMark() {
    PARITY_ASSIGN_OR_RETURN(auto items, stack_.PopMark());
    return PushValue(PickleSequence{.kind = kKind, .items = std::move(items)});
  }
  template <std::size_t kCount>
  Status Tuple() {
    PickleSequence tuple{.kind = SequenceKind::kTuple,
                         .items = std::vector<PickleRef>(kCount)};
    for (std::size_t i = kCount; i-- > 0;) {
      PARITY_ASSIGN_OR_RETURN(tuple.items[i], stack_.Pop());
    }
    return PushValue(std::move(tuple));
  }
  Status Append() {
    PARITY_ASSIGN_OR_RETURN(const PickleRef item, stack_.Pop());
    return Extend({item});
  }
  Status AppendMany() {
    PARITY_ASSIGN_OR_RETURN(const auto items, stack_.PopMark());
    return Extend(items);
  }
  Status Extend(const std::vector<PickleRef>& items) {
    PARITY_ASSIGN_OR_RETURN(const PickleRef target, stack_.Top());
    auto* const sequence = heap_.Get<PickleSequence>(target);
    if (sequence == nullptr || sequence->kind == SequenceKind::kTuple)
      return Corrupt("the pickle appends to what is no list or set");
    sequence->items.insert(sequence->items.end(), items.begin(), items.end());
    return {};
  }
  Status DictFromMark() {
    PARITY_ASSIGN_OR_RETURN(const auto items, stack_.PopMark());
    PARITY_RETURN_IF_ERROR(EmptyDict());
    return Update(items);
  }
  Status SetItem() {
    PARITY_ASSIGN_OR_RETURN(const PickleRef value, stack_.Pop());
    PARITY_ASSIGN_OR_RETURN(const PickleRef key, stack_.Pop());
    return Update({key, value});
  }
  Status SetItems() {
    PARITY_ASSIGN_OR_RETURN(const auto items, stack_.PopMark());
    return Update(items);
  }
  Status Update(const std::vector<PickleRef>& items) {
    PARITY_ASSIGN_OR_RETURN(const PickleRef target, stack_.Top());
    auto* const dict = heap_.Get<PickleDict>(target);
    if (dict == nullptr || items.size() % 2 != 0)
      return Corrupt("the pickle sets items of what is no dictionary");
    for (std::size_t i = 0; i < items.size(); i += 2)
      dict->items.emplace_back(items[i], items[i + 1]);
    return {};
  }

  // ---- the stack and the memo
  Status PopOne() { return stack_.PopItemOrMark(); }
  Status PopToMark() {
    PARITY_RETURN_IF_ERROR(stack_.PopMark());
    return {};
  }
  Status Duplicate() {
    PARITY_ASSIGN_OR_RETURN(const PickleRef top, stack_.Top());
    return Push(top);
  }
  Status Recall(std::uint64_t slot) {
    PARITY_ASSIGN_OR_RETURN(const PickleRef value, stack_.Recall(slot));
    return Push(value);
  }
  template <class Slot>
  Status Put() {
    PARITY_ASSIGN_OR_RETURN(const Slot slot, reader_.Read<Slot>());
    return stack_.Remember(slot);
  }
  template <class Slot>
  Status Get() {
    PARITY_ASSIGN_OR_RETURN(const Slot slot, reader_.Read<Slot>());
    return Recall(slot);
  }
  Result<std::uint64_t> SlotLine() {
    PARITY_ASSIGN_OR_RETURN(const std::string_view line, reader_.TakeLine());
    PARITY_ASSIGN_OR_RETURN(const PickleValue value, ParsePickleInt(line));
    const auto* const slot = std::get_if<std::int64_t>(&value);
    if (slot == nullptr || *slot < 0)
      return Corrupt("the pickle keeps a value under no number");
    return static_cast<std::uint64_t>(*slot);
  }
  Status PutLine() {
    PARITY_ASSIGN_OR_RETURN(const std::uint64_t slot, SlotLine());
    return stack_.Remember(slot);
  }
  Status GetLine() {
    PARITY_ASSIGN_OR_RETURN(const std::uint64_t slot, SlotLine());
    return Recall(slot);
  }
  Status Memoize() { return stack_.Memoize(); }

  // ---- globals, calls, objects
  Status PushGlobal(std::string_view module, std::string_view name) {
    PARITY_ASSIGN_OR_RETURN(const PickleGlobal global,
                            FindGlobal(module, name));
    return PushValue(global);
  }
  Status GlobalLines() {
    PARITY_ASSIGN_OR_RETURN(const std::string_view module, reader_.TakeLine());
    PARITY_ASSIGN_OR_RETURN(const std::string_view name, reader_.TakeLine());
    return PushGlobal(module, name);
  }
  Status StackGlobal() {
    PARITY_ASSIGN_OR_RETURN(const PickleRef name_ref, stack_.Pop());
    PARITY_ASSIGN_OR_RETURN(const PickleRef module_ref, stack_.Pop());
    const auto* const name = heap_.Get<std::string_view>(name_ref);
    const auto* const module = heap_.Get<std::string_view>(module_ref);
    if (name == nullptr || module == nullptr)
      return Corrupt("the pickle names a global by no text");
    return PushGlobal(*module, *name);
  }
  Status Call(PickleRef callable, PickleRef arguments) {
    PARITY_ASSIGN_OR_RETURN(
        const PickleRef value,
        CallGlobal(heap_, callable, arguments, item_budget_));
    return Push(value);
  }
  // REDUCE and NEWOBJ: the allowed classes are made by being called.
  Status Reduce() {
    PARITY_ASSIGN_OR_RETURN(const PickleRef arguments, stack_.Pop());
    PARITY_ASSIGN_OR_RETURN(const PickleRef callable, stack_.Pop());
    return Call(callable, arguments);
  }
  Status NewObjectWithKeywords() {
    PARITY_ASSIGN_OR_RETURN(const PickleRef keywords, stack_.Pop());
    const auto* const dict = heap_.Get<PickleDict>(keywords);
    if (dict == nullptr || !dict->items.empty())
      return Corrupt("the pickle makes an object with keywords");
    return Reduce();
  }
  Status Instance() {
    PARITY_ASSIGN_OR_RETURN(auto arguments, stack_.PopMark());
    PARITY_RETURN_IF_ERROR(GlobalLines());
    PARITY_ASSIGN_OR_RETURN(const PickleRef callable, stack_.Pop());
    return Call(callable,
                heap_.Add(PickleSequence{.kind = SequenceKind::kTuple,
                                         .items = std::move(arguments)}));
  }
  Status Object() {
    PARITY_ASSIGN_OR_RETURN(auto items, stack_.PopMark());
    if (items.empty()) return Corrupt("the pickle makes an object of nothing");
    const PickleRef callable = items.front();
    items.erase(items.begin());
    return Call(callable, heap_.Add(PickleSequence{.kind = SequenceKind::kTuple,
                                                   .items = std::move(items)}));
  }
  // An object's state (a state dict's _metadata, a tensor's attributes) is of
  // no interest.
  Status Build() {
    PARITY_RETURN_IF_ERROR(stack_.Pop());
    PARITY_RETURN_IF_ERROR(stack_.Top());
    return {};
  }
  Status PersistentId() {
    PARITY_ASSIGN_OR_RETURN(const PickleRef id, stack_.Pop());
    PARITY_ASSIGN_OR_RETURN(const StorageReference storage,
                            ResolveStorage(heap_, id));
    storages_.push_back(storage);
    return PushValue(std::make_unique<StorageReference>(storage));
  }
  Status PersistentLine() {
    PARITY_RETURN_IF_ERROR(reader_.TakeLine());
    return Corrupt("a persistent id names no storage");
  }

  // ---- framing
  Status Protocol() {
    PARITY_ASSIGN_OR_RETURN(const auto version, reader_.Read<std::uint8_t>());
    if (version <= 5) return {};
    return Fail(ErrorCode::kUnsupported,
                std::format("is pickled with protocol {}; at most 5 is known",
                            version));
  }
  Status Frame() {
    PARITY_ASSIGN_OR_RETURN(const auto size, reader_.Read<std::uint64_t>());
    if (size <= reader_.remaining()) return {};
    return Corrupt(
        std::format("the pickle ends too early: a frame of {} bytes, "
                    "{} left",
                    size, reader_.remaining()));
  }
  Status Unsupported() {
    return Fail(ErrorCode::kUnsupported,
                "the pickle uses extension codes or out-of-band buffers, which "
                "torch.save never does");
  }

  ByteReader reader_;
  PickleHeap heap_;
  PickleStack stack_;
  std::vector<StorageReference> storages_;
  std::size_t item_budget_;
  PickleRef none_, false_, true_, empty_tuple_;
};

// Indexed by opcode; null for bytes that are none. STOP is Run()'s.
constexpr std::array<Machine::Handler, 256> Machine::MakeHandlers() {
  struct Entry {
    unsigned char code;
    Handler handler;
  };
  constexpr Entry kEntries[] = {
      {0x80, &Machine::Protocol},
      {0x95, &Machine::Frame},
      {'(', &Machine::Mark},
      {'N', &Machine::None},
      {0x88, &Machine::True},
      {0x89, &Machine::False},
      {'I', &Machine::IntLine},
      {'L', &Machine::LongLine},
      {'J', &Machine::Int<std::int32_t>},
      {'K', &Machine::Int<std::uint8_t>},
      {'M', &Machine::Int<std::uint16_t>},
      {0x8a, &Machine::Long<std::uint8_t>},
      {0x8b, &Machine::Long<std::uint32_t>},
      {'F', &Machine::FloatLine},
      {'G', &Machine::BinFloat},
      {'S', &Machine::StringLine},
      {'T', &Machine::Text<std::uint32_t>},
      {'U', &Machine::Text<std::uint8_t>},
      {'V', &Machine::UnicodeLine},
      {'X', &Machine::Text<std::uint32_t>},
      {0x8c, &Machine::Text<std::uint8_t>},
      {0x8d, &Machine::Text<std::uint64_t>},
      {'B', &Machine::Bytes<std::uint32_t>},
      {'C', &Machine::Bytes<std::uint8_t>},
      {0x8e, &Machine::Bytes<std::uint64_t>},
      {0x96, &Machine::Bytes<std::uint64_t>},
      {')', &Machine::EmptyTuple},
      {'t', &Machine::FromMark<SequenceKind::kTuple>},
      {0x85, &Machine::Tuple<1>},
      {0x86, &Machine::Tuple<2>},
      {0x87, &Machine::Tuple<3>},
      {']', &Machine::Empty<SequenceKind::kList>},
      {'l', &Machine::FromMark<SequenceKind::kList>},
      {'a', &Machine::Append},
      {'e', &Machine::AppendMany},
      {0x8f, &Machine::Empty<SequenceKind::kSet>},
      {0x90, &Machine::AppendMany},
      {0x91, &Machine::FromMark<SequenceKind::kSet>},
      {'}', &Machine::EmptyDict},
      {'d', &Machine::DictFromMark},
      {'s', &Machine::SetItem},
      {'u', &Machine::SetItems},
      {'0', &Machine::PopOne},
      {'1', &Machine::PopToMark},
      {'2', &Machine::Duplicate},
      {'p', &Machine::PutLine},
      {'q', &Machine::Put<std::uint8_t>},
      {'r', &Machine::Put<std::uint32_t>},
      {0x94, &Machine::Memoize},
      {'g', &Machine::GetLine},
      {'h', &Machine::Get<std::uint8_t>},
      {'j', &Machine::Get<std::uint32_t>},
      {'c', &Machine::GlobalLines},
      {0x93, &Machine::StackGlobal},
      {'R', &Machine::Reduce},
      {0x81, &Machine::Reduce},
      {0x92, &Machine::NewObjectWithKeywords},
      {'i', &Machine::Instance},
      {'o', &Machine::Object},
      {'b', &Machine::Build},
      {'Q', &Machine::PersistentId},
      {'P', &Machine::PersistentLine},
      {0x82, &Machine::Unsupported},
      {0x83, &Machine::Unsupported},
      {0x84, &Machine::Unsupported},
      {0x97, &Machine::Unsupported},
      {0x98, &Machine::Unsupported},
  };
  std::array<Handler, 256> handlers{};
  for (const Entry& entry : kEntries) handlers[entry.code] = entry.handler;
  return handlers;
}

Result<Pickle> Machine::Run() {
  static constexpr std::array<Handler, 256> kHandlers = MakeHandlers();
  constexpr std::uint8_t kStop = '.';
  while (true) {
    const std::size_t position = reader_.position();
    PARITY_ASSIGN_OR_RETURN(const auto code, reader_.Read<std::uint8_t>());
    if (code == kStop) break;
    const Handler handler = kHandlers[code];
    if (handler == nullptr) {
      return Corrupt(
          std::format("the pickle has the unknown opcode {:#04x} at "
                      "offset {}",
                      code, position));
    }
    PARITY_RETURN_IF_ERROR((this->*handler)());
    if (heap_.size() + stack_.size() > kMaxValues) {
      return Fail(
          ErrorCode::kUnsupported,
          std::format("the pickle builds more than {} values", kMaxValues));
    }
  }
  PARITY_ASSIGN_OR_RETURN(const PickleRef root, stack_.Pop());
  return Pickle{.heap = std::move(heap_),
                .root = root,
                .size = reader_.position(),
                .storages = std::move(storages_)};
}

}  // namespace

Result<Pickle> ReadPickle(std::span<const std::byte> bytes) {
  Result<Pickle> pickle = Machine(bytes).Run();
  if (pickle || pickle.error().code != ErrorCode::kUnsupported) return pickle;
  // A class of the user's own cannot be told from any other global, but the
  // attributes of every torch.nn.Module can.
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  Error error = std::move(pickle).error();
  if (text.contains("_parameters") && text.contains("_modules") &&
      !error.message.contains("state_dict")) {
    error.message +=
        "; it looks like a whole module: save its state dict instead, with "
        "torch.save(model.state_dict(), FILE)";
  }
  return std::unexpected(std::move(error));
}

}  // namespace parity
