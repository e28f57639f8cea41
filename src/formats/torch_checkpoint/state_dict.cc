#include "formats/torch_checkpoint/state_dict.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <format>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "formats/text/utf8.h"
#include "formats/torch_checkpoint/pickle_machine.h"
#include "formats/torch_checkpoint/pickle_value.h"
#include "parity/error.h"

namespace parity {
namespace {

// Where training scripts put the state dict, best first.
constexpr std::array<std::string_view, 11> kUsualNames = {
    "state_dict", "model_state_dict", "model_state", "model",
    "net",        "network",          "module",      "params_ema",
    "params",     "weights",          "ema"};
constexpr std::array<std::string_view, 2> kWrapperPrefixes = {"module.",
                                                              "_orig_mod."};
constexpr int kMaxDepth = 8;

struct Entry {
  std::string_view key;
  PickleRef value;
};

const TensorDescription* GetTensor(const PickleHeap& heap, PickleRef ref) {
  const auto* const tensor = heap.Get<std::unique_ptr<TensorDescription>>(ref);
  return tensor == nullptr ? nullptr : tensor->get();
}

// The dictionary's entries under texts. As in Python, a key set again keeps its
// place and takes the new value.
std::vector<Entry> Entries(const PickleHeap& heap, const PickleDict& dict) {
  std::vector<Entry> entries;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const auto& [key_ref, value] : dict.items) {
    const auto* const key = heap.Get<std::string_view>(key_ref);
    if (key == nullptr) continue;
    const auto [place, is_new] = places.emplace(*key, entries.size());
    if (is_new) {
      entries.push_back({.key = *key, .value = value});
    } else {
      entries[place->second].value = value;
    }
  }
  return entries;
}

bool HoldsTensors(const PickleHeap& heap, const PickleDict& dict) {
  return std::ranges::any_of(dict.items, [&](const auto& item) {
    return heap.Get<std::string_view>(item.first) != nullptr &&
           GetTensor(heap, item.second) != nullptr;
  });
}

const Entry* FindUsual(const PickleHeap& heap,
                       const std::vector<Entry>& entries, bool with_tensors) {
  for (const std::string_view name : kUsualNames) {
    const auto found = std::ranges::find(entries, name, &Entry::key);
    if (found == entries.end()) continue;
    const auto* const dict = heap.Get<PickleDict>(found->value);
    if (dict != nullptr && (!with_tensors || HoldsTensors(heap, *dict)))
      return &*found;
  }
  return nullptr;
}

std::string Quoted(const std::vector<std::string_view>& names) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i)
    text += std::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  return names.size() > kShown ? text + ", …" : text;
}

// The entry to look into next, or null when the dictionary itself is the one.
Result<const Entry*> ChooseEntry(const PickleHeap& heap, const PickleDict& dict,
                                 const std::vector<Entry>& entries) {
  if (const Entry* usual = FindUsual(heap, entries, true)) return usual;
  if (HoldsTensors(heap, dict)) return nullptr;
  const Entry* only = nullptr;
  std::vector<std::string_view> names;
  for (const Entry& entry : entries) {
    const auto* const inner = heap.Get<PickleDict>(entry.value);
    if (inner == nullptr || !HoldsTensors(heap, *inner)) continue;
    only = &entry;
    names.push_back(entry.key);
  }
  if (names.size() == 1) return only;
  if (names.size() > 1) {
    return Fail(ErrorCode::kUnsupported,
                std::format("holds several sets of tensors ({}); save the one "
                            "wanted with torch.save(…)",
                            Quoted(names)));
  }
  if (const Entry* usual = FindUsual(heap, entries, false)) return usual;
  return Fail(
      ErrorCode::kUnsupported,
      "holds no tensors that a state dict would: dictionaries of tensors "
      "by name");
}

bool HaveAllPrefix(const std::vector<NamedDescription>& tensors,
                   std::string_view prefix) {
  return std::ranges::all_of(tensors, [&](const NamedDescription& entry) {
    return entry.name.size() > prefix.size() && entry.name.starts_with(prefix);
  });
}

void StripPrefixes(StateDict& state_dict) {
  std::string stripped;
  bool again = true;
  while (again) {
    again = false;
    for (const std::string_view prefix : kWrapperPrefixes) {
      if (!HaveAllPrefix(state_dict.tensors, prefix)) continue;
      for (NamedDescription& entry : state_dict.tensors)
        entry.name.erase(0, prefix.size());
      stripped += prefix;
      again = true;
    }
  }
  if (!stripped.empty()) {
    state_dict.notes.push_back(
        std::format("stripped the common prefix '{}'", stripped));
  }
}

}  // namespace

Result<StateDict> FindStateDict(const Pickle& pickle) {
  const PickleHeap& heap = pickle.heap;
  const PickleDict* dict = heap.Get<PickleDict>(pickle.root);
  if (dict == nullptr) {
    return Fail(ErrorCode::kUnsupported,
                GetTensor(heap, pickle.root) != nullptr
                    ? "holds a single tensor, not a state dict"
                    : "holds no dictionary, so no state dict; save one with "
                      "torch.save(model.state_dict(), FILE)");
  }
  StateDict result;
  std::string path;
  std::vector<Entry> entries = Entries(heap, *dict);
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    PARITY_ASSIGN_OR_RETURN(const Entry* const entry,
                            ChooseEntry(heap, *dict, entries));
    if (entry == nullptr) break;
    path += std::format("{}{}", path.empty() ? "" : ".", entry->key);
    dict = heap.Get<PickleDict>(entry->value);
    entries = Entries(heap, *dict);
  }
  if (!path.empty())
    result.notes.push_back(std::format("tensors found under '{}'", path));
  std::vector<std::string_view> ignored;
  for (const Entry& entry : entries) {
    if (!IsUtf8(entry.key))
      return Fail(ErrorCode::kCorrupt, "a tensor's name is not UTF-8");
    const TensorDescription* const tensor = GetTensor(heap, entry.value);
    if (tensor == nullptr) {
      ignored.push_back(entry.key);
    } else {
      result.tensors.push_back(
          {.name = std::string(entry.key), .tensor = tensor});
    }
  }
  if (result.tensors.empty())
    return Fail(ErrorCode::kUnsupported, "nests its tensors too deeply");
  if (!ignored.empty()) {
    result.notes.push_back(
        std::format("ignored what is no tensor: {}", Quoted(ignored)));
  }
  StripPrefixes(result);
  return result;
}

}  // namespace parity
