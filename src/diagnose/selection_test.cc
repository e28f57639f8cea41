#include "diagnose/selection.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/half.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kNoise = 1e-5;

Tensor Scores(Shape shape, const std::vector<double>& values) {
  return *Tensor::From<double>(DType::kFloat64, std::move(shape), values);
}
Tensor Floats(Shape shape, const std::vector<float>& values) {
  return *Tensor::From<float>(DType::kFloat32, std::move(shape), values);
}
Tensor Indices(Shape shape, const std::vector<std::int64_t>& values) {
  return *Tensor::From<std::int64_t>(DType::kInt64, std::move(shape), values);
}
Tensor Flags(Shape shape, const std::vector<std::uint8_t>& values) {
  return *Tensor::From<std::uint8_t>(DType::kBool, std::move(shape), values);
}

Node MakeNode(const std::string& op, std::vector<Attribute> attributes = {}) {
  return {.name = "/" + op,
          .op_type = op,
          .domain = "",
          .inputs = {},
          .outputs = {},
          .attributes = std::move(attributes)};
}

Node CastTo(std::int64_t type) {
  return MakeNode("Cast", {{.name = "to", .value = type}});
}

SelectionCheck Check(const Node& node, const std::vector<Tensor>& inputs,
                     const std::vector<Tensor>& chosen) {
  return CheckSelection(node, inputs, chosen, kNoise);
}

SelectionCheck CheckTop(const std::vector<double>& scores,
                        const std::vector<std::int64_t>& chosen,
                        std::int64_t sorted = 0) {
  const auto k = static_cast<std::int64_t>(chosen.size());
  return Check(MakeNode("TopK", {{.name = "sorted", .value = sorted}}),
               {Scores({1, static_cast<std::int64_t>(scores.size())}, scores),
                Indices({1}, {k})},
               {Scores({1, k}, std::vector<double>(chosen.size())),
                Indices({1, k}, chosen)});
}

// One comparison of scalars.
SelectionCheck Compare(const std::string& op, double a, double b, bool chosen) {
  return Check(MakeNode(op), {Scores({}, {a}), Scores({}, {b})},
               {Flags({}, {static_cast<std::uint8_t>(chosen)})});
}

SelectionCheck Step(const Node& node, double score, float chosen) {
  return Check(node, {Scores({1}, {score})}, {Floats({1}, {chosen})});
}

void ExpectRight(const SelectionCheck& check) {
  EXPECT_EQ(check.flipped, 0);
  EXPECT_EQ(check.gap, 0);
  EXPECT_FALSE(check.is_tie);
}

void ExpectFlip(const SelectionCheck& check, std::int64_t flipped, double gap) {
  EXPECT_EQ(check.flipped, flipped);
  if (gap == kInfinity) {
    EXPECT_EQ(check.gap, gap);
  } else {
    EXPECT_NEAR(check.gap, gap, 1e-12);
  }
  EXPECT_EQ(check.is_tie, gap <= kNoise);
}

TEST(IsSelectionTest, OperatorsThatDecide) {
  for (const char* op :
       {"TopK", "ArgMax", "ArgMin", "Greater", "Less", "GreaterOrEqual",
        "LessOrEqual", "Equal", "Round", "Floor", "Ceil", "Sign", "Hardmax",
        "NonZero", "NonMaxSuppression"})
    EXPECT_TRUE(IsSelection(MakeNode(op))) << op;
  for (const char* op : {"Relu", "Where", "And", "Gather", "", "Cast"})
    EXPECT_FALSE(IsSelection(MakeNode(op))) << op;
  Node foreign = MakeNode("TopK");
  foreign.domain = "com.microsoft";
  EXPECT_FALSE(IsSelection(foreign));
}

TEST(IsSelectionTest, CastsToIntegersAndBooleans) {
  for (const std::int64_t type : {2, 3, 4, 5, 6, 7, 9, 12, 13})
    EXPECT_TRUE(IsSelection(CastTo(type))) << type;
  for (const std::int64_t type : {1, 8, 10, 11, 16})
    EXPECT_FALSE(IsSelection(CastTo(type))) << type;
}

