// From descriptions of tensors to tensors: storages, views, byte order.
#ifndef PARITY_FORMATS_TORCH_CHECKPOINT_CHECKPOINT_TENSORS_H_
#define PARITY_FORMATS_TORCH_CHECKPOINT_CHECKPOINT_TENSORS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "formats/torch_checkpoint/state_dict.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct StorageBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Finds a storage by its key; asked once a key.
using StorageLoader = std::function<Result<StorageBytes>(std::string_view key)>;

struct TensorMaking {
  bool big_endian = false;    // of the storages' elements
  std::size_t file_size = 0;  // bounds what copies of views may take
};

// Contiguous little-endian tensors borrow from their storage, others are
// copied. Copies together take at most 64 MiB and 8 times the file, so that a
// few bytes of repeated elements cannot fill memory. Errors: those of `load`,
// kCorrupt for views outside their storage, kUnsupported beyond the bound; all
// but the first naming the tensor.
[[nodiscard]] Result<NamedTensors> MakeTensors(
    std::span<const NamedDescription> descriptions, const StorageLoader& load,
    const TensorMaking& making);

}  // namespace parity

#endif  // PARITY_FORMATS_TORCH_CHECKPOINT_CHECKPOINT_TENSORS_H_
