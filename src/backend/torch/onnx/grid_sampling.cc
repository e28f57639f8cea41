// A place is first brought inside the image, where padding asks for it, and
// then mixed from the pixels around it; those outside are padded once more.
// Cubic interpolation with border padding has the second step only: the
// operator's text leaves that open, libtorch and ONNX Runtime agree on it (the
// ONNX project's Python reference does not).
#include "backend/torch/onnx/grid_sampling.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <span>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {
namespace {

enum class Mixing { kNearest, kLinear, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

struct Rule {
  Mixing mixing;
  Padding padding;
  bool align_corners;
};

Rule ReadRule(const OperatorContext& context) {
  const std::string mode = context.String("mode", "linear");
  const std::string padding = context.String("padding_mode", "zeros");
  Rule rule{.mixing = Mixing::kLinear,
            .padding = Padding::kZeros,
            .align_corners = context.Integer("align_corners", 0) != 0};
  // Opset 16 says bilinear and bicubic.
  if (mode == "nearest")
    rule.mixing = Mixing::kNearest;
  else if (mode == "cubic" || mode == "bicubic")
    rule.mixing = Mixing::kCubic;
  else if (mode != "linear" && mode != "bilinear")
    throw OperatorError(std::format("unknown mode {}", mode));
  if (padding == "border")
    rule.padding = Padding::kBorder;
  else if (padding == "reflection")
    rule.padding = Padding::kReflection;
  else if (padding != "zeros")
    throw OperatorError(std::format("unknown padding_mode {}", padding));
  return rule;
}

// Folds x back between the borders.
double Reflected(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return low;
  const double beyond = x < low ? low - x : x - high;
  if (!(beyond > 0)) return x;
  const double turns = std::floor(beyond / range);
  const double rest = beyond - (turns * range);
  const bool from_low = (x < low) == (std::fmod(turns, 2) == 0);
  return from_low ? low + rest : high - rest;
}

// Pixels that a place is mixed of along one axis; index -1 is a zero.
struct AxisMixture {
  std::int64_t count = 0;
  std::array<std::int64_t, 4> indices = {};
  std::array<double, 4> weights = {};
};

class AxisSampler {
 public:
  AxisSampler(std::int64_t length, const Rule& rule)
      : length_(length),
        rule_(rule),
        low_(rule.align_corners ? 0 : -0.5),
        high_(static_cast<double>(length) - (rule.align_corners ? 1 : 0.5)) {}

  [[nodiscard]] AxisMixture Mix(double normalized) const {
    const auto length = static_cast<double>(length_);
    double x = rule_.align_corners ? (normalized + 1) / 2 * (length - 1)
                                   : (((normalized + 1) * length) - 1) / 2;
    // Halves go to the even neighbour.
    if (rule_.mixing == Mixing::kNearest) x = std::nearbyint(x);
    // No place at all.
    if (!std::isfinite(x)) x = low_;
    if (rule_.padding == Padding::kBorder && rule_.mixing != Mixing::kCubic)
      x = std::clamp(x, 0.0, length - 1);
    if (rule_.padding == Padding::kReflection) x = Reflected(x, low_, high_);
    // Far outside: keeps the conversion below defined.
    x = std::clamp(x, -8.0, length + 8);
    const double whole = std::floor(x);
    return Neighbours(static_cast<std::int64_t>(whole), x - whole);
  }

 private:
  [[nodiscard]] AxisMixture Neighbours(std::int64_t whole, double rest) const {
    AxisMixture mixture;
    switch (rule_.mixing) {
      case Mixing::kNearest:
        mixture = {.count = 1, .indices = {whole}, .weights = {1}};
        break;
      case Mixing::kLinear:
        mixture = {.count = 2,
                   .indices = {whole, whole + 1},
                   .weights = {1 - rest, rest}};
        break;
      case Mixing::kCubic:
        mixture = {.count = 4,
                   .indices = {whole - 1, whole, whole + 1, whole + 2},
                   .weights = {Far(1 + rest), Near(rest), Near(1 - rest),
                               Far(2 - rest)}};
        break;
    }
    for (std::int64_t& index : mixture.indices) index = Inside(index);
    return mixture;
  }

