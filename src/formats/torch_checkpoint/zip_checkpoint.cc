// archive := <name>/data.pkl, <name>/data/<key>…, [<name>/byteorder: "little"
// or
//            "big"], <name>/version, …
#include <cstddef>
#include <expected>
#include <format>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "formats/torch_checkpoint/checkpoint_formats.h"
#include "formats/torch_checkpoint/checkpoint_reader.h"
#include "formats/torch_checkpoint/checkpoint_tensors.h"
#include "formats/torch_checkpoint/pickle_machine.h"
#include "formats/torch_checkpoint/state_dict.h"
#include "formats/zip/zip_reader.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// The entry <name>/data.pkl; there is one folder at the top.
const ZipEntry* FindPickle(const ZipReader& zip) {
  for (const ZipEntry& entry : zip.entries()) {
    const std::string_view name = entry.name;
    const std::size_t slash = name.find('/');
    if (slash != std::string_view::npos && name.substr(slash) == "/data.pkl")
      return &entry;
  }
  return nullptr;
}

Result<bool> IsBigEndian(const ZipReader& zip, const std::string& folder) {
  const ZipEntry* const entry = zip.Find(folder + "byteorder");
  if (entry == nullptr) return false;  // before PyTorch 2.1
  PARITY_ASSIGN_OR_RETURN(const ZipContent content, zip.Read(*entry));
  const std::string_view order(
      reinterpret_cast<const char*>(content.bytes.data()),
      content.bytes.size());
  if (order == "little") return false;
  if (order == "big") return true;
  return Fail(ErrorCode::kCorrupt,
              std::format("{}: is neither 'little' nor 'big'", entry->name));
}

}  // namespace

Result<Checkpoint> ReadZipCheckpoint(std::span<const std::byte> file,
                                     const std::shared_ptr<const void>& owner) {
  PARITY_ASSIGN_OR_RETURN(const ZipReader zip, ZipReader::Open(file, owner));
  const ZipEntry* const entry = FindPickle(zip);
  if (entry == nullptr)
    return Fail(ErrorCode::kCorrupt, "has no entry data.pkl");
  const std::string folder = entry->name.substr(0, entry->name.find('/') + 1);
  PARITY_ASSIGN_OR_RETURN(const ZipContent content, zip.Read(*entry));
  Result<Pickle> pickle = ReadPickle(content.bytes);
  if (!pickle)
    return std::unexpected(std::move(pickle).error().In(entry->name));
  Result<StateDict> state_dict = FindStateDict(*pickle);
  if (!state_dict) return std::unexpected(std::move(state_dict).error());
  const auto load = [&](std::string_view key) -> Result<StorageBytes> {
    const std::string name = std::format("{}data/{}", folder, key);
    const ZipEntry* const storage = zip.Find(name);
    if (storage == nullptr)
      return Fail(ErrorCode::kCorrupt, std::format("has no entry {}", name));
    PARITY_ASSIGN_OR_RETURN(ZipContent bytes, zip.Read(*storage));
    return StorageBytes{.bytes = bytes.bytes, .owner = std::move(bytes.owner)};
  };
  PARITY_ASSIGN_OR_RETURN(const bool big_endian, IsBigEndian(zip, folder));
  PARITY_ASSIGN_OR_RETURN(
      NamedTensors tensors,
      MakeTensors(state_dict->tensors, load,
                  {.big_endian = big_endian, .file_size = file.size()}));
  return Checkpoint{.tensors = std::move(tensors),
                    .notes = std::move(state_dict->notes)};
}

}  // namespace parity