TEST(TopKSelectionTest, OrderWithinTheChosenCountsWhenTheyAreSorted) {
  ExpectRight(CheckTop({1, 5, 3, 4}, {1, 3}, 1));
  ExpectFlip(CheckTop({1, 5, 3, 4}, {3, 1}, 1), 2, 1);
  ExpectFlip(CheckTop({1, 5, 5, 4}, {2, 1, 3}, 1), 2, 0);
}

TEST(TopKSelectionTest, OrderWithinTheChosenIsIrrelevantWhenTheyAreNot) {
  ExpectRight(CheckTop({1, 5, 3, 4}, {1, 3}));
  ExpectRight(CheckTop({1, 5, 3, 4}, {3, 1}));
  ExpectRight(CheckTop({1, 5, 3, 4}, {}));
  ExpectRight(CheckTop({1, 5, 3, 4}, {0, 1, 2, 3}));
}

TEST(TopKSelectionTest, WrongElementsAreMeasuredAgainstTheEdge) {
  // The second best is 4.
  ExpectFlip(CheckTop({1, 5, 3, 4}, {1, 2}), 1, 1);
  ExpectFlip(CheckTop({1, 5, 3, 4}, {0, 2}), 2, 3);
  ExpectFlip(CheckTop({1, 5, 4 - 1e-6, 4}, {1, 2}), 1, 1e-6);
  // What should not have been left out counts, too: 9 is far above the edge.
  ExpectFlip(CheckTop({9, 4, 4, 4}, {1, 2, 3}), 1, 5);
}

TEST(TopKSelectionTest, EqualScoresTie) {
  ExpectRight(CheckTop({1, 1, 1, 0}, {0, 1}));
  ExpectFlip(CheckTop({1, 1, 1, 0}, {1, 2}), 1, 0);
  ExpectFlip(CheckTop({1, 1, 1, 1}, {2, 3}), 2, 0);
  ExpectFlip(CheckTop({kInfinity, kInfinity}, {1}), 1, 0);
}

TEST(TopKSelectionTest, ImpossibleIndicesAreNoTie) {
  ExpectFlip(CheckTop({1, 1, 1, 1}, {1, 1}), 1, kInfinity);
  ExpectFlip(CheckTop({1, 1, 1, 1}, {0, 4}), 1, kInfinity);
  ExpectFlip(CheckTop({1, 1, 1, 1}, {0, -1}), 1, kInfinity);
  ExpectFlip(CheckTop({1, kNan, 1, 1}, {0}), 1, kInfinity);
  // More than there are; outputs that are missing.
  ExpectFlip(CheckTop({1, 2}, {0, 1, 2}), 3, kInfinity);
  ExpectFlip(Check(MakeNode("TopK"), {Scores({2}, {1, 2})}, {}), 1, kInfinity);
}

TEST(TopKSelectionTest, AxisAndDirectionAreRead) {
  const Node node =
      MakeNode("TopK", {{.name = "axis", .value = std::int64_t{0}},
                        {.name = "largest", .value = std::int64_t{0}}});
  const Tensor scores = Scores({3, 2}, {5, 1,  //
                                        2, 8,  //
                                        3, 7});
  const Tensor k = Indices({1}, {1});
  const Tensor values = Scores({1, 2}, {0, 0});
  ExpectRight(Check(node, {scores, k}, {values, Indices({1, 2}, {1, 0})}));
  ExpectFlip(Check(node, {scores, k}, {values, Indices({1, 2}, {2, 0})}), 1, 1);
  ExpectFlip(Check(node, {scores, k}, {values, Indices({1, 2}, {2, 1})}), 2, 7);
}

TEST(TopKSelectionTest, IntegersNeverTie) {
  const SelectionCheck check =
      Check(MakeNode("TopK"), {Indices({3}, {4, 4, 4}), Indices({1}, {1})},
            {Indices({1}, {4}), Indices({1}, {2})});
  EXPECT_EQ(check.flipped, 1);
  EXPECT_EQ(check.gap, 0);
  EXPECT_FALSE(check.is_tie);
}