  [[nodiscard]] std::int64_t Inside(std::int64_t index) const {
    if (index >= 0 && index < length_) return index;
    if (rule_.padding == Padding::kZeros) return -1;
    if (rule_.padding == Padding::kReflection)
      index = static_cast<std::int64_t>(
          Reflected(static_cast<double>(index), low_, high_));
    return std::clamp<std::int64_t>(index, 0, length_ - 1);
  }

  // Cubic convolution with coefficient -0.75, for distances below one and up to
  // two.
  static double Near(double x) {
    return (((kCubic + 2) * x - (kCubic + 3)) * x * x) + 1;
  }
  static double Far(double x) {
    return ((((kCubic * x) - (5 * kCubic)) * x + (8 * kCubic)) * x) -
           (4 * kCubic);
  }
  static constexpr double kCubic = -0.75;

  std::int64_t length_;
  Rule rule_;
  double low_;
  double high_;
};

// The pixels of a whole place: products of the axes' mixtures.
struct Mixture {
  std::vector<std::int64_t> offsets;
  std::vector<double> weights;
};

void MixPlace(std::span<const AxisSampler> samplers,
              std::span<const std::int64_t> strides, const double* place,
              Mixture& mixture) {
  mixture.offsets.assign(1, 0);
  mixture.weights.assign(1, 1);
  for (std::size_t axis = 0; axis < samplers.size(); ++axis) {
    // The grid names the last axis first.
    const AxisMixture along =
        samplers[axis].Mix(place[samplers.size() - 1 - axis]);
    Mixture next;
    for (std::size_t i = 0; i < mixture.offsets.size(); ++i) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(along.count); ++k) {
        if (along.indices[k] < 0) continue;
        next.offsets.push_back(mixture.offsets[i] +
                               (along.indices[k] * strides[axis]));
        next.weights.push_back(mixture.weights[i] * along.weights[k]);
      }
    }
    mixture = next;
  }
}

// `image` [C, spatial…] at `places` [points, axes] → [C, points].
void SampleImage(const at::Tensor& image, const at::Tensor& places,
                 const Rule& rule, const at::Tensor& output) {
  std::vector<AxisSampler> samplers;
  for (std::int64_t axis = 1; axis < image.dim(); ++axis)
    samplers.emplace_back(image.size(axis), rule);
  const std::vector<std::int64_t> strides = image.strides().slice(1).vec();
  const double* pixels = image.const_data_ptr<double>();
  const double* grid = places.const_data_ptr<double>();
  double* values = output.mutable_data_ptr<double>();
  const std::int64_t points = places.size(0);
  const auto axes = static_cast<std::int64_t>(samplers.size());
  at::parallel_for(0, points, 256, [&](std::int64_t begin, std::int64_t end) {
    Mixture mixture;
    for (std::int64_t point = begin; point < end; ++point) {
      MixPlace(samplers, strides, grid + (point * axes), mixture);
      for (std::int64_t c = 0; c < image.size(0); ++c) {
        const double* channel = pixels + (c * image.stride(0));
        double sum = 0;
        for (std::size_t i = 0; i < mixture.offsets.size(); ++i)
          sum += mixture.weights[i] * channel[mixture.offsets[i]];
        values[(c * points) + point] = sum;
      }
    }
  });
}

}  // namespace

std::vector<at::Tensor> GridSample(const OperatorContext& context) {
  const at::Tensor input = context.Input(0).to(at::kDouble).contiguous();
  const at::Tensor grid = context.Input(1).to(at::kDouble).contiguous();
  const Rule rule = ReadRule(context);
  const std::int64_t axes = input.dim() - 2;
  if (axes < 1 || grid.dim() != input.dim() || grid.size(-1) != axes ||
      grid.size(0) != input.size(0))
    throw OperatorError("the grid does not fit the input");
  std::vector<std::int64_t> shape = grid.sizes().vec();
  shape.pop_back();
  shape.insert(shape.begin() + 1, input.size(1));
  const at::Tensor output = at::empty(shape, input.options());
  for (std::int64_t n = 0; n < input.size(0); ++n)
    SampleImage(input[n], grid[n].reshape({-1, axes}), rule, output[n]);
  return {output.to(context.Input(0).scalar_type())};
}

}  // namespace parity
