// The rules about the candidate: provider, determinism, optimizer, runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "backend/optimizer_names.h"
#include "diagnose/local_errors.h"
#include "diagnose/rules.h"
#include "diagnose/testing/fake_case.h"
#include "diagnose/testing/fake_sides.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// scale → shift → square
FakeNetwork Chain() {
  FakeNetwork network;
  network.steps = {
      Map("/layer1/conv/Conv", "Conv", "x", "scaled",
          [](double x) { return 3 * x; }),
      Map("/layer2/Add", "Add", "scaled", "shifted",
          [](double x) { return x + 1; }),
      Map("/Mul", "Mul", "shifted", "y", [](double x) { return x * x; })};
  network.outputs = {"y"};
  return network;
}

NamedTensors X() {
  return {{.name = "x", .tensor = Float32(Scattered(40), {1, 40})}};
}

// A fault of one value wherever `when` holds for what was loaded.
template <class When>
FakeFault FaultAt(const std::string& value, const When& when,
                  double factor = 1.1) {
  return [=](const LoadRequest& load, const FakeStep& step, Numbers& numbers) {
    if (step.output != value || !when(load)) return;
    for (double& number : numbers) number *= factor;
  };
}

constexpr auto kAlways = [](const LoadRequest& /*load*/) { return true; };

std::string ValueOf(const Finding& finding, std::string_view name) {
  for (const Evidence& entry : finding.evidence) {
    if (entry.name == name) return entry.value;
  }
  return "";
}

class CandidateRulesTest : public ::testing::Test {
 protected:
  CandidateRulesTest() {
    sides_.network = Chain();
    sides_.graph = Chain();
  }
  FakeSides sides_;
};

TEST_F(CandidateRulesTest, AWrongProviderIsRightOnTheCpu) {
  sides_.candidate_load.provider = "FastProvider";
  sides_.candidate_fault = FaultAt("shifted", [](const LoadRequest& load) {
    return load.provider == "FastProvider";
  });
  FakeCase entry(sides_, X());
  const auto finding = ExamineProvider(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->cause, Cause::kProvider);
  EXPECT_EQ(finding->message,
            "FastProvider computes it wrong, the CPU execution provider is "
            "right");
  EXPECT_EQ(finding->node, "/layer2/Add");
  EXPECT_EQ(finding->op, "Add");
  EXPECT_EQ(finding->module, "layer2");
  EXPECT_THAT(finding->outputs, ElementsAre("y"));
}

TEST_F(CandidateRulesTest, AProviderIsNotBlamedForWhatTheCpuGetsWrong) {
  sides_.candidate_load.provider = "FastProvider";
  sides_.candidate_fault = FaultAt("shifted", kAlways);
  FakeCase entry(sides_, X());
  EXPECT_FALSE(ExamineProvider(entry.investigation).has_value());
}

TEST_F(CandidateRulesTest, TheCpuProviderHasNoOtherToAsk) {
  sides_.candidate_fault = FaultAt("shifted", kAlways);
  for (const char* const provider : {"", "CPUExecutionProvider"}) {
    sides_.candidate_load.provider = provider;
    FakeCase entry(sides_, X());
    const int runs = sides_.runs;
    EXPECT_FALSE(ExamineProvider(entry.investigation).has_value());
    EXPECT_EQ(sides_.runs, runs);
  }
}

TEST_F(CandidateRulesTest, ACandidateThatChangesFromRunToRunIsFound) {
  int calls = 0;
  sides_.candidate_fault = [&calls](const LoadRequest& /*load*/,
                                    const FakeStep& step, Numbers& numbers) {
    if (step.output == "y") numbers[3] += ++calls;
  };
  FakeCase entry(sides_, X());
  const auto finding = ExamineDeterminism(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->cause, Cause::kNondeterministic);
  EXPECT_EQ(ValueOf(*finding, "max difference of two candidate runs"), "1");
}

TEST_F(CandidateRulesTest, ACandidateThatIsWrongAlikeIsDeterministic) {
  sides_.candidate_fault = FaultAt("y", kAlways);
  FakeCase entry(sides_, X());
  EXPECT_FALSE(ExamineDeterminism(entry.investigation).has_value());
}

