#include "backend/torch/state_dict.h"

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cassert>
#include <string_view>

#include "backend/torch/tensor_bridge.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {

StateDict::StateDict(const NamedTensors& weights, c10::ScalarType precision) {
  for (const NamedTensor& entry : weights) {
    if (!IsFloating(entry.tensor.dtype())) continue;
    tensors_.insert_or_assign(entry.name,
                              TorchFromParity(entry.tensor)->to(precision));
  }
}

const at::Tensor& StateDict::operator[](std::string_view name) const {
  const auto found = tensors_.find(name);
  assert(found != tensors_.end());
  return found->second;
}

}  // namespace parity
