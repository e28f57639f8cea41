#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "parity/tolerance.h"

namespace parity {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kTiny = std::numeric_limits<double>::denorm_min();

struct Case {
  double expected;
  double actual;
  bool close;
};

void ExpectCases(const Tolerance& tolerance, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message()
                 << "expected " << c.expected << ", actual " << c.actual
                 << ", atol " << tolerance.atol << ", rtol " << tolerance.rtol);
    EXPECT_EQ(IsClose(c.expected, c.actual, tolerance), c.close);
  }
}

TEST(IsCloseTest, InfinityForgivesNothing) {
  // atol + rtol·|±inf| is inf: a bound taken before this check passes all.
  for (const double rtol : {1e-3, 1.0, 0.0}) {
    ExpectCases({.atol = 1, .rtol = rtol}, {{kInf, 3, false},
                                            {kInf, kMax, false},
                                            {kInf, -kInf, false},
                                            {-kInf, kInf, false},
                                            {kInf, kNan, false},
                                            {3, kInf, false},
                                            {3, -kInf, false},
                                            {kInf, kInf, true},
                                            {-kInf, -kInf, true}});
  }
  ExpectCases(
      {.atol = kInf, .rtol = 0},
      {{kInf, 3, false}, {3, kInf, false}, {kNan, 3, false}, {1, 2, true}});
}

TEST(IsCloseTest, NanMatchesOnlyNan) {
  ExpectCases({.atol = 1, .rtol = 1}, {{kNan, kNan, true},
                                       {kNan, -kNan, true},
                                       {kNan, 0, false},
                                       {0, kNan, false},
                                       {kNan, kInf, false}});
}

TEST(IsCloseTest, NothingNonFiniteMatchesWhenTold) {
  ExpectCases({.atol = 1, .rtol = 1, .equal_nonfinite = false},
              {{kNan, kNan, false},
               {kInf, kInf, false},
               {-kInf, -kInf, false},
               {1, 1, true}});
}

TEST(IsCloseTest, TheBoundItselfIsOutside) {
  ExpectCases({.atol = 0.5, .rtol = 0}, {{1, 1.5, false},
                                         {1, 0.5, false},
                                         {1, 1.25, true},
                                         {-1, -1.25, true},
                                         {-1, -1.5, false}});
}

TEST(IsCloseTest, RelativePartScalesWithTheExpectedSide) {
  ExpectCases({.atol = 0, .rtol = 0.5}, {{100, 149, true},
                                         {100, 150, false},
                                         {150, 100, true},
                                         {-100, -149, true},
                                         {0, kTiny, false}});
}

TEST(IsCloseTest, WithoutToleranceOnlyEqualElementsMatch) {
  ExpectCases({.atol = 0, .rtol = 0}, {{1, 1, true},
                                       {0.0, -0.0, true},
                                       {0, kTiny, false},
                                       {kMax, kMax, true},
                                       {1, 1 + 0x1p-52, false}});
}

TEST(IsCloseTest, ADifferenceBeyondDoubleIsAMismatch) {
  ExpectCases({.atol = kMax, .rtol = 1}, {{-kMax, kMax, false}});
  ExpectCases({.atol = 1, .rtol = 4}, {{-kMax, kMax, false}});
}

TEST(IsCloseTest, AToleranceThatIsNoNumberMatchesOnlyEqualElements) {
  ExpectCases({.atol = kNan, .rtol = 0}, {{1, 1, true}, {1, 1.1, false}});
  ExpectCases({.atol = -1, .rtol = 0}, {{1, 1, true}, {1, 1.1, false}});
}

}  // namespace
}  // namespace parity
