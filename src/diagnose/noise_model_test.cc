#include "diagnose/noise_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "parity/diagnosis.h"
#include "parity/dtype.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kFloat32 = 0x1p-24;
constexpr double kALittle = 1e-9;

ErrorSize Size(double rms, double max) { return {.rms = rms, .max = max}; }

// A budget whose noise was decided already.
ErrorBudget Budget(double noise) {
  ErrorBudget budget;
  budget.noise_rms = noise;
  budget.noise_max = noise;
  budget.reference = ErrorSize{};
  budget.exported = ErrorSize{};
  budget.runtime = ErrorSize{};
  return budget;
}

TEST(NoiseModelTest, RoundoffIsHalfAStepAtOne) {
  EXPECT_EQ(UnitRoundoff(DType::kFloat16), 0x1p-11);
  EXPECT_EQ(UnitRoundoff(DType::kBFloat16), 0x1p-8);
  EXPECT_EQ(UnitRoundoff(DType::kFloat32), 0x1p-24);
  EXPECT_EQ(UnitRoundoff(DType::kFloat64), 0x1p-53);
  EXPECT_EQ(UnitRoundoff(DType::kInt64), 0);
  EXPECT_EQ(UnitRoundoff(DType::kBool), 0);
}

TEST(NoiseModelTest, TheFloorScalesWithTheOutputAndItsType) {
  const NoiseBounds single = NoiseFloor(2, 10, kFloat32);
  EXPECT_DOUBLE_EQ(single.rms, 32 * kFloat32 * 2);
  EXPECT_DOUBLE_EQ(single.max, 512 * kFloat32 * 10);
  const NoiseBounds half = NoiseFloor(2, 10, 0x1p-11);
  EXPECT_DOUBLE_EQ(half.rms, 16 * 0x1p-11 * 2);
  EXPECT_DOUBLE_EQ(half.max, 64 * 0x1p-11 * 10);
  const NoiseBounds twice = NoiseFloor(2, 10, 0x1p-53);
  EXPECT_DOUBLE_EQ(twice.rms, 4096 * 0x1p-53 * 2);
  EXPECT_DOUBLE_EQ(twice.max, 65536 * 0x1p-53 * 10);
  EXPECT_EQ(NoiseFloor(2, 10, 0).max, 0);
}

TEST(NoiseModelTest, BothBoundsMustHoldAndAreInclusive) {
  const NoiseBounds bounds{.rms = 1, .max = 10};
  EXPECT_TRUE(Within(Size(1, 10), bounds));
  EXPECT_FALSE(Within(Size(1 + kALittle, 10), bounds));
  EXPECT_FALSE(Within(Size(1, 10 + kALittle), bounds));
}

TEST(NoiseModelTest, WhatIsFiniteAndIntegersAreNeverNoise) {
  const NoiseBounds wide{.rms = kInfinity, .max = kInfinity};
  EXPECT_FALSE(Within({.nonfinite_disagreements = 1}, wide));
  EXPECT_FALSE(Within({.mismatches = 1}, wide));
}

TEST(NoiseModelTest, NoiseIsAMultipleOfTheSmallerErrorOfTheTwoSides) {
  ErrorBudget budget;
  budget.reference = Size(1, 4);
  budget.exported = Size(0, 0);
  budget.runtime = Size(2, 3);
  budget.scale_rms = 1e6;
  budget.scale_max = 1e6;
  const NoiseBounds many = NoiseOf(budget, kFloat32, 11);
  EXPECT_EQ(many.rms, 16 * 1);
  EXPECT_EQ(many.max, 16 * 3);
  // A handful of elements: luck.
  const NoiseBounds few = NoiseOf(budget, kFloat32, 10);
  EXPECT_EQ(few.rms, 64 * 1);
  EXPECT_EQ(few.max, 64 * 3);
}

// Both sides may have made a selection otherwise than float64: that is no
// rounding, and must not hide the rest of the output.
TEST(NoiseModelTest, NoiseThatBothSidesShareIsBoundedByTheScale) {
  ErrorBudget budget;
  budget.reference = Size(1, 4);
  budget.exported = Size(0, 0);
  budget.runtime = Size(2, 3);
  budget.scale_rms = 10;
  budget.scale_max = 20;
  EXPECT_DOUBLE_EQ(NoiseOf(budget, kFloat32, 1000).rms, 0.01 * 10);
  EXPECT_DOUBLE_EQ(NoiseOf(budget, kFloat32, 1000).max, 0.1 * 20);
}

