#include "diagnose/diagnosis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "diagnose/testing/fake_case.h"
#include "diagnose/testing/fake_sides.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

FakeNetwork Network(const std::string& kind) {
  FakeNetwork network;
  network.steps = {
      Map("/conv/Conv", kind + "Conv", "x", "f",
          [](double x) { return 2 * x + 1; }),
      Map("/Mul", kind + "Mul", "f", "y", [](double x) { return x * x; })};
  network.outputs = {"y"};
  return network;
}

NamedTensors X() { return {{.name = "x", .tensor = Float32(Scattered(60))}}; }

FakeFault Times(const std::string& value, double factor) {
  return
      [=](const LoadRequest& /*load*/, const FakeStep& step, Numbers& numbers) {
        if (step.output != value) return;
        for (double& number : numbers) number *= factor;
      };
}

class DiagnosisTest : public ::testing::Test {
 protected:
  DiagnosisTest() {
    sides_.network = Network("aten::");
    sides_.graph = Network("");
  }
  std::vector<Finding> Examine() {
    FakeCase entry(sides_, X());
    return Diagnose(entry.investigation, {});
  }
  void BreakGraph(double factor = 1.1) {
    sides_.graph.steps[0].compute =
        [factor](const std::vector<Numbers>& arguments) {
          Numbers result = arguments[0];
          for (double& number : result) number = factor * (2 * number + 1);
          return result;
        };
  }
  void RefuseGraph64() {
    sides_.load_error = [](const LoadRequest& load) -> std::optional<Error> {
      // The runtime's requests name a provider.
      if (load.kind != ModelKind::kOnnx || !load.provider.empty())
        return std::nullopt;
      return Error{.code = ErrorCode::kUnsupported, .message = "no such op"};
    };
  }

  FakeSides sides_;
};

TEST_F(DiagnosisTest, EqualSidesHaveNoFindings) {
  EXPECT_THAT(Examine(), IsEmpty());
}

TEST_F(DiagnosisTest, RoundingAsksForNothingFurther) {
  sides_.candidate_fault = Times("y", 1 + 1e-7);
  FakeCase entry(sides_, X());
  const int runs = sides_.runs;
  const auto findings = Diagnose(entry.investigation, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kRounding);
  EXPECT_FALSE(findings[0].fails);
  EXPECT_EQ(sides_.runs, runs);
}

TEST_F(DiagnosisTest, ABrokenContractComesBeforeEverything) {
  BreakGraph();
  FakeCase entry(sides_, X());
  entry.subject.contract_failures = {"y: dtype"};
  const auto findings = Diagnose(entry.investigation, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kContract);
}

TEST_F(DiagnosisTest, AWrongGraphIsTheExports) {
  BreakGraph();
  const auto findings = Examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kExport);
  EXPECT_EQ(findings[0].node, "/conv/Conv");
}

TEST_F(DiagnosisTest, AWrongRuntimeIsTheRuntimes) {
  sides_.candidate_fault = Times("f", 1.1);
  const auto findings = Examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kRuntime);
  EXPECT_EQ(findings[0].node, "/conv/Conv");
}

TEST_F(DiagnosisTest, TwoFaultsAreTwoFindingsTheLargerFirst) {
  BreakGraph(1.5);
  sides_.candidate_fault = Times("y", 1.001);
  const auto findings = Examine();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].cause, Cause::kExport);
  EXPECT_EQ(findings[1].cause, Cause::kRuntime);
}

// Random in any precision: both legs of the reference are off.
TEST_F(DiagnosisTest, AReferenceIsBlamedOnce) {
  int calls = 0;
  sides_.reference_fault = [&calls](const LoadRequest& /*load*/,
                                    const FakeStep& step, Numbers& numbers) {
    if (step.output == "y") numbers[3] += ++calls;
  };
  const auto findings = Examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kReference);
}

TEST_F(DiagnosisTest, TheOptimizerIsAskedBeforeTheKernels) {
  sides_.candidate_fault = [](const LoadRequest& load, const FakeStep& step,
                              Numbers& numbers) {
    if (step.output == "y" && load.optimization != "disabled") numbers[0] += 1;
  };
  const auto findings = Examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kOptimizer);
}

TEST_F(DiagnosisTest, NaNOnOneSideIsToldBesideItsCause) {
  sides_.candidate_fault = Times("y", 1e60);
  const auto findings = Examine();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].cause, Cause::kRuntime);
  EXPECT_EQ(findings[1].cause, Cause::kNonFinite);
}

TEST_F(DiagnosisTest, WithoutTheFloat64GraphExperimentsSpeak) {
  RefuseGraph64();
  sides_.candidate_fault = [](const LoadRequest& load, const FakeStep& step,
                              Numbers& numbers) {
    if (step.output == "y" && load.optimization != "disabled") numbers[0] += 1;
  };
  const auto findings = Examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kOptimizer);
}

TEST_F(DiagnosisTest, WithoutTheFloat64GraphTheRuntimeIsNotBlamedUnheard) {
  RefuseGraph64();
  BreakGraph();
  const auto findings = Examine();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kExport);
  EXPECT_EQ(findings[0].confidence, Confidence::kLikely);
  EXPECT_TRUE(findings[0].fails);
  ASSERT_EQ(findings[0].evidence.size(), 1U);
  EXPECT_EQ(findings[0].evidence[0].value, "no such op");
}

TEST_F(DiagnosisTest, WhatFloat64CouldNotComputeIsNoted) {
  RefuseGraph64();
  FakeCase entry(sides_, X());
  ASSERT_EQ(entry.investigation.notes().size(), 1U);
  EXPECT_THAT(entry.investigation.notes()[0], HasSubstr("no such op"));
  EXPECT_FALSE(entry.investigation.budgets()[0].exported.has_value());
  EXPECT_TRUE(entry.investigation.budgets()[0].reference.has_value());
}

}  // namespace
}  // namespace parity
