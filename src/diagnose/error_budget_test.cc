#include "diagnose/error_budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "diagnose/noise_model.h"
#include "diagnose/testing/fake_sides.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kCount = 100;

// Every number of a side is `factor` off.
Numbers Off(double factor) {
  Numbers numbers = Scattered(kCount);
  for (double& number : numbers) number *= 1 + factor;
  return numbers;
}

struct Sides {
  Tensor expected;
  Tensor actual;
  std::optional<Tensor> expected64;
  std::optional<Tensor> graph64;
};

ErrorBudget Measure(const Sides& sides, double roundoff = 0) {
  return MeasureBudget(
      {.expected = &sides.expected,
       .actual = &sides.actual,
       .expected64 = sides.expected64 ? &*sides.expected64 : nullptr,
       .graph64 = sides.graph64 ? &*sides.graph64 : nullptr,
       .roundoff = roundoff});
}

TEST(ErrorBudgetTest, EveryLegIsMeasuredBetweenItsTwoEnds) {
  const ErrorBudget budget = Measure({.expected = Float32({2, 0}),
                                      .actual = Float32({2, 8}),
                                      .expected64 = Float64({1, 0}),
                                      .graph64 = Float64({1, 4})});
  EXPECT_EQ(budget.total.max, 8);
  EXPECT_EQ(budget.reference->max, 1);
  EXPECT_EQ(budget.exported->max, 4);
  EXPECT_EQ(budget.runtime->max, 4);
  EXPECT_DOUBLE_EQ(budget.runtime->rms, std::sqrt((1.0 + 16.0) / 2));
  // The smaller scale of both precisions.
  EXPECT_EQ(budget.scale_max, 1);
}

TEST(ErrorBudgetTest, TheLegThatMovedIsTheGuiltyOne) {
  const Tensor exact = Float64(Off(0));
  const Tensor right = Float32(Off(0));
  const Tensor wrong = Float32(Off(0.01));
  const auto guilty = [](const Sides& sides) {
    const ErrorBudget budget = Measure(sides);
    EXPECT_EQ(budget.verdict, NoiseVerdict::kBeyond);
    const auto legs = GuiltyLegs(budget);
    EXPECT_EQ(legs.size(), 1U);
    return legs.empty() ? Leg::kReference : legs[0];
  };
  EXPECT_EQ(guilty({.expected = wrong,
                    .actual = right,
                    .expected64 = exact,
                    .graph64 = exact}),
            Leg::kReference);
  EXPECT_EQ(guilty({.expected = right,
                    .actual = wrong,
                    .expected64 = exact,
                    .graph64 = Float64(Off(0.01))}),
            Leg::kExport);
  EXPECT_EQ(guilty({.expected = right,
                    .actual = wrong,
                    .expected64 = exact,
                    .graph64 = exact}),
            Leg::kRuntime);
}

TEST(ErrorBudgetTest, ErrorsThatBothSidesShareAreNoise) {
  EXPECT_EQ(Measure({.expected = Float32(Off(1e-3)),
                     .actual = Float32(Off(-1e-3)),
                     .expected64 = Float64(Off(0)),
                     .graph64 = Float64(Off(0))})
                .verdict,
            NoiseVerdict::kWithin);
  // 17 times the other's is not shared.
  EXPECT_EQ(Measure({.expected = Float32(Off(1e-3)),
                     .actual = Float32(Off(17e-3)),
                     .expected64 = Float64(Off(0)),
                     .graph64 = Float64(Off(0))})
                .verdict,
            NoiseVerdict::kBeyond);
}

TEST(ErrorBudgetTest, RecordingsHaveNoReferenceLeg) {
  const Tensor recorded = Float32(Off(0));
  const ErrorBudget right = Measure({.expected = recorded,
                                     .actual = Float32(Off(1e-7)),
                                     .expected64 = {},
                                     .graph64 = Float64(Off(0))});
  EXPECT_FALSE(right.reference.has_value());
  EXPECT_EQ(right.verdict, NoiseVerdict::kWithin);
  const ErrorBudget exported = Measure({.expected = recorded,
                                        .actual = Float32(Off(0.01)),
                                        .expected64 = {},
                                        .graph64 = Float64(Off(0.01))});
  EXPECT_EQ(exported.verdict, NoiseVerdict::kBeyond);
  EXPECT_EQ(GuiltyLegs(exported).front(), Leg::kExport);
}

TEST(ErrorBudgetTest, ALargeExportErrorIsNotNoiseHoweverGoodTheRuntime) {
  const ErrorBudget budget = Measure({.expected = Float32(Off(0)),
                                      .actual = Float32(Off(1e-4)),
                                      .expected64 = Float64(Off(0)),
                                      .graph64 = Float64(Off(1e-4))});
  EXPECT_EQ(budget.verdict, NoiseVerdict::kBeyond);
  EXPECT_LT(budget.runtime->max, 1e-7);
}

