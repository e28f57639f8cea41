// Reads checkpoints of torch.save() without PyTorch, and never runs code.
//
// zip format (PyTorch ≥ 1.6):  a zip archive of <name>/data.pkl, the pickled
//   object, and <name>/data/<key>, one entry a storage
// legacy format:  five pickles (magic number, protocol version, system, object,
//   storage keys), then for each key the element count and the elements
//
// Specification: docs/formats/torch_checkpoint.md.
#ifndef PARITY_FORMATS_TORCH_CHECKPOINT_CHECKPOINT_READER_H_
#define PARITY_FORMATS_TORCH_CHECKPOINT_CHECKPOINT_READER_H_

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct Checkpoint {
  NamedTensors tensors;
  // Lines for the user: "tensors found under 'state_dict'".
  std::vector<std::string> notes;
};

// The tensors of a state dict. Contiguous ones borrow from `file`, which
// `owner` keeps alive; views are copied. Cost: one pass over the storages used,
// for their CRC-32. Errors: kCorrupt naming the damaged zip entry; kUnsupported
// for globals that are no part of a state dict, whole modules, TorchScript
// archives, quantized and sparse tensors and the tar format before PyTorch 0.2;
// and what the file is instead where that is recognisable.
[[nodiscard]] Result<Checkpoint> ReadCheckpointBytes(
    std::span<const std::byte> file, const std::shared_ptr<const void>& owner);

// The same for a mapped file. Errors carry the path.
[[nodiscard]] Result<Checkpoint> ReadCheckpoint(
    const std::filesystem::path& path);

}  // namespace parity

#endif  // PARITY_FORMATS_TORCH_CHECKPOINT_CHECKPOINT_READER_H_
