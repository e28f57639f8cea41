// The rules about the reference: its mode, repeatability, kernels, overflow,
// and its batches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "diagnose/laboratory.h"
#include "diagnose/rules.h"
#include "diagnose/testing/fake_case.h"
#include "diagnose/testing/fake_sides.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

FakeNetwork Normalised() {
  FakeNetwork network;
  network.steps = {
      Map("/bn/BatchNormalization", "BatchNormalization", "x", "n",
          [](double x) { return 2 * x + 1; }),
      Map("/Relu", "Relu", "n", "y", [](double x) { return x > 0 ? x : 0; })};
  network.outputs = {"y"};
  return network;
}

NamedTensors X() {
  return {{.name = "x", .tensor = Float32(Scattered(40), {2, 20})}};
}

class ReferenceRuleTest : public ::testing::Test {
 protected:
  ReferenceRuleTest() {
    sides_.network = Normalised();
    sides_.graph = Normalised();
  }
  FakeSides sides_;
};

TEST_F(ReferenceRuleTest, AReferenceInTrainingModeIsRightInEvaluationMode) {
  sides_.reference_fault = [](const LoadRequest& load, const FakeStep& step,
                              Numbers& numbers) {
    if (step.output != "n" || load.attributes.contains("training")) return;
    for (double& number : numbers) number *= 1.5;
  };
  FakeCase entry(sides_, X());
  const auto finding = ExamineReference(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->cause, Cause::kReference);
  EXPECT_EQ(finding->confidence, Confidence::kCertain);
  EXPECT_THAT(finding->message, HasSubstr("left in training mode"));
  EXPECT_EQ(finding->node, "/bn/BatchNormalization");
  EXPECT_EQ(finding->module, "bn");
}

TEST_F(ReferenceRuleTest, AReferenceThatIsEvaluatedAlreadyIsNotAskedAgain) {
  sides_.reference_load.attributes = {{"training", "false"}};
  sides_.network.steps[0].compute = [](const std::vector<Numbers>& arguments) {
    return arguments[0];
  };
  FakeCase entry(sides_, X());
  const std::size_t loads = sides_.loads.size();
  // The graph is wrong, not the reference.
  EXPECT_FALSE(ExamineReference(entry.investigation).has_value());
  EXPECT_EQ(sides_.loads.size(), loads);
}