TEST(ArgMaxSelectionTest, FirstOfTheBestIsExpected) {
  const Tensor scores = Scores({2, 3}, {1, 3, 3,  //
                                        5, 4, 5 - 1e-6});
  const Node node =
      MakeNode("ArgMax", {{.name = "axis", .value = std::int64_t{1}}});
  ExpectRight(Check(node, {scores}, {Indices({2, 1}, {1, 0})}));
  ExpectFlip(Check(node, {scores}, {Indices({2, 1}, {2, 0})}), 1, 0);
  ExpectFlip(Check(node, {scores}, {Indices({2}, {1, 2})}), 1, 1e-6);
  ExpectFlip(Check(node, {scores}, {Indices({2}, {0, 1})}), 2, 2);
  ExpectFlip(Check(node, {scores}, {Indices({2}, {1, 3})}), 1, kInfinity);
  ExpectFlip(Check(node, {scores}, {Indices({1}, {1})}), 1, kInfinity);
}

TEST(ArgMaxSelectionTest, LastAndSmallestAndDefaultAxis) {
  const Tensor scores = Scores({3, 1}, {2, 2, 7});
  ExpectRight(Check(MakeNode("ArgMin"), {scores}, {Indices({1, 1}, {0})}));
  const Node last = MakeNode(
      "ArgMin", {{.name = "select_last_index", .value = std::int64_t{1}}});
  ExpectRight(Check(last, {scores}, {Indices({1, 1}, {1})}));
  ExpectFlip(Check(last, {scores}, {Indices({1, 1}, {2})}), 1, 5);
}

TEST(HardmaxSelectionTest, TheOneMarkIsTheChoice) {
  const Node node = MakeNode("Hardmax");
  const Tensor scores = Scores({2, 2}, {1, 2, 4 + 1e-6, 4});
  ExpectRight(Check(node, {scores}, {Floats({2, 2}, {0, 1, 1, 0})}));
  ExpectFlip(Check(node, {scores}, {Floats({2, 2}, {0, 1, 0, 1})}), 1, 1e-6);
  ExpectFlip(Check(node, {scores}, {Floats({2, 2}, {1, 0, 1, 0})}), 1, 1);
  ExpectFlip(Check(node, {scores}, {Floats({2, 2}, {0, 1, 1, 1})}), 1,
             kInfinity);
  ExpectFlip(Check(node, {scores}, {Floats({4}, {0, 1, 1, 0})}), 4, kInfinity);
}

TEST(ComparisonSelectionTest, BothSidesOfTheEdge) {
  struct Case {
    std::string op;
    double a, b;
    bool expected;
  };
  constexpr double kNear = 1e-6;
  for (const Case& c : {Case{"Greater", 1, 1, false},
                        {"Greater", 1 + kNear, 1, true},
                        {"Greater", 1 - kNear, 1, false},
                        {"Less", 1, 1, false},
                        {"Less", 1 - kNear, 1, true},
                        {"GreaterOrEqual", 1, 1, true},
                        {"GreaterOrEqual", 1 - kNear, 1, false},
                        {"LessOrEqual", 1, 1, true},
                        {"LessOrEqual", 1 + kNear, 1, false},
                        {"Equal", 1, 1, true},
                        {"Equal", 1 + kNear, 1, false},
                        {"Greater", 3, 1, true},
                        {"Less", 3, 1, false}}) {
    SCOPED_TRACE(::testing::Message() << c.op << ' ' << c.a << ' ' << c.b);
    ExpectRight(Compare(c.op, c.a, c.b, c.expected));
    ExpectFlip(Compare(c.op, c.a, c.b, !c.expected), 1,
               c.a > c.b ? c.a - c.b : c.b - c.a);
  }
}

TEST(ComparisonSelectionTest, NotANumberNeverTies) {
  ExpectRight(Compare("Greater", kNan, 1, false));
  ExpectFlip(Compare("Greater", kNan, 1, true), 1, kInfinity);
  ExpectFlip(Compare("Equal", kInfinity, kInfinity, false), 1, 0);
  ExpectFlip(Compare("Equal", kInfinity, -kInfinity, true), 1, kInfinity);
}

TEST(ComparisonSelectionTest, OperandsBroadcast) {
  const Tensor a = Scores({2, 1}, {0.5, 2});
  const Tensor b = Scores({3}, {0, 1, 2});
  const Node node = MakeNode("Greater");
  ExpectRight(Check(node, {a, b}, {Flags({2, 3}, {1, 0, 0, 1, 1, 0})}));
  ExpectFlip(Check(node, {a, b}, {Flags({2, 3}, {1, 0, 0, 1, 1, 1})}), 1, 0);
  ExpectFlip(Check(node, {a, b}, {Flags({2, 3}, {1, 1, 0, 0, 1, 0})}), 2, 2);
  ExpectFlip(Check(node, {a, b}, {Flags({3}, {1, 0, 0})}), 3, kInfinity);
  ExpectRight(Check(node, {Scores({0, 3}, {}), b}, {Flags({0, 3}, {})}));
}

