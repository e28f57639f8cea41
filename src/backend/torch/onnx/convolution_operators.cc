// Conv, ConvTranspose, DeformConv.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/torch/onnx/deformable_convolution.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"
#include "backend/torch/onnx/padded_convolution.h"
#include "backend/torch/onnx/spatial_window.h"

namespace parity {
namespace {

std::vector<at::Tensor> Conv(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const at::Tensor& weights = context.Input(1);
  const SpatialWindow window =
      ReadSpatialWindow(context, input, KernelShape(context, weights));
  return {PaddedConvolution(input, weights, context.OptionalInput(2), window,
                            context.Integer("group", 1))};
}

// Of the output of a transposed convolution: what is cut off (negative: added)
// at both ends of an axis.
struct Crop {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> end;
};

// `total` elements have to go to reach a given length. More elements wanted
// than there are: they follow the data, as output_padding does.
void SplitPadding(std::int64_t total, bool upper, Crop& crop) {
  std::int64_t begin = upper ? total / 2 : total - (total / 2);
  if (total < 0) begin = 0;
  crop.begin.push_back(begin);
  crop.end.push_back(total - begin);
}

// The output is first computed whole, each axis (input-1)·stride + reach long.
Crop TransposedCrop(const OperatorContext& context, const at::Tensor& input,
                    const std::vector<std::int64_t>& kernel,
                    const std::vector<std::int64_t>& strides,
                    const std::vector<std::int64_t>& dilations) {
  const std::size_t axes = kernel.size();
  const std::vector<std::int64_t> pads =
      AxisAttribute(context, "pads", 2 * axes, 0);
  const std::vector<std::int64_t> added =
      AxisAttribute(context, "output_padding", axes, 0);
  const std::string auto_pad = context.String("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  std::vector<std::int64_t> wanted = context.Integers("output_shape");
  // Some exporters write the whole shape.
  if (wanted.size() == axes + 2)
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != axes)
    throw OperatorError("output_shape needs one number for each spatial axis");
  Crop crop;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t length = input.size(static_cast<std::int64_t>(i) + 2);
    const std::int64_t whole =
        ((length - 1) * strides[i]) + ((kernel[i] - 1) * dilations[i]) + 1;
    if (!wanted.empty() || same) {
      const std::int64_t target =
          wanted.empty() ? length * strides[i] : wanted[i];
      SplitPadding(whole + added[i] - target, auto_pad == "SAME_UPPER", crop);
    } else if (auto_pad == "VALID") {
      SplitPadding(0, true, crop);
    } else {
      crop.begin.push_back(pads[i]);
      crop.end.push_back(pads[axes + i]);
    }
    crop.end.back() -= added[i];
  }
  return crop;
}

std::vector<at::Tensor> ConvTranspose(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const at::Tensor& weights = context.Input(1);
  const std::vector<std::int64_t> kernel = KernelShape(context, weights);
  const std::size_t axes = kernel.size();
  const std::vector<std::int64_t> strides =
      AxisAttribute(context, "strides", axes, 1);
  const std::vector<std::int64_t> dilations =
      AxisAttribute(context, "dilations", axes, 1);
  const Crop crop = TransposedCrop(context, input, kernel, strides, dilations);
  const std::vector<std::int64_t> zeros(axes, 0);
  const at::Tensor whole =
      at::convolution(input, weights, std::nullopt, strides, zeros, dilations,
                      /*transposed=*/true, zeros, context.Integer("group", 1));
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> end;
  for (std::size_t i = 0; i < axes; ++i) {
    begin.push_back(-crop.begin[i]);
    end.push_back(-crop.end[i]);
  }
  const at::Tensor output = PadSpatialAxes(whole, begin, end, 0);
  if (!context.HasInput(2)) return {output};
  // After padding: an added element is no sum of anything, but has the bias.
  std::vector<std::int64_t> broadcast(axes + 1, 1);
  broadcast.front() = -1;
  return {output + context.Input(2).reshape(broadcast)};
}

}  // namespace

void AddConvolutionOperators(OperatorTable& table) {
  table["Conv"] = Conv;
  table["ConvTranspose"] = ConvTranspose;
  table["DeformConv"] = DeformableConvolution;
}

}  // namespace parity
