// Forms of operators that the ONNX project's node tests do not have: those of
// older operator sets, integers libtorch hardly computes with, and edges.
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend/torch/onnx/graph_evaluator.h"
#include "backend/torch/onnx/testing/sample_graphs.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::AllOf;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Longs64 = std::vector<std::int64_t>;

class OperatorFormsTest : public ::testing::Test {
 protected:
  // A node of `op_type` with inputs "0", "1", …, and its first output.
  static Result<NamedTensors> Evaluate(std::int64_t opset,
                                       const std::string& op_type,
                                       const std::vector<Tensor>& inputs,
                                       std::vector<Attribute> attributes,
                                       std::size_t output = 0) {
    Names names;
    NamedTensors given;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      names.push_back(std::to_string(i));
      given.push_back({.name = names.back(), .tensor = inputs[i]});
    }
    Graph graph = MakeGraph(names,
                            {MakeNode(op_type, names, {"y0", "y1", "y2", "y3"},
                                      std::move(attributes))},
                            {"y" + std::to_string(output)});
    return GraphEvaluator(MakeModel(std::move(graph), opset),
                          c10::ScalarType::Double)
        .Evaluate(given, {});
  }

 private:
  c10::InferenceMode inference_;
};

Tensor Matrix(const std::vector<float>& values, std::int64_t columns) {
  return Elements(DType::kFloat32,
                  {static_cast<std::int64_t>(values.size()) / columns, columns},
                  values);
}

Tensor Scalar(std::int64_t value) {
  return Elements(DType::kInt64, {}, Longs64{value});
}

TEST_F(OperatorFormsTest, AttributesThatBecameInputs) {
  const Tensor x = Floats({1, -2, 3, 4});
  EXPECT_THAT(One(Evaluate(6, "Clip", {x},
                           {{.name = "min", .value = 0.0F},
                            {.name = "max", .value = 3.0F}})),
              ElementsAre(1, 0, 3, 3));
  EXPECT_THAT(One(Evaluate(9, "Slice", {x},
                           {{.name = "starts", .value = Longs64{1}},
                            {.name = "ends", .value = Longs64{-1}}})),
              ElementsAre(-2, 3));
  EXPECT_THAT(One(Evaluate(9, "TopK", {x},
                           {{.name = "k", .value = std::int64_t{2}}}, 1)),
              ElementsAre(3, 2));
  EXPECT_THAT(One(Evaluate(10, "Pad", {x},
                           {{.name = "pads", .value = Longs64{1, 0}},
                            {.name = "value", .value = 9.0F}})),
              ElementsAre(9, 1, -2, 3, 4));
  EXPECT_THAT(
      One(Evaluate(12, "Split", {x},
                   {{.name = "split", .value = Longs64{1, 2, 1, 0}}}, 1)),
      ElementsAre(-2, 3));
  EXPECT_THAT(One(Evaluate(11, "ReduceSum", {x},
                           {{.name = "axes", .value = Longs64{-1}}})),
              ElementsAre(6));
  const Tensor row = Matrix({1, 2}, 2);
  EXPECT_EQ(Must(Evaluate(11, "Squeeze", {row},
                          {{.name = "axes", .value = Longs64{0}}}))
                .at(0)
                .tensor.shape(),
            (Shape{2}));
  EXPECT_EQ(Must(Evaluate(11, "Unsqueeze", {row},
                          {{.name = "axes", .value = Longs64{-1, 0}}}))
                .at(0)
                .tensor.shape(),
            (Shape{1, 1, 2, 1}));
}

