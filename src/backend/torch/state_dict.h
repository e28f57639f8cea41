// The parameters of the reference network as libtorch tensors, by name.
#ifndef PARITY_BACKEND_TORCH_STATE_DICT_H_
#define PARITY_BACKEND_TORCH_STATE_DICT_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <map>
#include <string>
#include <string_view>

#include "parity/tensor.h"

namespace parity {

class StateDict {
 public:
  // Borrows the bytes of `weights` (the entries keep them alive) where they
  // already have the dtype `precision`; converts them otherwise. Entries that
  // are not floating are left out.
  StateDict(const NamedTensors& weights, c10::ScalarType precision);

  // The caller has checked the weights (networks/weights_check.h): the name
  // must exist.
  [[nodiscard]] const at::Tensor& operator[](std::string_view name) const;

 private:
  std::map<std::string, at::Tensor, std::less<>> tensors_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_STATE_DICT_H_