TEST_F(CandidateRulesTest, TheOptimizerIsFoundByLevelAndByName) {
  const std::string culprit(
      kExtendedOptimizers[kExtendedOptimizers.size() / 3]);
  sides_.candidate_fault = FaultAt("shifted", [culprit](
                                                  const LoadRequest& load) {
    return (load.optimization == "all" || load.optimization == "extended") &&
           !std::ranges::contains(load.disabled_optimizers, culprit);
  });
  FakeCase entry(sides_, X());
  const auto finding = ExamineOptimizer(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->cause, Cause::kOptimizer);
  EXPECT_EQ(finding->confidence, Confidence::kCertain);
  EXPECT_THAT(finding->message, HasSubstr(culprit + " breaks it"));
  EXPECT_EQ(ValueOf(*finding, "first level that is wrong"), "extended");
  EXPECT_EQ(ValueOf(*finding, "right without the optimizer"), culprit);
  EXPECT_EQ(finding->node, "/layer2/Add");
}

TEST_F(CandidateRulesTest, EveryOptimizerOfEveryLevelCanBeFound) {
  const auto find = [this](std::string_view level, std::string_view name) {
    sides_.candidate_load.optimization = level;
    sides_.candidate_fault = FaultAt("y", [=](const LoadRequest& load) {
      return load.optimization == level &&
             !std::ranges::contains(load.disabled_optimizers, name);
    });
    FakeCase entry(sides_, X());
    const auto finding = ExamineOptimizer(entry.investigation);
    return finding ? ValueOf(*finding, "right without the optimizer") : "";
  };
  for (const std::string_view name : kBasicOptimizers)
    EXPECT_EQ(find("basic", name), name);
  for (const std::string_view name : kExtendedOptimizers)
    EXPECT_EQ(find("extended", name), name);
  for (const std::string_view name : kLayoutOptimizers)
    EXPECT_EQ(find("all", name), name);
}

TEST_F(CandidateRulesTest, AFaultOfSeveralOptimizersNamesTheLevel) {
  const std::string one(kBasicOptimizers.front());
  const std::string other(kBasicOptimizers.back());
  sides_.candidate_fault = FaultAt("y", [=](const LoadRequest& load) {
    return load.optimization != "disabled" &&
           !(std::ranges::contains(load.disabled_optimizers, one) &&
             std::ranges::contains(load.disabled_optimizers, other));
  });
  FakeCase entry(sides_, X());
  const auto finding = ExamineOptimizer(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_THAT(finding->message, HasSubstr("level basic breaks it"));
}

TEST_F(CandidateRulesTest, NodesWithoutNamesAreNamedAfterTheirValues) {
  for (FakeStep& step : sides_.graph.steps) step.node.clear();
  sides_.candidate_fault = FaultAt("shifted", [](const LoadRequest& load) {
    return load.optimization != "disabled";
  });
  FakeCase entry(sides_, X());
  const auto finding = ExamineOptimizer(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->node, "shifted");
  EXPECT_EQ(finding->op, "Add");
}

TEST_F(CandidateRulesTest, WhatIsWrongWithoutOptimizationsIsNoOptimizer) {
  sides_.candidate_fault = FaultAt("y", kAlways);
  FakeCase wrong(sides_, X());
  EXPECT_FALSE(ExamineOptimizer(wrong.investigation).has_value());
  sides_.candidate_load.optimization = "disabled";
  FakeCase disabled(sides_, X());
  EXPECT_FALSE(ExamineOptimizer(disabled.investigation).has_value());
}

TEST_F(CandidateRulesTest, ANodeThatIsWrongOnItsOwnInputsConvictsTheRuntime) {
  sides_.candidate_fault = FaultAt("shifted", kAlways);
  FakeCase entry(sides_, X());
  // Windows of one node each, and of all.
  for (const std::int64_t bytes : {std::int64_t{1}, kDefaultWindowBytes}) {
    const auto finding = ExamineRuntime(entry.investigation, bytes);
    ASSERT_TRUE(finding.has_value());
    EXPECT_EQ(finding->cause, Cause::kRuntime);
    EXPECT_EQ(finding->confidence, Confidence::kCertain);
    EXPECT_EQ(finding->message,
              "the runtime computes /layer2/Add (Add) wrong on its own inputs");
    EXPECT_EQ(ValueOf(*finding, "nodes examined"), "3");
    // What follows is computed right from the wrong value.
    EXPECT_EQ(ValueOf(*finding, "wrong nodes"), "1");
  }
}

TEST_F(CandidateRulesTest, UnnamedNodesKeepTheirOperator) {
  for (FakeStep& step : sides_.graph.steps) step.node.clear();
  sides_.candidate_fault = FaultAt("shifted", kAlways);
  FakeCase entry(sides_, X());
  EXPECT_EQ(ExamineRuntime(entry.investigation, kDefaultWindowBytes)->message,
            "the runtime computes shifted (Add) wrong on its own inputs");
}

TEST_F(CandidateRulesTest, AnErrorThatTapsMakeVanishIsToldSo) {
  sides_.candidate_fault = FaultAt(
      "shifted", [](const LoadRequest& load) { return load.taps.empty(); });
  FakeCase entry(sides_, X());
  const auto finding = ExamineRuntime(entry.investigation, kDefaultWindowBytes);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->confidence, Confidence::kLikely);
  EXPECT_EQ(finding->node, "");
  EXPECT_THAT(ValueOf(*finding, "tapping"), HasSubstr("needs the fused graph"));
  EXPECT_THAT(finding->message, HasSubstr("no single node is wrong"));
}

