// Activation functions of RNN, LSTM and GRU, named by their attributes.
#ifndef PARITY_BACKEND_TORCH_ONNX_RECURRENT_ACTIVATIONS_H_
#define PARITY_BACKEND_TORCH_ONNX_RECURRENT_ACTIVATIONS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {

// Clips its argument where the node asks for it.
using Activation = std::function<at::Tensor(const at::Tensor&)>;

// `directions` times as many activations as `defaults` has, from the attributes
// activations, activation_alpha, activation_beta and clip. Functions with
// parameters take them in order; with none left, those of the ONNX operator of
// that name.
[[nodiscard]] std::vector<Activation> ReadActivations(
    const OperatorContext& context, const std::vector<std::string>& defaults,
    std::size_t directions);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_RECURRENT_ACTIVATIONS_H_
