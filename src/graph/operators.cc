#include "graph/operators.h"

#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph_builder.h"
#include "graph/model.h"
#include "parity/dtype.h"

namespace parity {
namespace {

using IntegerList = std::vector<std::int64_t>;

// Element types by their number in TensorProto.DataType.
std::int64_t OnnxNumber(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 1;
    case DType::kInt64:
      return 7;
    case DType::kBool:
      return 9;
    case DType::kFloat16:
      return 10;
    case DType::kFloat64:
      return 11;
    default:
      assert(false);
      return 0;
  }
}

Attribute Number(std::string name, std::int64_t value) {
  return {.name = std::move(name), .value = value};
}

Attribute Text(std::string name, std::string value) {
  return {.name = std::move(name), .value = std::move(value)};
}

Attribute List(std::string name, IntegerList values) {
  return {.name = std::move(name), .value = std::move(values)};
}

std::vector<Attribute> WindowAttributes(std::int64_t kernel,
                                        const Window& window) {
  const std::int64_t padding = window.padding;
  return {List("dilations", {window.dilation, window.dilation}),
          List("kernel_shape", {kernel, kernel}),
          List("pads", {padding, padding, padding, padding}),
          List("strides", {window.stride, window.stride})};
}

}  // namespace

Value Operators::Op(std::string_view op_type,
                    std::initializer_list<Value> inputs,
                    std::vector<Attribute> attributes) const {
  return builder_
      ->Add(module_, op_type, std::span(inputs.begin(), inputs.size()),
            std::move(attributes), 1)
      .front();
}

Value Operators::Conv(Value x, Value weight, Value bias, std::int64_t kernel,
                      const Window& window) const {
  std::vector<Attribute> attributes = WindowAttributes(kernel, window);
  attributes.push_back(Number("group", window.groups));
  if (bias.id < 0) return Op("Conv", {x, weight}, std::move(attributes));
  return Op("Conv", {x, weight, bias}, std::move(attributes));
}

Value Operators::BatchNormalization(Value x, Value scale, Value bias,
                                    Value mean, Value variance,
                                    double epsilon) const {
  return Op("BatchNormalization", {x, scale, bias, mean, variance},
            {{.name = "epsilon", .value = static_cast<float>(epsilon)}});
}

Value Operators::MaxPool(Value x, std::int64_t kernel,
                         const Window& window) const {
  return Op("MaxPool", {x}, WindowAttributes(kernel, window));
}

Value Operators::GlobalAveragePool(Value x) const {
  return Op("GlobalAveragePool", {x});
}

Value Operators::ResizeBilinear(Value x, Value sizes) const {
  // Up to version 12 the unused inputs are required, as empty tensors.
  const Value unused = opset_version_ < 13 ? builder_->Floats({}) : Value{};
  return Op("Resize", {x, unused, unused, sizes},
            {Text("coordinate_transformation_mode", "half_pixel"),
             Text("mode", "linear")});
}

Value Operators::ResizeNearest2x(Value x) const {
  const Value unused = opset_version_ < 13 ? builder_->Floats({}) : Value{};
  const Value scales = builder_->Floats(std::array{1.0F, 1.0F, 2.0F, 2.0F});
  return Op("Resize", {x, unused, scales},
            {Text("coordinate_transformation_mode", "asymmetric"),
             Text("mode", "nearest"), Text("nearest_mode", "floor")});
}

Value Operators::PadImage(Value x, std::int64_t margin,
                          std::int64_t channels) const {
  if (margin == 0 && channels == 0) return x;
  const std::array<std::int64_t, 8> pads = {0, 0,        margin, margin,
                                            0, channels, margin, margin};
  return Op("Pad", {x, builder_->Integers(pads)}, {Text("mode", "constant")});
}

Value Operators::RoiAlign(Value x, Value boxes, Value batch,
                          std::int64_t size) const {
  std::vector<Attribute> attributes = {
      Text("mode", "avg"),
      Number("output_height", size),
      Number("output_width", size),
      Number("sampling_ratio", 1),
      {.name = "spatial_scale", .value = 1.0F}};
  // Version 16 added the mode and made the other one its default.
  if (opset_version_ >= 16) {
    attributes.push_back(
        Text("coordinate_transformation_mode", "output_half_pixel"));
  }
  return Op("RoiAlign", {x, boxes, batch}, std::move(attributes));
}

