// Borders put around tensors, and the inverse of cutting images into columns.
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/zeros.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <numeric>
#include <string>
#include <vector>

#include "backend/torch/onnx/integer_types.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

using c10::ScalarType;
using Tensors = std::vector<at::Tensor>;
using Sizes = std::vector<std::int64_t>;

// How many elements come before and after each axis; negative: are cut off.
struct Margins {
  Sizes before;
  Sizes after;
};

Sizes AllAxes(std::int64_t rank) {
  Sizes axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Margins ReadMargins(const OperatorContext& context, std::int64_t rank) {
  const Sizes pads = context.opset() < 11 ? context.Integers("pads")
                                          : context.IntegersInput(1);
  const Sizes axes =
      context.HasInput(3) ? context.IntegersInput(3) : AllAxes(rank);
  if (pads.size() != 2 * axes.size()) {
    throw OperatorError(
        std::format("{} pads are given for {} axes", pads.size(), axes.size()));
  }
  const auto count = static_cast<std::size_t>(rank);
  Margins margins = {.before = Sizes(count, 0), .after = Sizes(count, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis =
        static_cast<std::size_t>(OperatorContext::Axis(axes[i], rank));
    margins.before[axis] = pads[i];
    margins.after[axis] = pads[i + axes.size()];
  }
  return margins;
}

at::Tensor PadConstant(const at::Tensor& x, const Margins& margins,
                       const at::Scalar& value) {
  // libtorch lists pairs from the last axis to the first.
  Sizes pairs;
  for (std::size_t axis = margins.before.size(); axis-- > 0;) {
    pairs.push_back(margins.before[axis]);
    pairs.push_back(margins.after[axis]);
  }
  return at::constant_pad_nd(x, pairs, value);
}

// Which elements of an axis of `size` the positions first, …, first + count - 1
// stand for.
at::Tensor Source(const std::string& mode, std::int64_t size,
                  std::int64_t first, std::int64_t count) {
  const at::Tensor position =
      at::arange(first, first + count, at::TensorOptions(ScalarType::Long));
  if (mode == "edge") return position.clamp(0, size - 1);
  if (mode == "wrap") return position.remainder(size);
  if (mode != "reflect")
    throw OperatorError(std::format("mode '{}' does not exist", mode));
  if (size == 1) return position.mul(0);
  // Back and forth without repeating the ends.
  const std::int64_t period = 2 * (size - 1);
  const at::Tensor phase = position.remainder(period);
  return phase.minimum(phase.neg().add(period));
}

at::Tensor PadFromInside(at::Tensor x, const Margins& margins,
                         const std::string& mode) {
  for (std::size_t i = 0; i < margins.before.size(); ++i) {
    if (margins.before[i] == 0 && margins.after[i] == 0) continue;
    const auto axis = static_cast<std::int64_t>(i);
    const std::int64_t count =
        x.size(axis) + margins.before[i] + margins.after[i];
    if (count < 0) throw OperatorError("more is cut off than there is");
    if (count > 0 && x.size(axis) == 0)
      throw OperatorError("there is nothing to fill the margins with");
    x = x.index_select(axis,
                       Source(mode, x.size(axis), -margins.before[i], count));
  }
  return x;
}

// Before opset 11 the pads and the value are attributes.
Tensors Pad(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const at::Tensor x = AsSigned(input);
  const Margins margins = ReadMargins(context, x.dim());
  const std::string mode = context.String("mode", "constant");
  at::Scalar value = 0;
  if (context.opset() < 11) {
    value = context.Float("value", 0);
  } else if (context.HasInput(2)) {
    value = AsSigned(context.Input(2)).reshape({}).item();
  }
  return {FromSigned(mode == "constant" ? PadConstant(x, margins, value)
                                        : PadFromInside(x, margins, mode),
                     input.scalar_type())};
}

// An odd rest is cut off or added at the end.
Tensors CenterCropPad(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const Sizes sizes = context.IntegersInput(1);
  Sizes axes = context.Integers("axes");
  if (axes.empty()) axes = AllAxes(input.dim());
  if (sizes.size() != axes.size()) {
    throw OperatorError(std::format("{} sizes are given for {} axes",
                                    sizes.size(), axes.size()));
  }
  const auto rank = static_cast<std::size_t>(input.dim());
  Margins margins = {.before = Sizes(rank, 0), .after = Sizes(rank, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = OperatorContext::Axis(axes[i], input.dim());
    const std::int64_t more = sizes[i] - input.size(axis);
    const auto index = static_cast<std::size_t>(axis);
    margins.before[index] = more / 2;  // towards zero
    margins.after[index] = more - more / 2;
  }
  return {FromSigned(PadConstant(AsSigned(input), margins, 0),
                     input.scalar_type())};
}

Sizes IntegersOr(const OperatorContext& context, const char* name,
                 std::size_t count, std::int64_t otherwise) {
  Sizes values = context.Integers(name);
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count) {
    throw OperatorError(
        std::format("{} has {} elements, not {}", name, values.size(), count));
  }
  return values;
}

// The columns (N, C, elements of a block, blocks) added up where the blocks
// overlap: one element of all blocks after another.
Tensors Col2Im(const OperatorContext& context) {
  const at::Tensor& columns = context.Input(0);
  const Sizes image = context.IntegersInput(1);
  const Sizes block = context.IntegersInput(2);
  const std::size_t axes = image.size();
  const Sizes dilations = IntegersOr(context, "dilations", axes, 1);
  const Sizes strides = IntegersOr(context, "strides", axes, 1);
  const Sizes pads = IntegersOr(context, "pads", 2 * axes, 0);
  if (columns.dim() != 3 || block.size() != axes || axes == 0)
    throw OperatorError("the shapes of its inputs do not fit together");
  if (std::ranges::any_of(strides, [](std::int64_t s) { return s <= 0; }))
    throw OperatorError("strides must be positive");

  std::int64_t elements = 1;
  for (const std::int64_t size : block) elements *= size;
  if (elements <= 0) throw OperatorError("a block has no elements");
  const std::int64_t channels = columns.size(1) / elements;
  Sizes padded = {columns.size(0), channels};
  Sizes counts = {columns.size(0), channels, elements};  // blocks along axes
  for (std::size_t i = 0; i < axes; ++i) {
    padded.push_back(image[i] + pads[i] + pads[i + axes]);
    counts.push_back(
        (padded.back() - dilations[i] * (block[i] - 1) - 1) / strides[i] + 1);
  }
  const at::Tensor blocks = columns.reshape(counts);
  const at::Tensor sum = at::zeros(padded, columns.options());
  for (std::int64_t element = 0; element < elements; ++element) {
    at::Tensor target = sum;
    std::int64_t rest = element;
    for (std::size_t i = axes; i-- > 0;) {
      const std::int64_t offset = rest % block[i] * dilations[i];
      rest /= block[i];
      target = target.slice(static_cast<std::int64_t>(i) + 2, offset,
                            offset + (counts[i + 3] - 1) * strides[i] + 1,
                            strides[i]);
    }
    target.add_(blocks.select(2, element));
  }
  at::Tensor result = sum;
  for (std::size_t i = 0; i < axes; ++i)
    result = result.narrow(static_cast<std::int64_t>(i) + 2, pads[i], image[i]);
  return {result};
}

}  // namespace

void AddPaddingOperators(OperatorTable& table) {
  table["Pad"] = Pad;
  table["CenterCropPad"] = CenterCropPad;
  table["Col2Im"] = Col2Im;
}

}  // namespace parity
