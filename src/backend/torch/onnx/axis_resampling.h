// Resampling of a tensor along one axis: where the new elements lie between the
// old ones, and what they are made of.
#ifndef PARITY_BACKEND_TORCH_ONNX_AXIS_RESAMPLING_H_
#define PARITY_BACKEND_TORCH_ONNX_AXIS_RESAMPLING_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace parity {

// A place between the elements of an axis, in units of their distance: kept as
// a whole number and a rest in [0, 1), so that no rounding moves a place that
// lies exactly on an element or half-way between two to the other side.
struct AxisPosition {
  std::int64_t whole = 0;
  double rest = 0;
};

// How many output elements an input element becomes. From sizes it is the exact
// quotient of two integers; from scales a floating number, over 1.
struct AxisScale {
  double numerator = 1;
  double denominator = 1;
  bool exact = true;  // both are integers

  [[nodiscard]] double Value() const { return numerator / denominator; }
};

struct AxisResize {
  std::int64_t input = 0;
  std::int64_t output = 0;
  AxisScale scale = {};
  double roi_start = 0;  // of tf_crop_and_resize
  double roi_end = 1;
};

struct ResizeRule {
  std::string mode = "nearest";  // nearest, linear, cubic
  std::string coordinates = "half_pixel";
  std::string nearest_mode = "round_prefer_floor";
  double cubic_coefficient = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
};

// Where each output element lies in the input. Throws OperatorError for
// coordinates it does not know.
[[nodiscard]] std::vector<AxisPosition> ResizePositions(
    const AxisResize& axis, const std::string& coordinates);

// Output element i is the sum of weights[i·width + k] · input[indices[i·width +
// k]].
struct AxisTaps {
  std::int64_t width = 1;
  std::vector<std::int64_t> indices;
  std::vector<double> weights;
};
[[nodiscard]] AxisTaps ResizeTaps(const AxisResize& axis,
                                  const std::vector<AxisPosition>& positions,
                                  const ResizeRule& rule);

// Applies taps to a floating tensor; weights are not looked at when there is
// but one for each element.
[[nodiscard]] at::Tensor ResampleAxis(const at::Tensor& input,
                                      std::int64_t axis, const AxisTaps& taps);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_AXIS_RESAMPLING_H_