TEST_F(OperatorFormsTest, SoftmaxTookAllAxesFromOneOnBeforeOpset13) {
  const Tensor x = Elements<float>(DType::kFloat32, {1, 2, 2}, {5, 5, 5, 5});
  EXPECT_THAT(One(Evaluate(12, "Softmax", {x}, {})),
              ElementsAre(0.25, 0.25, 0.25, 0.25));
  EXPECT_THAT(One(Evaluate(13, "Softmax", {x}, {})),
              ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_THAT(One(Evaluate(12, "Hardmax", {x}, {})), ElementsAre(1, 0, 0, 0));
}

TEST_F(OperatorFormsTest, UnsignedIntegersWrapAround) {
  const auto of = [](const std::vector<std::uint16_t>& values) {
    return Vector(DType::kUInt16, values);
  };
  const NamedTensors sum =
      Must(Evaluate(14, "Add", {of({65535, 1}), of({2, 3})}, {}));
  EXPECT_THAT(sum.at(0).tensor.As<std::uint16_t>(), ElementsAre(1, 4));
  const NamedTensors difference =
      Must(Evaluate(14, "Sub", {of({1}), of({2})}, {}));
  EXPECT_THAT(difference.at(0).tensor.As<std::uint16_t>(), ElementsAre(65535));
}

TEST_F(OperatorFormsTest, LargeUint64ValuesMoveButDoNotCompute) {
  const std::uint64_t large = ~std::uint64_t{0};
  const Tensor x = Vector(DType::kUInt64, std::vector<std::uint64_t>{1, large});
  const NamedTensors moved = Must(Evaluate(13, "Gather", {x, Longs({-1})}, {}));
  EXPECT_THAT(moved.at(0).tensor.As<std::uint64_t>(), ElementsAre(large));
  const auto computed = Evaluate(14, "Div", {x, x}, {});
  ASSERT_FALSE(computed.has_value());
  EXPECT_THAT(computed.error().message, HasSubstr("2^63"));
}

TEST_F(OperatorFormsTest, IntegerDivisionByZeroIsAnError) {
  const auto result = Evaluate(14, "Div", {Longs({1}), Longs({0})}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("(Div)"), HasSubstr("ZeroDivisionError")));
}

TEST_F(OperatorFormsTest, CastsToIntegersCutTheFraction) {
  const Attribute to = {.name = "to", .value = std::int64_t{7}};
  EXPECT_THAT(One(Evaluate(13, "Cast", {Floats({-1.75F, 1.75F, 0.5F})}, {to})),
              ElementsAre(-1, 1, 0));
}

TEST_F(OperatorFormsTest, CastsBetweenFloatingTypesKeepTheValue) {
  // 1 + 2^-20 has no float16.
  const Attribute to = {.name = "to", .value = std::int64_t{10}};
  EXPECT_THAT(
      One(Evaluate(13, "Cast", {Floats({1.00000095367431640625F})}, {to})),
      ElementsAre(DoubleEq(1.00000095367431640625)));
}

TEST_F(OperatorFormsTest, ClipGivesTheMaximumWhereTheMinimumIsAbove) {
  const auto scalar = [](float value) {
    return Elements<float>(DType::kFloat32, {}, {value});
  };
  EXPECT_THAT(
      One(Evaluate(13, "Clip", {Floats({1, 2, 3}), scalar(5), scalar(2)}, {})),
      ElementsAre(2, 2, 2));
  // 2^53 + 1 has no double.
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  const NamedTensors clipped =
      Must(Evaluate(13, "Clip", {Longs({0, large}), Scalar(large)}, {}));
  EXPECT_THAT(clipped.at(0).tensor.As<std::int64_t>(),
              ElementsAre(large, large));
}

TEST_F(OperatorFormsTest, HalvesRoundToEven) {
  EXPECT_THAT(
      One(Evaluate(11, "Round", {Floats({0.5F, 1.5F, 2.5F, -2.5F})}, {})),
      ElementsAre(0, 2, 2, -2));
}

TEST_F(OperatorFormsTest, SlicesBackwardsFromBeyondTheEnd) {
  const Tensor x = Floats({0, 1, 2, 3, 4});
  const auto slice = [&](std::int64_t start, std::int64_t end,
                         std::int64_t step) {
    return One(Evaluate(
        13, "Slice",
        {x, Longs({start}), Longs({end}), Longs({0}), Longs({step})}, {}));
  };
  EXPECT_THAT(slice(100, -100, -2), ElementsAre(4, 2, 0));
  EXPECT_THAT(slice(-2, 0, -1), ElementsAre(3, 2, 1));
  EXPECT_THAT(slice(3, 3, -1), ElementsAre());
  EXPECT_THAT(slice(4, INT64_MIN, INT64_MIN), ElementsAre(4));
  EXPECT_THAT(slice(1, INT64_MAX, INT64_MAX), ElementsAre(1));
}

