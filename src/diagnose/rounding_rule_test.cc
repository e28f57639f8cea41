// The rules about numbers alone: rounding, NaN and infinity.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "backend/backend.h"
#include "diagnose/rules.h"
#include "diagnose/testing/fake_case.h"
#include "diagnose/testing/fake_sides.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

FakeNetwork Doubling() {
  FakeNetwork network;
  network.steps = {
      Map("/Mul", "Mul", "x", "m", [](double x) { return 2 * x; }),
      Map("/Sub", "Sub", "m", "y", [](double x) { return x - 2; })};
  network.outputs = {"y"};
  return network;
}

FakeFault Shift(const std::string& value, double by) {
  return [=](const LoadRequest& load, const FakeStep& step, Numbers& numbers) {
    if (step.output == value && load.precision.empty()) numbers[0] += by;
  };
}

NamedTensors X(double first = 1) {
  Numbers numbers = Scattered(40);
  numbers[0] = first;
  return {{.name = "x", .tensor = Float32(numbers)}};
}

TEST(RoundingRuleTest, TheSuggestedToleranceHolds) {
  FakeSides sides{.network = Doubling(), .graph = Doubling()};
  sides.reference_fault = Shift("y", 1e-3);
  sides.candidate_fault = Shift("y", -1e-3);
  FakeCase entry(sides, X());
  const auto finding = ExamineRounding(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->cause, Cause::kRounding);
  EXPECT_FALSE(finding->fails);
  EXPECT_THAT(finding->outputs, ElementsAre("y"));
  // The largest difference is 0.002.
  EXPECT_THAT(finding->message, HasSubstr("tolerance of 0.005 would hold"));
  EXPECT_THAT(finding->message, HasSubstr("as far from float64"));
  EXPECT_THAT(finding->evidence.front().value,
              HasSubstr("reference error 0.001, runtime error 0.001"));
}

TEST(RoundingRuleTest, Float64IsNotQuotedWhereItWasNotAsked) {
  FakeSides sides{.network = Doubling(), .graph = Doubling(), .recorded = true};
  sides.candidate_fault = Shift("y", 1e-6);
  FakeCase entry(sides, X());
  const auto finding = ExamineRounding(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_THAT(finding->message, HasSubstr("no more than arithmetic"));
}

TEST(RoundingRuleTest, EqualAndWrongOutputsAreNotRounded) {
  FakeSides sides{.network = Doubling(), .graph = Doubling()};
  FakeCase equal(sides, X());
  EXPECT_FALSE(ExamineRounding(equal.investigation).has_value());
  sides.candidate_fault = Shift("y", 1);
  FakeCase wrong(sides, X());
  EXPECT_FALSE(ExamineRounding(wrong.investigation).has_value());
}

TEST(NonFiniteRuleTest, NaNOnOneSideFails) {
  FakeSides sides{.network = Doubling(), .graph = Doubling()};
  sides.candidate_fault = Shift("y", kInfinity);
  FakeCase entry(sides, X());
  const auto finding = ExamineNonFinite(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_TRUE(finding->fails);
  EXPECT_EQ(finding->message,
            "NaN or infinity on one side only: y has 0 such values in the "
            "reference and 1 in the candidate");
  // The graph is finite in float64.
  EXPECT_EQ(finding->node, "");
}

TEST(NonFiniteRuleTest, NaNThatBothSidesHaveIsANote) {
  FakeSides sides{.network = Doubling(), .graph = Doubling()};
  const auto by_zero = [](double x) { return x == 1 ? kInfinity : x; };
  sides.network.steps[0] = Map("", "aten::div", "x", "m", by_zero);
  sides.graph.steps[0] = Map("/Div", "Div", "x", "m", by_zero);
  FakeCase entry(sides, X());
  const auto finding = ExamineNonFinite(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_FALSE(finding->fails);
  EXPECT_THAT(finding->message, HasSubstr("on both sides"));
  EXPECT_EQ(finding->node, "/Div");
}

TEST(NonFiniteRuleTest, NoNodeIsBlamedForWhatTheInputsBring) {
  FakeSides sides{.network = Doubling(), .graph = Doubling()};
  FakeCase entry(sides, X(kInfinity));
  const auto finding = ExamineNonFinite(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->node, "");
}

TEST(NonFiniteRuleTest, FiniteOutputsAreNoNews) {
  FakeSides sides{.network = Doubling(), .graph = Doubling()};
  FakeCase entry(sides, X());
  EXPECT_FALSE(ExamineNonFinite(entry.investigation).has_value());
}

}  // namespace
}  // namespace parity
