// The only names a checkpoint's pickle may use, and what they do here. Nothing
// of Python is run: each is a few lines of C++ that build values.
#ifndef PARITY_FORMATS_TORCH_CHECKPOINT_TORCH_GLOBALS_H_
#define PARITY_FORMATS_TORCH_CHECKPOINT_TORCH_GLOBALS_H_

#include <cstddef>
#include <string_view>

#include "formats/torch_checkpoint/pickle_value.h"
#include "parity/error.h"

namespace parity {

// Looks a name up in the list. Errors: kUnsupported naming any other global,
// with advice for whole modules and for quantized, sparse and 8-bit float
// tensors.
[[nodiscard]] Result<PickleGlobal> FindGlobal(std::string_view module,
                                              std::string_view name);

// The value of callable(*arguments). `item_budget` bounds how many items calls
// may copy from one collection to another, so that a small pickle cannot fill
// memory; it is decreased. Errors: kCorrupt for arguments that do not fit.
[[nodiscard]] Result<PickleRef> CallGlobal(PickleHeap& heap, PickleRef callable,
                                           PickleRef arguments,
                                           std::size_t& item_budget);

// The storage of ('storage', type, key, location, element count[, view]).
// Errors: kCorrupt for any other persistent id.
[[nodiscard]] Result<StorageReference> ResolveStorage(const PickleHeap& heap,
                                                      PickleRef id);

}  // namespace parity

#endif  // PARITY_FORMATS_TORCH_CHECKPOINT_TORCH_GLOBALS_H_
