// The two formats of torch.save().
#ifndef PARITY_FORMATS_TORCH_CHECKPOINT_CHECKPOINT_FORMATS_H_
#define PARITY_FORMATS_TORCH_CHECKPOINT_CHECKPOINT_FORMATS_H_

#include <cstddef>
#include <memory>
#include <span>

#include "formats/torch_checkpoint/checkpoint_reader.h"
#include "parity/error.h"

namespace parity {

// Errors name the zip entry.
[[nodiscard]] Result<Checkpoint> ReadZipCheckpoint(
    std::span<const std::byte> file, const std::shared_ptr<const void>& owner);

[[nodiscard]] Result<Checkpoint> ReadLegacyCheckpoint(
    std::span<const std::byte> file, const std::shared_ptr<const void>& owner);

}  // namespace parity

#endif  // PARITY_FORMATS_TORCH_CHECKPOINT_CHECKPOINT_FORMATS_H_