TEST_F(OperatorFormsTest, PadsCutOffWhenNegative) {
  const Tensor x = Floats({0, 1, 2});
  const auto pad = [&](const char* mode, const Longs64& pads) {
    return One(Evaluate(19, "Pad", {x, Longs(pads)},
                        {{.name = "mode", .value = std::string(mode)}}));
  };
  EXPECT_THAT(pad("constant", {-1, 2}), ElementsAre(1, 2, 0, 0));
  EXPECT_THAT(pad("edge", {-1, 2}), ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(pad("reflect", {3, -1}), ElementsAre(1, 2, 1, 0, 1));
  EXPECT_THAT(pad("wrap", {4, 0}), ElementsAre(2, 0, 1, 2, 0, 1, 2));
}

TEST_F(OperatorFormsTest, EmptyAxesReshapeToWhatIsLeft) {
  const Tensor none = Elements<float>(DType::kFloat32, {0, 3, 4}, {});
  EXPECT_EQ(Must(Evaluate(14, "Reshape", {none, Longs({0, -1})}, {}))
                .at(0)
                .tensor.shape(),
            (Shape{0, 12}));
  EXPECT_EQ(Must(Evaluate(14, "Reshape", {none, Longs({-1, 6})}, {}))
                .at(0)
                .tensor.shape(),
            (Shape{0, 6}));
}

TEST_F(OperatorFormsTest, SoftplusIsExactBeyondLibtorchsThreshold) {
  // libtorch gives 21.
  EXPECT_THAT(One(Evaluate(18, "Softplus", {Floats({21})}, {})),
              ElementsAre(DoubleEq(21.000000000758256)));
}

TEST_F(OperatorFormsTest, IndicesOutsideAreErrors) {
  const Tensor x = Matrix({1, 2, 3, 4}, 2);
  for (const std::int64_t index : {2, -3}) {
    for (const char* op : {"Gather", "GatherND"}) {
      const auto result = Evaluate(13, op, {x, Longs({index})}, {});
      ASSERT_FALSE(result.has_value()) << op;
      EXPECT_THAT(result.error().message, HasSubstr(op));
    }
  }
}

TEST_F(OperatorFormsTest, ATypeWithoutACounterpartIsNamed) {
  const auto result = Evaluate(19, "Cast", {Floats({1})},
                               {{.name = "to", .value = std::int64_t{17}}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(result.error().message, HasSubstr("float8e4m3fn"));
}

TEST_F(OperatorFormsTest, AMissingInputOrAttributeIsNamed) {
  const auto input = Evaluate(13, "Expand", {Floats({1})}, {});
  ASSERT_FALSE(input.has_value());
  EXPECT_THAT(input.error().message, HasSubstr("input 1 is missing"));
  const auto attribute = Evaluate(13, "Concat", {Floats({1})}, {});
  ASSERT_FALSE(attribute.has_value());
  EXPECT_THAT(attribute.error().message, HasSubstr("no attribute 'axis'"));
}

TEST_F(OperatorFormsTest, OnlyTheOutputsAskedForAreNeeded) {
  EXPECT_THAT(
      One(Evaluate(
          13, "Dropout",
          {Floats({1, 2}), Elements<float>(DType::kFloat32, {}, {0.9F})}, {})),
      ElementsAre(1, 2));
  const auto beyond = Evaluate(13, "Relu", {Floats({1})}, {}, 1);
  ASSERT_FALSE(beyond.has_value());
  EXPECT_THAT(beyond.error().message, HasSubstr("'y1' cannot be evaluated"));
}

TEST_F(OperatorFormsTest, CumulativeSumsCanLeaveOutTheirOwnElement) {
  EXPECT_THAT(One(Evaluate(14, "CumSum", {Floats({1, 2, 3}), Scalar(0)},
                           {{.name = "exclusive", .value = std::int64_t{1}},
                            {.name = "reverse", .value = std::int64_t{1}}})),
              ElementsAre(5, 3, 0));
}

}  // namespace
}  // namespace parity
