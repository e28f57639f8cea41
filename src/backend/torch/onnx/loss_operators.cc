// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/ones_like.h>
#include <c10/core/ScalarType.h>

#include <format>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

at::Tensor Reduced(const std::string& reduction, const at::Tensor& loss,
                   const at::Tensor& weight) {
  if (reduction == "none") return loss;
  if (reduction == "sum") return loss.sum();
  if (reduction == "mean") return loss.sum() / weight.sum();
  throw OperatorError(std::format("unknown reduction {}", reduction));
}

// `log_probabilities` [N, C, …], targets [N, …], weights of classes [C].
at::Tensor Loss(const OperatorContext& context,
                const at::Tensor& log_probabilities) {
  at::Tensor target = context.Input(1).to(at::kLong);
  at::Tensor ignored;
  if (context.HasAttribute("ignore_index")) {
    ignored = target == context.Integer("ignore_index");
    target = target.masked_fill(ignored, 0);
  }
  at::Tensor loss =
      log_probabilities.gather(1, target.unsqueeze(1)).squeeze(1).neg();
  at::Tensor weight = at::ones_like(loss);
  if (context.HasInput(2))
    weight = context.Input(2)
                 .index_select(0, target.reshape({-1}))
                 .reshape(target.sizes());
  loss = loss * weight;
  if (ignored.defined()) {
    loss = loss.masked_fill(ignored, 0);
    weight = weight.masked_fill(ignored, 0);
  }
  return Reduced(context.String("reduction", "mean"), loss, weight);
}

std::vector<at::Tensor> NegativeLogLikelihoodLoss(
    const OperatorContext& context) {
  return {Loss(context, context.Input(0))};
}

std::vector<at::Tensor> SoftmaxCrossEntropyLoss(
    const OperatorContext& context) {
  const at::Tensor log_probabilities = at::log_softmax(context.Input(0), 1);
  return {Loss(context, log_probabilities), log_probabilities};
}

}  // namespace

void AddLossOperators(OperatorTable& table) {
  table["NegativeLogLikelihoodLoss"] = NegativeLogLikelihoodLoss;
  table["SoftmaxCrossEntropyLoss"] = SoftmaxCrossEntropyLoss;
}

}  // namespace parity