Value Operators::Relu(Value x) const { return Op("Relu", {x}); }

Value Operators::Clip(Value x, double low, double high, DType dtype) const {
  return Op("Clip",
            {x, builder_->Float(low, dtype), builder_->Float(high, dtype)});
}

Value Operators::Add(Value a, Value b) const { return Op("Add", {a, b}); }
Value Operators::Mul(Value a, Value b) const { return Op("Mul", {a, b}); }
Value Operators::Div(Value a, Value b) const { return Op("Div", {a, b}); }
Value Operators::Floor(Value x) const { return Op("Floor", {x}); }
Value Operators::And(Value a, Value b) const { return Op("And", {a, b}); }

Value Operators::Greater(Value a, Value b) const {
  return Op("Greater", {a, b});
}

Value Operators::MinInteger(Value a, Value b) const {
  if (opset_version_ >= 12) return Op("Min", {a, b});
  return Op("Where", {Op("Less", {a, b}), a, b});  // Min was for floats only
}

Value Operators::Cast(Value x, DType dtype) const {
  return Op("Cast", {x}, {Number("to", OnnxNumber(dtype))});
}

Value Operators::Shape(Value x) const { return Op("Shape", {x}); }

Value Operators::Reshape(Value x, Value shape) const {
  return Op("Reshape", {x, shape});
}

Value Operators::Reshape(Value x, Integers shape) const {
  return Reshape(x, builder_->Integers(std::span(shape.begin(), shape.size())));
}

Value Operators::Squeeze(Value x, std::int64_t axis) const {
  if (opset_version_ < 13) return Op("Squeeze", {x}, {List("axes", {axis})});
  return Op("Squeeze", {x, builder_->Integers({&axis, 1})});
}

Value Operators::Expand(Value x, Value shape) const {
  return Op("Expand", {x, shape});
}

Value Operators::Transpose(Value x, Integers order) const {
  return Op("Transpose", {x}, {List("perm", order)});
}

Value Operators::Concat(std::span<const Value> parts, std::int64_t axis) const {
  return builder_->Add(module_, "Concat", parts, {Number("axis", axis)}, 1)
      .front();
}

std::vector<Value> Operators::Split(Value x, Integers sizes,
                                    std::int64_t axis) const {
  std::vector<Value> inputs = {x};
  std::vector<Attribute> attributes = {Number("axis", axis)};
  if (opset_version_ < 13) {
    attributes.push_back(List("split", sizes));
  } else {
    inputs.push_back(
        builder_->Integers(std::span(sizes.begin(), sizes.size())));
  }
  return builder_->Add(module_, "Split", inputs, std::move(attributes),
                       sizes.size());
}

Value Operators::SliceVector(Value x, std::int64_t begin,
                             std::int64_t end) const {
  return Op("Slice", {x, builder_->Integers({&begin, 1}),
                      builder_->Integers({&end, 1})});
}

Value Operators::ConstantOfShape(Value shape, double value, DType dtype) const {
  return Op("ConstantOfShape", {shape},
            {{.name = "value", .value = OneElement(value, dtype, {1})}});
}

Value Operators::ReduceSum(Value x, std::int64_t axis) const {
  if (opset_version_ < 13) {
    return Op("ReduceSum", {x}, {List("axes", {axis}), Number("keepdims", 1)});
  }
  return Op("ReduceSum", {x, builder_->Integers({&axis, 1})},
            {Number("keepdims", 1)});
}

Value Operators::TopKIndices(Value x, Value count) const {
  return builder_
      ->Add(module_, "TopK", std::array{x, count},
            {Number("axis", -1), Number("largest", 1), Number("sorted", 0)}, 2)
      .back();
}

Value Operators::NonZero(Value x) const { return Op("NonZero", {x}); }

Value Operators::Gather(Value x, Value indices, std::int64_t axis) const {
  return Op("Gather", {x, indices}, {Number("axis", axis)});
}

Value Operators::GatherND(Value x, Value indices) const {
  return Op("GatherND", {x, indices});
}

Value Operators::ScatterND(Value x, Value indices, Value updates) const {
  return Op("ScatterND", {x, indices, updates});
}

Value Operators::ScatterElements(Value x, Value indices, Value updates,
                                 std::int64_t axis) const {
  return Op("ScatterElements", {x, indices, updates}, {Number("axis", axis)});
}

}  // namespace parity
