// Finds the tensors in what a checkpoint's pickle built.
#ifndef PARITY_FORMATS_TORCH_CHECKPOINT_STATE_DICT_H_
#define PARITY_FORMATS_TORCH_CHECKPOINT_STATE_DICT_H_

#include <string>
#include <vector>

#include "formats/torch_checkpoint/pickle_machine.h"
#include "formats/torch_checkpoint/pickle_value.h"
#include "parity/error.h"

namespace parity {

struct NamedDescription {
  std::string name;
  const TensorDescription* tensor = nullptr;  // in the pickle's heap
};

struct StateDict {
  std::vector<NamedDescription> tensors;  // names are unique
  std::vector<std::string> notes;         // what was done to find them
};

// The pickle's value is a dictionary of tensors, or holds one under a usual
// name
// ("state_dict", "model", …) or under its only dictionary of tensors. Prefixes
// that all names share because of a wrapper ("module." of DataParallel,
// "_orig_mod." of torch.compile) are stripped. Borrows from `pickle`. Errors:
// kUnsupported when there are no tensors, or several dictionaries of them.
[[nodiscard]] Result<StateDict> FindStateDict(const Pickle& pickle);

}  // namespace parity

#endif  // PARITY_FORMATS_TORCH_CHECKPOINT_STATE_DICT_H_
