// BatchNormalization, InstanceNormalization, LayerNormalization,
// GroupNormalization, LpNormalization, MeanVarianceNormalization, LRN.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/where.h>

#include <cstddef>
#include <cstdint>
#include <format>
#include <numeric>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

constexpr double kEpsilon = 1e-5F;  // the attribute's default, a float32

struct Moments {
  at::Tensor mean;
  at::Tensor variance;  // of the whole population
};

Moments MomentsOver(const at::Tensor& input,
                    const std::vector<std::int64_t>& axes) {
  const at::Tensor mean = input.mean(axes, /*keepdim=*/true);
  return {.mean = mean,
          .variance = (input - mean).square().mean(axes, /*keepdim=*/true)};
}

at::Tensor Standardized(const at::Tensor& input, const Moments& moments,
                        double epsilon) {
  return (input - moments.mean) * (moments.variance + epsilon).rsqrt();
}

std::vector<std::int64_t> AxesFrom(std::int64_t first, std::int64_t rank) {
  if (first > rank) throw OperatorError(std::format("input of rank {}", rank));
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank - first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// One number for each channel, along axis 1.
at::Tensor AlongChannels(const at::Tensor& values, std::int64_t rank) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), 1);
  shape.at(1) = -1;
  return values.reshape(shape);
}

// Scale and bias of opset 7 with spatial=0 have the shape of a whole sample.
at::Tensor AlongSample(const at::Tensor& values, const at::Tensor& input) {
  if (values.dim() == 1) return AlongChannels(values, input.dim());
  return values.unsqueeze(0);
}

std::vector<at::Tensor> BatchNormalization(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  if (input.dim() < 2) throw OperatorError("input has no channels");
  const at::Tensor scale = AlongSample(context.Input(1), input);
  const at::Tensor bias = AlongSample(context.Input(2), input);
  const at::Tensor& mean = context.Input(3);
  const at::Tensor& variance = context.Input(4);
  const double epsilon = context.Float("epsilon", kEpsilon);
  // Before opset 14 outputs beyond the first ask for training.
  const bool training = context.opset() < 14
                            ? context.WantsOutput(1)
                            : context.Integer("training_mode", 0) != 0;
  if (!training)
    return {Standardized(input,
                         {.mean = AlongSample(mean, input),
                          .variance = AlongSample(variance, input)},
                         epsilon) *
                scale +
            bias};
  std::vector<std::int64_t> axes = {0};
  if (mean.dim() == 1)
    for (const std::int64_t axis : AxesFrom(2, input.dim()))
      axes.push_back(axis);
  const Moments moments = MomentsOver(input, axes);
  const double momentum = context.Float("momentum", 0.9F);
  const at::Tensor batch_mean = moments.mean.reshape(mean.sizes());
  const at::Tensor batch_variance = moments.variance.reshape(mean.sizes());
  return {Standardized(input, moments, epsilon) * scale + bias,
          mean * momentum + batch_mean * (1 - momentum),
          variance * momentum + batch_variance * (1 - momentum), batch_mean,
          batch_variance};
}

std::vector<at::Tensor> InstanceNormalization(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const Moments moments = MomentsOver(input, AxesFrom(2, input.dim()));
  return {Standardized(input, moments, context.Float("epsilon", kEpsilon)) *
              AlongChannels(context.Input(1), input.dim()) +
          AlongChannels(context.Input(2), input.dim())};
}

std::vector<at::Tensor> LayerNormalization(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const std::vector<std::int64_t> axes =
      AxesFrom(OperatorContext::Axis(context.Integer("axis", -1), input.dim()),
               input.dim());
  const double epsilon = context.Float("epsilon", kEpsilon);
  const Moments moments = MomentsOver(input, axes);
  at::Tensor output = Standardized(input, moments, epsilon) * context.Input(1);
  if (context.HasInput(2)) output = output + context.Input(2);
  return {output, moments.mean, (moments.variance + epsilon).rsqrt()};
}

std::vector<at::Tensor> GroupNormalization(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const std::int64_t groups = context.Integer("num_groups");
  if (input.dim() < 2 || groups < 1 || input.size(1) % groups != 0)
    throw OperatorError(
        std::format("channels cannot be split into {} groups", groups));
  const at::Tensor grouped =
      input.reshape({input.size(0), groups, input.size(1) / groups, -1});
  const Moments moments = MomentsOver(grouped, {2, 3});
  const at::Tensor standard =
      Standardized(grouped, moments, context.Float("epsilon", kEpsilon));
  // Opset 18 has one scale and bias for each group, later ones for each
  // channel.
  if (context.opset() < 21)
    return {(standard * context.Input(1).reshape({1, groups, 1, 1}) +
             context.Input(2).reshape({1, groups, 1, 1}))
                .reshape(input.sizes())};
  return {standard.reshape(input.sizes()) *
              AlongChannels(context.Input(1), input.dim()) +
          AlongChannels(context.Input(2), input.dim())};
}

// Where the norm is zero so is the result.
std::vector<at::Tensor> LpNormalization(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis", -1), input.dim());
  const std::int64_t p = context.Integer("p", 2);
  if (p != 1 && p != 2)
    throw OperatorError(std::format("p must be 1 or 2, not {}", p));
  const at::Tensor norm =
      p == 1 ? input.abs().sum(axis, /*keepdim=*/true)
             : input.square().sum(axis, /*keepdim=*/true).sqrt();
  return {at::where(norm == 0, input, input / norm)};
}

std::vector<at::Tensor> MeanVarianceNormalization(
    const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  std::vector<std::int64_t> axes = context.Integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  const Moments moments = MomentsOver(input, axes);
  // The constant stands in the operator's definition, as a float32.
  constexpr double kStabilizer = 1e-9F;
  return {(input - moments.mean) / (moments.variance.sqrt() + kStabilizer)};
}

std::vector<at::Tensor> LocalResponseNormalization(
    const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const std::int64_t size = context.Integer("size");
  const std::int64_t before = (size - 1) / 2;
  const std::int64_t channels = input.size(1);
  const at::Tensor flat = input.reshape({input.size(0), channels, -1});
  const at::Tensor squares =
      at::constant_pad_nd(flat.square(), {0, 0, before, size - 1 - before});
  at::Tensor sum = squares.narrow(1, 0, channels).clone();
  for (std::int64_t i = 1; i < size; ++i)
    sum.add_(squares.narrow(1, i, channels));
  const double alpha = context.Float("alpha", 0.0001F);
  const at::Tensor base =
      sum * (alpha / static_cast<double>(size)) + context.Float("bias", 1);
  return {
      (flat / base.pow(context.Float("beta", 0.75))).reshape(input.sizes())};
}

}  // namespace

void AddNormalizationOperators(OperatorTable& table) {
  table["BatchNormalization"] = BatchNormalization;
  table["InstanceNormalization"] = InstanceNormalization;
  table["LayerNormalization"] = LayerNormalization;
  table["GroupNormalization"] = GroupNormalization;
  table["LpNormalization"] = LpNormalization;
  table["MeanVarianceNormalization"] = MeanVarianceNormalization;
  table["LRN"] = LocalResponseNormalization;
}

}  // namespace parity
