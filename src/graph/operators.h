// The ONNX operators as methods, each written the way the graph's operator set
// version (11…20) wants it. Node names come from the module; see
// graph_builder.h.
//
//   const Operators refiner(builder, 12, "refiner");
//   const Value x = refiner.Relu(refiner.Concat({hid, pha}, 1));
#ifndef PARITY_GRAPH_OPERATORS_H_
#define PARITY_GRAPH_OPERATORS_H_

#include <cstddef>
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

inline constexpr int kMinOpsetVersion = 11;
inline constexpr int kMaxOpsetVersion = 20;

// Of a square two-dimensional convolution or pooling window.
struct Window {
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;  // convolutions only
};

class Operators {
 public:
  Operators(GraphBuilder& builder, int opset_version, std::string module)
      : builder_(&builder),
        opset_version_(opset_version),
        module_(std::move(module)) {}

  using Integers = std::initializer_list<std::int64_t>;

  // Layers on (N,C,H,W). `bias` may be omitted.
  [[nodiscard]] Value Conv(Value x, Value weight, Value bias,
                           std::int64_t kernel, const Window& window) const;
  [[nodiscard]] Value BatchNormalization(Value x, Value scale, Value bias,
                                         Value mean, Value variance,
                                         double epsilon) const;
  [[nodiscard]] Value MaxPool(Value x, std::int64_t kernel,
                              const Window& window) const;
  [[nodiscard]] Value GlobalAveragePool(Value x) const;
  // Bilinear with half-pixel centres, to the int64 `sizes` of all four axes.
  [[nodiscard]] Value ResizeBilinear(Value x, Value sizes) const;
  // Every pixel twice in both directions.
  [[nodiscard]] Value ResizeNearest2x(Value x) const;
  // Zeros: `margin` pixels around the two last axes and `channels` channels
  // after the others. `x` itself when there is nothing to add.
  [[nodiscard]] Value PadImage(Value x, std::int64_t margin,
                               std::int64_t channels) const;
  // `boxes` (R,4) = x1,y1,x2,y2 in pixels, `batch` (R) int64. One sample per
  // output pixel at the centre of its bin, where the centre of pixel i is i.
  [[nodiscard]] Value RoiAlign(Value x, Value boxes, Value batch,
                               std::int64_t size) const;

  // Element by element, broadcasting.
  [[nodiscard]] Value Relu(Value x) const;
  [[nodiscard]] Value Clip(Value x, double low, double high, DType dtype) const;
  [[nodiscard]] Value Add(Value a, Value b) const;
  [[nodiscard]] Value Mul(Value a, Value b) const;
  [[nodiscard]] Value Div(Value a, Value b) const;
  [[nodiscard]] Value Floor(Value x) const;
  [[nodiscard]] Value Greater(Value a, Value b) const;
  [[nodiscard]] Value And(Value a, Value b) const;
  [[nodiscard]] Value MinInteger(Value a, Value b) const;  // int64
  [[nodiscard]] Value Cast(Value x, DType dtype) const;

  // Shapes and indices.
  [[nodiscard]] Value Shape(Value x) const;
  [[nodiscard]] Value Reshape(Value x, Value shape) const;
  [[nodiscard]] Value Reshape(Value x, Integers shape) const;
  [[nodiscard]] Value Squeeze(Value x, std::int64_t axis) const;
  [[nodiscard]] Value Expand(Value x, Value shape) const;
  [[nodiscard]] Value Transpose(Value x, Integers order) const;
  [[nodiscard]] Value Concat(std::span<const Value> parts,
                             std::int64_t axis) const;
  [[nodiscard]] Value Concat(std::initializer_list<Value> parts,
                             std::int64_t axis) const {
    return Concat(std::span(parts.begin(), parts.size()), axis);
  }
  [[nodiscard]] std::vector<Value> Split(Value x, Integers sizes,
                                         std::int64_t axis) const;
  // Elements [begin, end) of a vector.
  [[nodiscard]] Value SliceVector(Value x, std::int64_t begin,
                                  std::int64_t end) const;
  [[nodiscard]] Value ConstantOfShape(Value shape, double value,
                                      DType dtype) const;
  [[nodiscard]] Value ReduceSum(Value x, std::int64_t axis) const;
  // Indices of the `count` (int64, shape (1)) largest of the last axis, in any
  // order.
  [[nodiscard]] Value TopKIndices(Value x, Value count) const;
  [[nodiscard]] Value NonZero(Value x) const;
  [[nodiscard]] Value Gather(Value x, Value indices, std::int64_t axis) const;
  [[nodiscard]] Value GatherND(Value x, Value indices) const;
  [[nodiscard]] Value ScatterND(Value x, Value indices, Value updates) const;
  [[nodiscard]] Value ScatterElements(Value x, Value indices, Value updates,
                                      std::int64_t axis) const;

  [[nodiscard]] GraphBuilder& builder() const { return *builder_; }

 private:
  [[nodiscard]] Value Op(std::string_view op_type,
                         std::initializer_list<Value> inputs,
                         std::vector<Attribute> attributes = {}) const;

  GraphBuilder* builder_;
  int opset_version_;
  std::string module_;
};

}  // namespace parity

#endif  // PARITY_GRAPH_OPERATORS_H_
