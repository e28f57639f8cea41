#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/rules.h"
#include "diagnose/testing/fake_case.h"
#include "diagnose/testing/fake_sides.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

FakeNetwork TwoOutputs() {
  FakeNetwork network;
  network.steps = {
      Map("/a/Mul", "Mul", "x", "a", [](double x) { return 3 * x; }),
      Map("/b/Add", "Add", "x", "b", [](double x) { return x + 7; })};
  network.outputs = {"a", "b"};
  return network;
}

NamedTensors X(const Shape& shape = {1, 20}) {
  return {{.name = "x", .tensor = Float32(Scattered(20), shape)}};
}

TEST(ContractRuleTest, NothingIsSaidOfAKeptContract) {
  FakeSides sides{.network = TwoOutputs(), .graph = TwoOutputs()};
  FakeCase entry(sides, X());
  EXPECT_FALSE(ExamineContract(entry.investigation).has_value());
}

TEST(ContractRuleTest, SwappedOutputsAreNamed) {
  FakeSides sides{.network = TwoOutputs(), .graph = TwoOutputs()};
  std::swap(sides.graph.steps[0].output, sides.graph.steps[1].output);
  FakeCase entry(sides, X());
  const auto finding = ExamineContract(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->cause, Cause::kContract);
  EXPECT_EQ(finding->confidence, Confidence::kCertain);
  EXPECT_TRUE(finding->fails);
  EXPECT_EQ(finding->message,
            "outputs are swapped: output a of the graph is the reference's b, "
            "output b of the graph is the reference's a");
  EXPECT_THAT(finding->outputs, ElementsAre("a", "b"));
}

TEST(ContractRuleTest, AnOutputThatIsWrongByItselfIsNoSwap) {
  FakeSides sides{.network = TwoOutputs(), .graph = TwoOutputs()};
  sides.graph.steps[1].compute = sides.graph.steps[0].compute;
  FakeCase entry(sides, X());
  EXPECT_FALSE(ExamineContract(entry.investigation).has_value());
}

FakeNetwork Difference() {
  FakeNetwork network;
  network.steps = {Combine("/Sub", "Sub", {"x", "z"}, "y",
                           [](double x, double z) { return x - 2 * z; })};
  network.outputs = {"y"};
  return network;
}

NamedTensors XAndZ() {
  return {{.name = "x", .tensor = Float32(Scattered(20))},
          {.name = "z", .tensor = Float32(Scattered(20, 5))}};
}

TEST(ContractRuleTest, SwappedInputsAreFoundByFeedingThemTheOtherWayRound) {
  FakeSides sides{.network = Difference(), .graph = Difference()};
  sides.graph.steps[0].inputs = {"z", "x"};
  FakeCase entry(sides, XAndZ());
  const auto finding = ExamineContract(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_THAT(finding->message, HasSubstr("inputs x and z are swapped"));
  EXPECT_EQ(finding->evidence.front().name,
            "max difference with the inputs swapped");
}

// x + z is the same either way.
TEST(ContractRuleTest, InputsThatAreTreatedAlikeAreNotCalledSwapped) {
  FakeSides sides{.network = Difference(), .graph = Difference()};
  const auto sum = [](double x, double z) { return x + z; };
  sides.network.steps = {Combine("/Add", "Add", {"x", "z"}, "y", sum)};
  sides.graph = sides.network;
  FakeCase entry(sides, XAndZ());
  const int runs = sides.runs;
  EXPECT_FALSE(ExamineContract(entry.investigation).has_value());
  EXPECT_EQ(sides.runs, runs);
}

TEST(ContractRuleTest, InputsOfDifferentShapesAreNotExchanged) {
  FakeSides sides{.network = Difference(), .graph = Difference()};
  sides.graph.steps[0].inputs = {"z", "x"};
  FakeCase entry(sides, {{.name = "x", .tensor = Float32(Scattered(20))},
                         {.name = "z", .tensor = Float32(Scattered(1))}});
  EXPECT_FALSE(ExamineContract(entry.investigation).has_value());
}

TEST(ContractRuleTest, EveryBrokenPromiseIsEvidence) {
  FakeSides sides{.network = TwoOutputs(), .graph = TwoOutputs()};
  FakeCase entry(sides, X());
  entry.subject.contract_failures = {
      "output b of the reference is missing from the ONNX file", "another"};
  const auto finding = ExamineContract(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->message, entry.subject.contract_failures[0]);
  ASSERT_EQ(finding->evidence.size(), 2U);
  EXPECT_EQ(finding->evidence[1].value, "another");
  EXPECT_EQ(finding->node, "");
  EXPECT_EQ(finding->op, "");
}

// The numbers are right, their shape is not: the node that first has it.
TEST(ContractRuleTest, TheNodeThatChangesTheShapeIsFound) {
  FakeSides sides{.network = TwoOutputs(), .graph = TwoOutputs()};
  sides.graph.steps.insert(
      sides.graph.steps.begin() + 1,
      Map("", "Reshape", "a", "flat", [](double x) { return x; }));
  sides.graph.steps[1].shape = {20};
  sides.graph.steps.push_back(
      Map("/Identity", "Identity", "flat", "c", [](double x) { return x; }));
  sides.graph.outputs = {"c", "b"};
  FakeCase entry(sides, X());
  entry.subject.contract_failures = {"a: shape is 20, the reference's is 1x20"};
  const auto finding = ExamineContract(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->node, "flat");  // the node has no name of its own
  EXPECT_EQ(finding->op, "Reshape");
}

// The contract can be broken before anything is measured.
TEST(ContractRuleTest, NothingNeedsToBeMeasured) {
  FakeSides sides{.network = TwoOutputs(), .graph = TwoOutputs()};
  const Model model = sides.MakeModel(X());
  Subject subject = sides.MakeSubject(X());
  Laboratory lab(sides.Options());
  const Investigation investigation(subject, model, lab);
  EXPECT_FALSE(ExamineContract(investigation).has_value());
  EXPECT_TRUE(investigation.Compare(subject.expected, subject.actual).agrees);
  subject.contract_failures = {"broken"};
  EXPECT_TRUE(ExamineContract(investigation).has_value());
  EXPECT_THAT(investigation.WrongOutputs(), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace parity