TEST_F(ReferenceRuleTest, AReferenceThatChangesFromRunToRunIsFound) {
  int calls = 0;
  sides_.reference_fault = [&calls](const LoadRequest& /*load*/,
                                    const FakeStep& step, Numbers& numbers) {
    if (step.output == "y") numbers[3] += ++calls;
  };
  FakeCase entry(sides_, X());
  const auto finding = ExamineReference(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_THAT(finding->message, HasSubstr("not deterministic"));
}

TEST_F(ReferenceRuleTest, WrongKernelsAreFoundByTryingOthers) {
  sides_.reference_load.reference_kernels = "onednn";
  sides_.reference_fault = [](const LoadRequest& load, const FakeStep& step,
                              Numbers& numbers) {
    if (step.output == "n" && load.reference_kernels == "onednn" &&
        load.precision != "float64")
      numbers[5] += 1;
  };
  FakeCase entry(sides_, X());
  const auto finding = ExamineReference(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_THAT(
      finding->message,
      HasSubstr("onednn convolution kernels are wrong here: with native "
                "kernels"));
  EXPECT_EQ(finding->confidence, Confidence::kCertain);
}

TEST_F(ReferenceRuleTest, AReferenceFarFromFloat64IsOnlyLikelyWrong) {
  sides_.reference_fault = [](const LoadRequest& load, const FakeStep& step,
                              Numbers& numbers) {
    if (step.output == "n" && load.precision != "float64") numbers[5] += 1;
  };
  FakeCase entry(sides_, X());
  const auto finding = ExamineReference(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->confidence, Confidence::kLikely);
  EXPECT_THAT(finding->message, HasSubstr("far from itself in float64"));
  EXPECT_EQ(finding->evidence.front().name, "reference error of y");
}

TEST_F(ReferenceRuleTest, OverflowIsTold) {
  sides_.reference_fault = [](const LoadRequest& load, const FakeStep& step,
                              Numbers& numbers) {
    if (step.output == "n" && load.precision != "float64")
      numbers[5] = std::numeric_limits<double>::infinity();
  };
  FakeCase entry(sides_, X());
  const auto finding = ExamineReference(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->message,
            "the reference's y is not finite in float32, in float64 it is");
}

// Memory that was read before it was written, say.
TEST_F(ReferenceRuleTest, ARunThatCannotBeRepeatedIsNoTrainingMode) {
  bool is_first = true;
  sides_.reference_fault = [&](const LoadRequest& /*load*/,
                               const FakeStep& step, Numbers& numbers) {
    if (step.output == "y" && is_first) {
      numbers[5] += 1;
      is_first = false;
    }
  };
  FakeCase entry(sides_, X());
  const auto finding = ExamineReference(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_THAT(finding->message, HasSubstr("not deterministic"));
}

TEST_F(ReferenceRuleTest, RecordingsAreNotAsked) {
  sides_.recorded = true;
  sides_.reference_fault = [](const LoadRequest& /*load*/, const FakeStep& step,
                              Numbers& numbers) {
    if (step.output == "y") numbers[5] += 1;
  };
  FakeCase entry(sides_, X());
  EXPECT_FALSE(ExamineReference(entry.investigation).has_value());
}

// A batch of `batch` entries of 4 numbers, by a function of the whole.
class BatchRuleTest : public ::testing::Test {
 protected:
  using Function = std::function<Numbers(const Numbers&)>;

  std::optional<Finding> Examine(const Function& function, std::int64_t batch,
                                 const std::string& axis = "batch") {
    sides_.network.steps = {
        {.node = "m",
         .op = "aten::mul",
         .inputs = {"x"},
         .output = "y",
         .compute = [function](const std::vector<Numbers>& arguments) {
           return function(arguments[0]);
         }}};
    sides_.network.outputs = {"y"};
    sides_.graph = sides_.network;
    const NamedTensors inputs = {
        {.name = "x", .tensor = Float32(Scattered(4 * batch), {batch, 4})}};
    Model model = sides_.MakeModel(inputs);
    for (auto* const values : {&model.graph.inputs, &model.graph.outputs}) {
      for (ValueInfo& value : *values) {
        value.shape = {{.value = {}, .name = axis}, {.value = 4, .name = ""}};
      }
    }
    Laboratory lab(sides_.Options());
    return ExamineBatch(lab, model, sides_.MakeSubject(inputs));
  }

  FakeSides sides_;
};

constexpr auto kEachAlone = [](const Numbers& x) {
  Numbers y = x;
  for (double& number : y) number = 3 * number;
  return y;
};
// The second entry and those after it are doubled.
constexpr auto kByPlace = [](const Numbers& x) {
  Numbers y = x;
  for (std::size_t i = 4; i < y.size(); ++i) y[i] = 2 * x[i];
  return y;
};
// Every entry feels all others.
constexpr auto kCoupled = [](const Numbers& x) {
  double sum = 0;
  for (const double number : x) sum += number;
  Numbers y = x;
  for (double& number : y) number += sum + 1;
  return y;
};

TEST_F(BatchRuleTest, AnEntryThatDependsOnItsPlaceIsAFault) {
  const auto finding = Examine(kByPlace, 3);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->cause, Cause::kReference);
  EXPECT_TRUE(finding->fails);
  EXPECT_THAT(finding->message, HasSubstr("2 of 3 entries"));
}

TEST_F(BatchRuleTest, IndependentEntriesAndCoupledBatchesAreLeftAlone) {
  EXPECT_FALSE(Examine(kEachAlone, 3).has_value());
  EXPECT_FALSE(Examine(kCoupled, 3).has_value());
}

TEST_F(BatchRuleTest, ABatchOfOneAndAxesThatAreNoBatchAreLeftAlone) {
  EXPECT_FALSE(Examine(kByPlace, 1).has_value());
  EXPECT_FALSE(Examine(kByPlace, 3, "height").has_value());
  EXPECT_FALSE(Examine(kByPlace, 3, "").has_value());
  EXPECT_EQ(sides_.runs, 0);
  EXPECT_TRUE(Examine(kByPlace, 3, "N").has_value());
}

TEST_F(BatchRuleTest, RecordingsAreLeftAlone) {
  sides_.recorded = true;
  EXPECT_FALSE(Examine(kByPlace, 3).has_value());
}

}  // namespace
}  // namespace parity
