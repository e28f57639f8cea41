// The rules about the graph and its inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/rules.h"
#include "diagnose/testing/fake_case.h"
#include "diagnose/testing/fake_sides.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ValueOf(const Finding& finding, std::string_view name) {
  for (const Evidence& entry : finding.evidence) {
    if (entry.name == name) return entry.value;
  }
  return "";
}

NamedTensors Image() {
  return {{.name = "image", .tensor = Float32(Scattered(48), {1, 3, 4, 4})}};
}

// Differs for every place and every channel.
FakeNetwork Weighted(double factor = 1) {
  FakeNetwork network;
  network.steps = {
      {.node = "/conv/Conv",
       .op = "Conv",
       .inputs = {"image"},
       .output = "features",
       .compute =
           [factor](const std::vector<Numbers>& arguments) {
             Numbers result = arguments[0];
             for (std::size_t i = 0; i < result.size(); ++i)
               result[i] = factor * result[i] * (1 + static_cast<double>(i));
             return result;
           },
       .shape = {48}},
      Map("/Sub", "Sub", "features", "y", [](double x) { return x - 0.25; })};
  network.outputs = {"y"};
  return network;
}

std::vector<double> Reordered(const Numbers& x,
                              const std::vector<std::size_t>& from) {
  Numbers result;
  for (const std::size_t place : from) result.push_back(x[place]);
  return result;
}

// The graph undoes to its input what `from` says before it computes.
FakeNetwork Rearranged(const std::vector<std::size_t>& from) {
  FakeNetwork network = Weighted();
  const auto compute = network.steps[0].compute;
  network.steps[0].compute = [=](const std::vector<Numbers>& arguments) {
    return compute({Reordered(arguments[0], from)});
  };
  return network;
}

std::string InputMessage(FakeNetwork graph) {
  FakeSides sides{.network = Weighted(), .graph = std::move(graph)};
  FakeCase entry(sides, Image());
  const auto finding = ExamineInputs(entry.investigation);
  if (!finding) return "";
  EXPECT_EQ(finding->cause, Cause::kInput);
  EXPECT_EQ(finding->confidence, Confidence::kCertain);
  return finding->message;
}

TEST(InputRuleTest, AnotherRangeIsFound) {
  EXPECT_THAT(InputMessage(Weighted(255)), HasSubstr("times 255"));
  EXPECT_THAT(InputMessage(Weighted(1.0 / 255)), HasSubstr("divided by 255"));
}

TEST(InputRuleTest, AnotherOrderOfChannelsIsFound) {
  std::vector<std::size_t> from;
  from.reserve(48);
  for (std::size_t i = 0; i < 48; ++i)
    from.push_back((2 - i / 16) * 16 + i % 16);
  EXPECT_THAT(InputMessage(Rearranged(from)), HasSubstr("channels reversed"));
}

TEST(InputRuleTest, ChannelsLastIsFound) {
  std::vector<std::size_t> from;  // NHWC place → NCHW place
  from.reserve(48);
  for (std::size_t i = 0; i < 48; ++i) from.push_back((i % 3) * 16 + i / 3);
  EXPECT_THAT(InputMessage(Rearranged(from)), HasSubstr("channels last"));
}

TEST(InputRuleTest, HeightAndWidthExchangedIsFound) {
  std::vector<std::size_t> from;
  from.reserve(48);
  for (std::size_t i = 0; i < 48; ++i)
    from.push_back(i / 16 * 16 + i % 4 * 4 + i / 4 % 4);
  EXPECT_THAT(InputMessage(Rearranged(from)), HasSubstr("height and width"));
}

TEST(InputRuleTest, AGraphThatIsWrongInAnotherWayIsNotExplainedByItsInputs) {
  EXPECT_EQ(InputMessage(Weighted(1.7)), "");
  FakeNetwork graph = Weighted();
  graph.steps[1].compute = [](const std::vector<Numbers>& arguments) {
    Numbers result = arguments[0];
    for (double& number : result) number *= 255;
    return result;
  };
  EXPECT_EQ(InputMessage(graph), "");
}

// A reference that takes pictures of one dtype and layout only.
Finding Refusal(const Tensor& picture, DType dtype, std::int64_t channels) {
  FakeSides sides{.network = Weighted(), .graph = Weighted()};
  sides.run_error = [=](const LoadRequest& load,
                        const RunRequest& request) -> std::optional<Error> {
    const Tensor& given = request.inputs[0].tensor;
    if (load.kind != ModelKind::kTorchScript ||
        (given.dtype() == dtype && given.shape()[1] == channels))
      return std::nullopt;
    return Error{.code = ErrorCode::kBackend, .message = "expected another"};
  };
  Laboratory lab(sides.Options());
  return ExamineRefusal(
      lab, {.code = ErrorCode::kBackend, .message = "expected another"}, "case",
      {.inputs = {{.name = "image", .tensor = picture}}}, {});
}

TEST(RefusalTest, APictureOfBytesWithChannelsLastIsRecognised) {
  const Tensor bytes = *Tensor::Allocate(DType::kUInt8, {1, 4, 4, 3});
  const Finding finding = Refusal(bytes, DType::kFloat32, 3);
  EXPECT_EQ(finding.cause, Cause::kInput);
  EXPECT_EQ(finding.confidence, Confidence::kLikely);
  EXPECT_FALSE(finding.fails);
  EXPECT_THAT(finding.message, HasSubstr("channels first (for bytes, NHWC)"));
}