TEST(NoiseModelTest, NoiseIsNeverBelowTheFloor) {
  ErrorBudget budget;
  budget.scale_rms = 1;
  budget.scale_max = 2;
  const NoiseBounds floor = NoiseFloor(1, 2, kFloat32);
  EXPECT_EQ(NoiseOf(budget, kFloat32, 100).rms, floor.rms);
  budget.reference = Size(0, 0);
  budget.runtime = Size(1, 1);
  EXPECT_EQ(NoiseOf(budget, kFloat32, 100).rms, floor.rms);
  EXPECT_EQ(NoiseOf(budget, kFloat32, 100).max, floor.max);
}

TEST(NoiseModelTest, ARecordingIsAsFarFromFloat64AsTheExportLegShows) {
  ErrorBudget budget;
  budget.exported = Size(1, 2);
  budget.runtime = Size(3, 1);
  budget.scale_rms = 1e6;
  budget.scale_max = 1e6;
  EXPECT_EQ(NoiseOf(budget, kFloat32, 100).rms, 16 * 1);
  budget.scale_max = 1e3;
  EXPECT_EQ(NoiseOf(budget, kFloat32, 100).max, 16 * 1);
}

// A float64 value of another shape says nothing about noise.
TEST(NoiseModelTest, InfiniteErrorsOnBothSidesAreNoNoise) {
  ErrorBudget budget;
  budget.scale_rms = 1;
  budget.scale_max = 1;
  budget.reference = Size(kInfinity, kInfinity);
  budget.runtime = Size(kInfinity, kInfinity);
  const NoiseBounds floor = NoiseFloor(1, 1, kFloat32);
  EXPECT_EQ(NoiseOf(budget, kFloat32, 100).rms, floor.rms);
  EXPECT_EQ(NoiseOf(budget, kFloat32, 100).max, floor.max);
}

TEST(NoiseModelTest, TheLegBeyondNoiseIsGuilty) {
  ErrorBudget budget = Budget(1);
  EXPECT_THAT(GuiltyLegs(budget), IsEmpty());
  budget.reference = Size(0, 1.1);
  EXPECT_THAT(GuiltyLegs(budget), ElementsAre(Leg::kReference));
  budget.exported = Size(1.1, 0);
  budget.runtime = Size(1, 1);
  EXPECT_THAT(GuiltyLegs(budget), ElementsAre(Leg::kReference, Leg::kExport));
  budget.runtime = Size(kInfinity, kInfinity);
  EXPECT_THAT(GuiltyLegs(budget),
              ElementsAre(Leg::kReference, Leg::kExport, Leg::kRuntime));
}

TEST(NoiseModelTest, WhatOverflowsOnBothSidesAlikeConvictsNeither) {
  ErrorBudget budget = Budget(1);
  budget.reference->nonfinite_disagreements = 2;
  budget.runtime->nonfinite_disagreements = 2;
  EXPECT_THAT(GuiltyLegs(budget), IsEmpty());
  // On one side only, that side.
  budget.total.nonfinite_disagreements = 2;
  budget.reference->nonfinite_disagreements = 0;
  EXPECT_THAT(GuiltyLegs(budget), ElementsAre(Leg::kRuntime));
}

TEST(NoiseModelTest, ExportedGraphsThatAreNotFiniteInFloat64AreWrong) {
  ErrorBudget budget = Budget(1);
  budget.exported->nonfinite_disagreements = 1;
  EXPECT_THAT(GuiltyLegs(budget), ElementsAre(Leg::kExport));
}

// The export leg of a recording starts from float32 numbers.
TEST(NoiseModelTest, ARecordingThatOverflowedDoesNotConvictTheExport) {
  ErrorBudget budget = Budget(1);
  budget.reference.reset();
  budget.exported->nonfinite_disagreements = 1;
  budget.runtime->nonfinite_disagreements = 1;
  EXPECT_THAT(GuiltyLegs(budget), IsEmpty());
}

TEST(NoiseModelTest, DifferingIntegersConvictWhoDiffers) {
  ErrorBudget budget = Budget(0);
  budget.total.mismatches = 1;
  budget.runtime->mismatches = 1;
  EXPECT_THAT(GuiltyLegs(budget), ElementsAre(Leg::kRuntime));
}

TEST(NoiseModelTest, TimesNoiseIsTheLargerRatioAndZeroWhenUnknown) {
  ErrorBudget budget;
  budget.total = Size(3, 8);
  EXPECT_EQ(budget.TimesNoise(), 0);
  budget.noise_rms = 1;
  budget.noise_max = 4;
  EXPECT_EQ(budget.TimesNoise(), 3);
}

}  // namespace
}  // namespace parity