TEST(ComparisonSelectionTest, IntegersNeverTie) {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  const Tensor a = Indices({2}, {large, 5});
  const Tensor b = Indices({2}, {large - 1, 5});
  ExpectRight(Check(MakeNode("Greater"), {a, b}, {Flags({2}, {1, 0})}));
  const SelectionCheck check =
      Check(MakeNode("Greater"), {a, b}, {Flags({2}, {1, 1})});
  EXPECT_EQ(check.flipped, 1);
  EXPECT_EQ(check.gap, 0);
  EXPECT_FALSE(check.is_tie);
}

TEST(RoundingSelectionTest, BothSidesOfTheSteps) {
  struct Case {
    std::string op;
    double score;
    float chosen;
    bool right;
    double gap;
  };
  for (const Case& c : {Case{"Floor", 2.25, 2, true, 0},
                        {"Floor", 3, 3, true, 0},
                        {"Floor", 3, 2, false, 0},
                        {"Floor", 3 - 1e-6, 3, false, 1e-6},
                        {"Floor", 2.25, 3, false, 0.75},
                        {"Floor", -0.5, -1, true, 0},
                        {"Floor", -1e-6, 0, false, 1e-6},
                        {"Ceil", 2.25, 3, true, 0},
                        {"Ceil", 2 + 1e-6, 2, false, 1e-6},
                        {"Ceil", 2, 3, false, 0},
                        {"Round", 2.5, 2, true, 0},
                        {"Round", 3.5, 4, true, 0},
                        {"Round", -2.5, -2, true, 0},
                        {"Round", 2.5, 3, false, 0},
                        {"Round", 2.5 + 1e-6, 2, false, 1e-6},
                        {"Round", 2.25, 3, false, 0.25},
                        {"Sign", 0.1, 1, true, 0},
                        {"Sign", -0.1, -1, true, 0},
                        {"Sign", 0, 0, true, 0},
                        {"Sign", 0, 1, false, 0},
                        {"Sign", 1e-6, 0, false, 1e-6},
                        {"Sign", 1e-6, -1, false, 1e-6},
                        {"Sign", -0.5, 1, false, 0.5},
                        {"Floor", 2.25, 2.25F, false, kInfinity},
                        {"Sign", 2.25, 2, false, kInfinity},
                        {"Floor", kNan, 2, false, kInfinity}}) {
    SCOPED_TRACE(::testing::Message()
                 << c.op << ' ' << c.score << ' ' << c.chosen);
    const SelectionCheck check = Step(MakeNode(c.op), c.score, c.chosen);
    if (c.right) {
      ExpectRight(check);
    } else {
      ExpectFlip(check, 1, c.gap);
    }
  }
  ExpectRight(Step(MakeNode("Round"), kNan, static_cast<float>(kNan)));
  ExpectRight(
      Step(MakeNode("Round"), kInfinity, static_cast<float>(kInfinity)));
}

TEST(RoundingSelectionTest, HalfPrecisionIsRead) {
  const Tensor chosen = *Tensor::From<std::uint16_t>(
      DType::kFloat16, {2}, std::vector{HalfFromFloat(2), HalfFromFloat(4)});
  ExpectFlip(Check(MakeNode("Floor"), {Scores({2}, {2.5, 3.75})}, {chosen}), 1,
             0.25);
}