TEST(RefusalTest, WhatNoOtherFormHelpsIsSaidAsItIs) {
  const Tensor bytes = *Tensor::Allocate(DType::kUInt8, {1, 4, 4, 3});
  const Finding finding = Refusal(bytes, DType::kInt64, 3);
  EXPECT_EQ(finding.cause, Cause::kInput);
  EXPECT_THAT(finding.message,
              HasSubstr("does not take these inputs: expected another"));
}

class ExportRuleTest : public ::testing::Test {
 protected:
  ExportRuleTest() {
    sides_.network = Weighted();
    sides_.network.steps[0].op = "aten::convolution";
    sides_.network.steps[0].node = "conv";
    sides_.network.steps[1].op = "aten::sub";
    sides_.network.steps[1].node = "";
    sides_.graph = Weighted();
    sides_.graph.steps[1].compute = [](const std::vector<Numbers>& arguments) {
      Numbers result = arguments[0];
      for (double& number : result) number += 0.25;
      return result;
    };
  }
  Finding Examine(const std::vector<CaseSummary>& cases = {}) {
    FakeCase entry(sides_, Image());
    return *ExamineExport(entry.investigation, cases);
  }

  FakeSides sides_;
};

TEST_F(ExportRuleTest, TheFirstNodeThatDepartsIsNamed) {
  const Finding finding = Examine();
  EXPECT_EQ(finding.cause, Cause::kExport);
  EXPECT_EQ(finding.node, "/Sub");
  EXPECT_EQ(finding.op, "Sub");
  EXPECT_THAT(finding.message, HasSubstr("first seen at /Sub (Sub)"));
  EXPECT_EQ(ValueOf(finding, "last value that agrees"), "features");
  EXPECT_EQ(ValueOf(finding, "export error of y"), "0.5");
}

// As a selection does: what comes out has nothing to do with the right values.
TEST_F(ExportRuleTest, ASmallFaultIsFoundAboveWhatMakesItLarge) {
  const auto add_outputs = [](FakeNetwork& network) {
    network.steps.push_back(Map("/Sin", "Sin", "y", "far",
                                [](double x) { return std::sin(1e6 * x); }));
    network.outputs = {"y", "far"};
  };
  sides_.graph = Weighted(1 + 1e-4);
  add_outputs(sides_.network);
  add_outputs(sides_.graph);
  const Finding finding = Examine();
  EXPECT_EQ(finding.node, "/conv/Conv");
}

TEST_F(ExportRuleTest, WithoutAReferencesTraceTheGraphIsStillConvicted) {
  sides_.recorded = true;
  const Finding finding = Examine();
  EXPECT_EQ(finding.cause, Cause::kExport);
  EXPECT_EQ(finding.node, "");
  EXPECT_EQ(finding.op, "");
  EXPECT_THAT(finding.message, Not(HasSubstr("first seen")));
}

CaseSummary Summary(const std::string& name, std::int64_t width, bool passed) {
  return {.name = name, .input_shapes = {{1, 3, 4, width}}, .passed = passed};
}

TEST_F(ExportRuleTest, RightAtOtherShapesMeansAShapeWasBakedIn) {
  EXPECT_THAT(
      ValueOf(Examine({Summary("a", 4, false), Summary("b", 8, true)}), "kind"),
      HasSubstr("baked in from the traced shape"));
}

TEST_F(ExportRuleTest, RightForOtherValuesMeansABranchWasBakedIn) {
  EXPECT_THAT(
      ValueOf(Examine({Summary("a", 4, false), Summary("b", 4, true)}), "kind"),
      HasSubstr("a branch taken while tracing was baked in"));
}

TEST_F(ExportRuleTest, WrongEverywhereSaysNothingOfTheKind) {
  EXPECT_EQ(ValueOf(Examine({Summary("a", 4, false), Summary("b", 8, false)}),
                    "kind"),
            "");
}

TEST_F(ExportRuleTest, AnInputThatMovesNothingIsNamed) {
  FakeCase entry(sides_, Image());
  entry.model.graph.inputs.push_back(
      {.name = "mask", .dtype = {}, .shape = {}, .other_type = ""});
  EXPECT_EQ(ValueOf(*ExamineExport(entry.investigation, {}), "kind"),
            "input mask moves no output of the graph");
}

TEST_F(ExportRuleTest, AGraphInTrainingModeIsCalledThat) {
  FakeCase entry(sides_, Image());
  Node& node = entry.model.graph.nodes[0];
  node.op_type = "BatchNormalization";
  node.attributes = {{.name = "training_mode", .value = std::int64_t{1}}};
  EXPECT_THAT(ValueOf(*ExamineExport(entry.investigation, {}), "kind"),
              HasSubstr("exported in training mode"));
  node.attributes = {{.name = "training_mode", .value = std::int64_t{0}}};
  EXPECT_EQ(ValueOf(*ExamineExport(entry.investigation, {}), "kind"), "");
}

}  // namespace
}  // namespace parity
