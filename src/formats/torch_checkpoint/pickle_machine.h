// Reads Python pickles without Python: a stack machine for protocols 0 to 5
// that builds values and calls nothing but the few names of torch_globals.h.
#ifndef PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_MACHINE_H_
#define PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_MACHINE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "formats/torch_checkpoint/pickle_value.h"
#include "parity/error.h"

namespace parity {

struct Pickle {
  PickleHeap heap;
  PickleRef root = 0;
  std::size_t size = 0;                    // bytes up to and with the last
  std::vector<StorageReference> storages;  // in the order they were named
};

// Reads one pickle at the start of `bytes`; texts in the result point into
// them. Memory is bounded by a multiple of the bytes read, and nothing
// recurses. Errors: kCorrupt outside the format; kUnsupported for globals not
// on the list and for extension codes and out-of-band buffers.
[[nodiscard]] Result<Pickle> ReadPickle(std::span<const std::byte> bytes);

}  // namespace parity

#endif  // PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_MACHINE_H_