TEST(CastSelectionTest, IntegersAreCutTowardsZero) {
  const Node node = CastTo(7);
  const auto cast = [&](double score, std::int64_t chosen) {
    return Check(node, {Scores({1}, {score})}, {Indices({1}, {chosen})});
  };
  for (const auto& [score, chosen] :
       std::vector<std::pair<double, std::int64_t>>{
           {2.9, 2}, {-2.9, -2}, {0.9, 0}, {-0.9, 0}, {3, 3}, {-3, -3}})
    ExpectRight(cast(score, chosen));
  ExpectFlip(cast(3 - 1e-6, 3), 1, 1e-6);
  ExpectFlip(cast(3, 2), 1, 0);
  ExpectFlip(cast(-3 + 1e-6, -3), 1, 1e-6);
  ExpectFlip(cast(-1, 0), 1, 0);
  ExpectFlip(cast(0.25, 1), 1, 0.75);
  ExpectFlip(cast(2.5, 3), 1, 0.5);  // rounded, not cut
  ExpectFlip(cast(kNan, 0), 1, kInfinity);
}

TEST(CastSelectionTest, BooleansAreWhatIsNotZero) {
  const Node node = CastTo(9);
  const auto cast = [&](double score, bool chosen) {
    return Check(node, {Scores({1}, {score})},
                 {Flags({1}, {static_cast<std::uint8_t>(chosen)})});
  };
  ExpectRight(cast(0, false));
  ExpectRight(cast(1e-30, true));
  ExpectFlip(cast(1e-6, false), 1, 1e-6);
  ExpectFlip(cast(0, true), 1, 0);
  ExpectFlip(cast(-0.5, false), 1, 0.5);
}

TEST(CastSelectionTest, IntegersNeverTie) {
  const Tensor scores = Indices({2}, {3, 0});
  ExpectRight(Check(CastTo(9), {scores}, {Flags({2}, {1, 0})}));
  ExpectFlip(Check(CastTo(9), {scores}, {Flags({2}, {1, 1})}), 1, kInfinity);
  ExpectFlip(Check(CastTo(7), {scores}, {Indices({2}, {3, 1})}), 1, kInfinity);
}

TEST(IndexSelectionTest, NonZeroIsNeverATieOfItsOwn) {
  const Node node = MakeNode("NonZero");
  const Tensor scores = Scores({2, 2}, {0, 1e-9, 0, 2});
  ExpectRight(Check(node, {scores}, {Indices({2, 2}, {0, 1, 1, 1})}));
  ExpectFlip(Check(node, {scores}, {Indices({2, 1}, {1, 1})}), 1, kInfinity);
  ExpectFlip(Check(node, {scores}, {Indices({2, 2}, {0, 1, 0, 1})}), 1,
             kInfinity);
  ExpectFlip(Check(node, {scores}, {Indices({2, 3}, {0, 0, 1, 0, 1, 1})}), 1,
             kInfinity);
  ExpectFlip(Check(node, {scores}, {Indices({1, 2}, {1, 3})}), 2, kInfinity);
}

TEST(IndexSelectionTest, NonMaxSuppressionKeepsTheBestOfOverlappingBoxes) {
  const Tensor boxes = Scores({1, 3, 4}, {0, 0, 1, 1,      //
                                          0, 0.1, 1, 1.1,  // covers the first
                                          0, 10, 1, 11});
  const Tensor scores = Scores({1, 1, 3}, {0.8, 0.9, 0.5});
  const Node node = MakeNode("NonMaxSuppression");
  const std::vector<Tensor> inputs = {boxes, scores, Indices({1}, {3}),
                                      Scores({1}, {0.5}), Scores({1}, {0.1})};
  ExpectRight(Check(node, inputs, {Indices({2, 3}, {0, 0, 1, 0, 0, 2})}));
  ExpectFlip(Check(node, inputs, {Indices({2, 3}, {0, 0, 0, 0, 0, 2})}), 1,
             kInfinity);
  ExpectFlip(Check(node, inputs, {Indices({1, 3}, {0, 0, 1})}), 1, kInfinity);
  // Without a limit given, nothing is kept.
  ExpectRight(Check(node, {boxes, scores}, {Indices({0, 3}, {})}));
  const Node centred =
      MakeNode("NonMaxSuppression",
               {{.name = "center_point_box", .value = std::int64_t{1}}});
  const Tensor apart = Scores({1, 3, 4}, {0, 0, 1, 1,  //
                                          1, 0, 1, 1,  //
                                          2, 0, 1, 1});
  ExpectRight(Check(centred,
                    {apart, scores, Indices({1}, {2}), Scores({1}, {0.5})},
                    {Indices({2, 3}, {0, 0, 1, 0, 0, 0})}));
}

}  // namespace
}  // namespace parity