TEST_F(CandidateRulesTest, ANodeThatLibtorchLosesAsMuchAtIsNoFault) {
  sides_.candidate_fault = FaultAt("shifted", kAlways, 1 + 1e-3);
  sides_.native_fault = FaultAt("shifted", kAlways, 1 - 1e-3);
  FakeCase entry(sides_, X());
  const auto finding = ExamineRuntime(entry.investigation, kDefaultWindowBytes);
  ASSERT_TRUE(finding.has_value());
  // The graph loses what the reference keeps.
  EXPECT_EQ(finding->cause, Cause::kExport);
  EXPECT_THAT(finding->message, HasSubstr("loses the precision"));
  EXPECT_EQ(finding->node, "");
}

TEST_F(CandidateRulesTest, WhereTheGraphLosesPrecisionTheCastIsNamed) {
  sides_.candidate_fault = FaultAt("shifted", kAlways, 1 + 1e-3);
  sides_.native_fault = FaultAt("shifted", kAlways, 1 - 1e-3);
  FakeCase entry(sides_, X());
  const auto make_cast = [&](std::size_t node, std::int64_t type) {
    entry.model.graph.nodes[node].op_type = "Cast";
    entry.model.graph.nodes[node].attributes = {{.name = "to", .value = type}};
  };
  constexpr std::int64_t kFloat16 = 10;
  constexpr std::int64_t kFloat32 = 1;
  make_cast(1, kFloat16);
  make_cast(2, kFloat32);
  const auto finding = ExamineRuntime(entry.investigation, kDefaultWindowBytes);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->cause, Cause::kExport);
  EXPECT_EQ(finding->node, "/layer2/Add");
}

// The sum of two masks of the smallest float32 is −∞ there and finite in
// float64: no kernel's fault, whatever else is wrong.
TEST_F(CandidateRulesTest, OverflowThatLibtorchHasTooIsNoFault) {
  sides_.graph.steps.insert(
      sides_.graph.steps.begin(),
      Map("/mask/Add", "Add", "x", "mask", [](double /*x*/) { return -6e38; }));
  sides_.candidate_fault = FaultAt("shifted", kAlways);
  FakeCase entry(sides_, X());
  const auto finding = ExamineRuntime(entry.investigation, kDefaultWindowBytes);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->node, "/layer2/Add");
  EXPECT_EQ(ValueOf(*finding, "wrong nodes"), "1");
}

TEST_F(CandidateRulesTest, OverflowOfTheRuntimeAloneIsAFault) {
  sides_.candidate_fault = [](const LoadRequest& /*load*/, const FakeStep& step,
                              Numbers& numbers) {
    if (step.output == "shifted") numbers[2] = 6e38;
  };
  FakeCase entry(sides_, X());
  const auto finding = ExamineRuntime(entry.investigation, kDefaultWindowBytes);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->node, "/layer2/Add");
  EXPECT_THAT(ValueOf(*finding, "first wrong node"),
              HasSubstr("not finite on one side only at 1 elements"));
}

TEST_F(CandidateRulesTest, ARuntimeThatRefusesTapsIsNotCalledExamined) {
  sides_.candidate_fault = FaultAt("shifted", kAlways);
  sides_.load_error = [](const LoadRequest& load) -> std::optional<Error> {
    if (load.taps.empty()) return std::nullopt;
    return Error{.code = ErrorCode::kBackend, .message = "no such output"};
  };
  FakeCase entry(sides_, X());
  const auto finding = ExamineRuntime(entry.investigation, kDefaultWindowBytes);
  ASSERT_TRUE(finding.has_value());
  EXPECT_THAT(finding->message, HasSubstr("could not be examined"));
  EXPECT_EQ(ValueOf(*finding, "node by node"), "no such output");
}

}  // namespace
}  // namespace parity
