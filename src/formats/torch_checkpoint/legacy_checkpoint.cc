// file := pickle of 0x1950a86a20f9469cfc6c, pickle of 1001, pickle of the
//         system's sizes, pickle of the object, pickle of the list of storage
//         keys, then for each key: i64le element count, elements
// The elements are little-endian whatever machine wrote them.
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/byte_reader.h"
#include "base/status_macros.h"
#include "formats/torch_checkpoint/checkpoint_formats.h"
#include "formats/torch_checkpoint/checkpoint_reader.h"
#include "formats/torch_checkpoint/checkpoint_tensors.h"
#include "formats/torch_checkpoint/pickle_machine.h"
#include "formats/torch_checkpoint/pickle_value.h"
#include "formats/torch_checkpoint/state_dict.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::string_view kMagicBytes =
    "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::string_view kMagicDigits = "119547037146038801333356";
constexpr std::int64_t kProtocol = 1001;

using Storages = std::unordered_map<std::string_view, StorageBytes>;

std::unexpected<Error> Corrupt(std::string message) {
  return Fail(ErrorCode::kCorrupt, std::move(message));
}

// The next pickle of the file; `what` is for errors.
Result<Pickle> TakePickle(std::span<const std::byte>& rest,
                          std::string_view what) {
  Result<Pickle> pickle = ReadPickle(rest);
  if (!pickle) return std::unexpected(std::move(pickle).error().In(what));
  rest = rest.subspan(pickle->size);
  return pickle;
}

Status TakeHead(std::span<const std::byte>& rest) {
  PARITY_ASSIGN_OR_RETURN(const Pickle magic, TakePickle(rest, "magic number"));
  const auto* const number = magic.heap.Get<PickleBigInt>(magic.root);
  if (number == nullptr ||
      (number->bytes != kMagicBytes && number->digits != kMagicDigits)) {
    return Corrupt("does not begin with PyTorch's magic number");
  }
  PARITY_ASSIGN_OR_RETURN(const Pickle version,
                          TakePickle(rest, "protocol version"));
  const auto* const value = version.heap.Get<std::int64_t>(version.root);
  if (value == nullptr || *value != kProtocol) {
    return Fail(ErrorCode::kUnsupported,
                "is written in a protocol of torch.save() other than 1001");
  }
  PARITY_RETURN_IF_ERROR(TakePickle(rest, "system information"));
  return {};
}

// The elements of every storage, in the order of the keys.
Result<Storages> TakeStorages(std::span<const std::byte> rest,
                              const Pickle& object, const Pickle& keys,
                              const std::shared_ptr<const void>& owner) {
  std::unordered_map<std::string_view, const StorageReference*> references;
  for (const StorageReference& storage : object.storages)
    references.emplace(storage.key, &storage);
  const auto* const list = keys.heap.Get<PickleSequence>(keys.root);
  if (list == nullptr) return Corrupt("the list of storages is none");
  ByteReader reader(rest);
  Storages storages;
  for (const PickleRef ref : list->items) {
    const auto* const key = keys.heap.Get<std::string_view>(ref);
    const auto found =
        key == nullptr ? references.end() : references.find(*key);
    if (found == references.end())
      return Corrupt("the list of storages names one that nothing uses");
    const StorageReference& storage = *found->second;
    const auto unit = static_cast<std::uint64_t>(
        ByteSize(storage.dtype.value_or(DType::kUInt8)));
    PARITY_ASSIGN_OR_RETURN(const auto count, reader.Read<std::uint64_t>());
    if (count != storage.size / unit) {
      return Corrupt(
          std::format("storage '{}' has {} elements where the pickle "
                      "says {}",
                      *key, count, storage.size / unit));
    }
    PARITY_ASSIGN_OR_RETURN(const auto bytes, reader.Take(storage.size));
    // The key lives as long as the object's pickle.
    storages.emplace(storage.key, StorageBytes{.bytes = bytes, .owner = owner});
  }
  return storages;
}

}  // namespace

Result<Checkpoint> ReadLegacyCheckpoint(
    std::span<const std::byte> file, const std::shared_ptr<const void>& owner) {
  std::span<const std::byte> rest = file;
  PARITY_RETURN_IF_ERROR(TakeHead(rest));
  PARITY_ASSIGN_OR_RETURN(const Pickle object,
                          TakePickle(rest, "pickled object"));
  PARITY_ASSIGN_OR_RETURN(const Pickle keys, TakePickle(rest, "storage keys"));
  PARITY_ASSIGN_OR_RETURN(const Storages storages,
                          TakeStorages(rest, object, keys, owner));
  PARITY_ASSIGN_OR_RETURN(StateDict state_dict, FindStateDict(object));
  const auto load = [&](std::string_view key) -> Result<StorageBytes> {
    const auto found = storages.find(key);
    if (found == storages.end())
      return Corrupt(std::format("has no storage '{}'", key));
    return found->second;
  };
  PARITY_ASSIGN_OR_RETURN(
      NamedTensors tensors,
      MakeTensors(state_dict.tensors, load, {.file_size = file.size()}));
  return Checkpoint{.tensors = std::move(tensors),
                    .notes = std::move(state_dict.notes)};
}

}  // namespace parity