TEST(ErrorBudgetTest, WithoutFloat64OnlyTheFloorIsKnown) {
  const Tensor expected = Float32(Off(0));
  EXPECT_EQ(Measure({.expected = expected,
                     .actual = Float32(Off(1e-7)),
                     .expected64 = {},
                     .graph64 = {}})
                .verdict,
            NoiseVerdict::kWithin);
  EXPECT_EQ(Measure({.expected = expected,
                     .actual = Float32(Off(1e-4)),
                     .expected64 = {},
                     .graph64 = {}})
                .verdict,
            NoiseVerdict::kUnknown);
}

// A graph with an operator that nobody evaluates.
TEST(ErrorBudgetTest, WithoutTheFloat64GraphTheCandidatesErrorCountsAsAWhole) {
  const auto verdict = [](double reference, double candidate) {
    return Measure({.expected = Float32(Off(reference)),
                    .actual = Float32(Off(candidate)),
                    .expected64 = Float64(Off(0)),
                    .graph64 = {}})
        .verdict;
  };
  // Conditioning: float32 loses as much on either side.
  EXPECT_EQ(verdict(1e-3, -1e-3), NoiseVerdict::kWithin);
  EXPECT_EQ(verdict(1e-2, 0), NoiseVerdict::kBeyond);
  // Export or runtime: nobody knows which.
  EXPECT_EQ(verdict(0, 1e-2), NoiseVerdict::kUnknown);
}

TEST(ErrorBudgetTest, OtherShapesAreInfinitelyFarApart) {
  const ErrorSize size = SizeOfError(Float32({1, 2}), Float32({1, 2, 3}));
  EXPECT_EQ(size.rms, kInfinity);
  EXPECT_EQ(size.max, kInfinity);
  EXPECT_EQ(SizeOfError(Float32({1}), Int64({1})).max, kInfinity);
  const ErrorBudget budget = Measure({.expected = Float32(Off(0)),
                                      .actual = Float32(Off(0)),
                                      .expected64 = Float64(Off(0)),
                                      .graph64 = Float64(Scattered(5))});
  EXPECT_EQ(budget.exported->max, kInfinity);
  EXPECT_EQ(budget.verdict, NoiseVerdict::kWithin);  // both agree
}

// Where float64 selects another number of elements than both sides did, no leg
// is measured, and a difference is not excused by that.
TEST(ErrorBudgetTest, AFloat64OfAnotherShapeExcusesNothing) {
  const Tensor other = Float64(Scattered(5));
  EXPECT_EQ(Measure({.expected = Float32(Off(0)),
                     .actual = Float32(Off(0.5)),
                     .expected64 = other,
                     .graph64 = other})
                .verdict,
            NoiseVerdict::kBeyond);
  EXPECT_EQ(Measure({.expected = Float32(Off(0)),
                     .actual = Float32(Off(0.5)),
                     .expected64 = {},
                     .graph64 = other})
                .verdict,
            NoiseVerdict::kBeyond);
}

TEST(ErrorBudgetTest, NaNAtTheSamePlacesIsNoDifference) {
  EXPECT_EQ(
      SizeOfError(Float32({kNan, 1, kInfinity}), Float32({kNan, 1, kInfinity}))
          .nonfinite_disagreements,
      0);
  const ErrorSize size =
      SizeOfError(Float32({kNan, 1, kInfinity}), Float32({1, 1, -kInfinity}));
  EXPECT_EQ(size.nonfinite_disagreements, 2);
  EXPECT_EQ(size.max, 0);
}

TEST(ErrorBudgetTest, NaNOnOneSideIsBeyondNoise) {
  Numbers broken = Off(0);
  broken[3] = kNan;
  const ErrorBudget budget = Measure({.expected = Float32(Off(0)),
                                      .actual = Float32(broken),
                                      .expected64 = Float64(Off(0)),
                                      .graph64 = Float64(Off(0))});
  EXPECT_EQ(budget.verdict, NoiseVerdict::kBeyond);
  EXPECT_EQ(GuiltyLegs(budget).front(), Leg::kRuntime);
}

TEST(ErrorBudgetTest, IntegersAreEqualOrNot) {
  EXPECT_EQ(Measure({.expected = Int64({1, 2, 3}),
                     .actual = Int64({1, 2, 3}),
                     .expected64 = {},
                     .graph64 = {}},
                    0x1p-24)
                .verdict,
            NoiseVerdict::kWithin);
  const ErrorBudget budget = Measure({.expected = Int64({1, 2, 30'000'000}),
                                      .actual = Int64({1, 2, 30'000'001}),
                                      .expected64 = Int64({1, 2, 30'000'000}),
                                      .graph64 = Int64({1, 2, 30'000'000})},
                                     0x1p-24);
  EXPECT_EQ(budget.total.mismatches, 1);
  EXPECT_EQ(budget.verdict, NoiseVerdict::kBeyond);
}

TEST(ErrorBudgetTest, TheCoarsestTypeInsideSetsTheFloor) {
  const Sides sides = {.expected = Float32(Off(0)),
                       .actual = Float32(Off(1e-4)),
                       .expected64 = {},
                       .graph64 = {}};
  EXPECT_EQ(Measure(sides, 0x1p-11).verdict, NoiseVerdict::kWithin);
  EXPECT_EQ(Measure(sides, 0x1p-24).verdict, NoiseVerdict::kUnknown);
}

}  // namespace
}  // namespace parity
