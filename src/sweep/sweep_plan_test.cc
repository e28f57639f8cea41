#include "sweep/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/tensor.h"
#include "sweep/sweep_digest.h"
#include "sweep/sweep_runtimes.h"
#include "sweep/testing/sample_rows.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::vector<SweepRuntime>& Runtimes() {
  static const std::vector<SweepRuntime> runtimes = {
      {.name = "system",
       .library = {},
       .version = "ONNX Runtime 1.21.0",
       .providers = {"DnnlExecutionProvider", "CPUExecutionProvider"}},
      {.name = "1.16.0",
       .library = "/cache/libonnxruntime.so.1",
       .version = "ONNX Runtime 1.16.0",
       .providers = {"CPUExecutionProvider"}}};
  return runtimes;
}

SweepPlan PlanOf(const SweepOptions& options,
                 const std::vector<SweepRuntime>& runtimes = Runtimes()) {
  const auto plan = PlanSweep(options, runtimes);
  EXPECT_TRUE(plan.has_value()) << plan.error().message;
  return plan ? *plan : SweepPlan{};
}

std::string Axis(const PlannedRow& row, std::string_view axis) {
  const auto found = std::ranges::find(row.axes, axis, &AxisValue::axis);
  return found == row.axes.end() ? "" : found->value;
}

TEST(SweepPlanTest, EveryMethodOnEveryProviderOfEveryRuntime) {
  const SweepPlan plan = PlanOf({});
  // 3 crops, 2 replaces; two providers on one runtime, one on the other.
  ASSERT_THAT(plan.rows, SizeIs(3 * 2 * (2 + 1)));
  for (std::size_t i = 0; i < plan.rows.size(); ++i)
    EXPECT_EQ(plan.rows[i].index, i);
  EXPECT_EQ(Axis(plan.rows[0], "provider"), "CPUExecutionProvider");
  EXPECT_EQ(Axis(plan.rows[1], "provider"), "DnnlExecutionProvider");
  EXPECT_EQ(Axis(plan.rows[2], "runtime"), "1.16.0");
  EXPECT_EQ(plan.rows[2].options.runtime.library, "/cache/libonnxruntime.so.1");
  EXPECT_EQ(plan.rows[1].options.runtime.provider, "DnnlExecutionProvider");
  EXPECT_EQ(plan.rows[1].options.runtime.repeats, 5);
}

TEST(SweepPlanTest, EqualModelsFollowEachOther) {
  SweepOptions options;
  options.axes.refine_mode = {"all"};
  options.axes.shape = {"1x3x64x64", "1x3x128x128"};
  const SweepPlan plan = PlanOf(options);
  std::set<std::string> seen;
  std::string last;
  for (const PlannedRow& row : plan.rows) {
    ASSERT_TRUE(row.exported.has_value());
    if (row.exported->key == last) continue;
    EXPECT_TRUE(seen.insert(row.exported->key).second) << row.exported->key;
    last = row.exported->key;
  }
  EXPECT_THAT(seen, SizeIs(3 * 3 * 2));
}

TEST(SweepPlanTest, AShapeIsForBothPictures) {
  SweepOptions options;
  options.axes.shape = {"1x3x64x64"};
  const SweepPlan plan = PlanOf(options);
  EXPECT_THAT(plan.rows[0].options.cases.shapes.at("bgr"),
              ElementsAre(1, 3, 64, 64));
  EXPECT_EQ(Axis(plan.rows[0], "shape"), "1x3x64x64");
}

TEST(SweepPlanTest, TheRowsCommandNamesItsCombination) {
  const SweepPlan plan = PlanOf({});
  const auto& row = plan.rows.back();
  EXPECT_THAT(row.command,
              HasSubstr("--model-refine-patch-crop-method gather "
                        "--model-refine-patch-replace-method scatter_element"));
  EXPECT_THAT(row.command, HasSubstr("--runtime 1.16.0"));
}

TEST(SweepPlanTest, ShardsAreThePlanAndShareNothing) {
  const SweepPlan plan = PlanOf({});
  for (const std::size_t count : {1U, 2U, 3U, 7U, 40U}) {
    std::vector<int> owners(plan.rows.size());
    for (std::size_t index = 1; index <= count; ++index) {
      for (const PlannedRow& row : plan.rows)
        owners[row.index] += IsIn({.index = index, .count = count}, row.index);
    }
    EXPECT_THAT(owners, testing::Each(1)) << count;
  }
}

TEST(SweepPlanTest, WhatChangesAResultChangesTheDigest) {
  const std::string plain = PlanOf({}).digest;
  EXPECT_EQ(PlanOf({}).digest, plain);
  std::set<std::string> digests = {plain};
  const auto differs = [&](const SweepOptions& options) {
    return digests.insert(PlanOf(options).digest).second;
  };
  SweepOptions options;
  options.axes.crop = {"gather"};
  EXPECT_TRUE(differs(options));
  options = {};
  options.validation.tolerance.atol = 0.001;
  EXPECT_TRUE(differs(options));
  options = {};
  options.validation.output_atol["pha"] = 0.001;
  EXPECT_TRUE(differs(options));
  options = {};
  options.validation.reference.synthetic_seed = 7;
  EXPECT_TRUE(differs(options));
  options = {};
  options.validation.cases.only = {"image"};
  EXPECT_TRUE(differs(options));
  options = {};
  options.validation.reference.network_config["refine_sample_pixels"] = "1600";
  EXPECT_TRUE(differs(options));
  options = {};
  options.repeats = 3;
  EXPECT_TRUE(differs(options));
  std::vector<SweepRuntime> newer = Runtimes();
  newer[0].version = "ONNX Runtime 1.22.0";
  EXPECT_TRUE(digests.insert(PlanOf({}, newer).digest).second);
  // Where it is kept and which part is run makes no other sweep of it.
  options = {};
  options.journal = "a.jsonl";
  options.cache = "/cache";
  options.shard = {.index = 2, .count = 3};
  EXPECT_EQ(PlanOf(options).digest, plain);
}

TEST(SweepPlanTest, ACheckpointIsKnownByItsBytes) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      ("sweep_plan_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto digest = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(folder / name) << bytes;
    SweepOptions options;
    options.validation.reference.checkpoint = folder / name;
    return PlanOf(options).digest;
  };
  EXPECT_EQ(digest("a", "one"), digest("b", "one"));
  EXPECT_NE(digest("a", "one"), digest("a", "two"));
  std::filesystem::remove_all(folder);
  SweepOptions options;
  options.validation.reference.checkpoint = folder / "gone";
  const auto plan = PlanSweep(options, Runtimes());
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code, ErrorCode::kNotFound);
}

TEST(SweepPlanTest, AGivenModelHasItsOwnInputsAndNoExport) {
  SweepOptions options;
  options.validation.model = PARITY_TEST_DATA "/onnx/layer_norm.onnx";
  options.validation.reference.torchscript = "module.pt";
  auto plan = PlanSweep(options, Runtimes());
  ASSERT_FALSE(plan.has_value()) << "module.pt is not there";
  EXPECT_EQ(plan.error().code, ErrorCode::kNotFound);
  options.axes.crop = {"all"};
  plan = PlanSweep(options, Runtimes());
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(plan.error().message, HasSubstr("--crop"));
}

TEST(SweepPlanTest, AllIsNoProviderAmongOthers) {
  SweepOptions options;
  options.axes.provider = {"cpu", "all"};
  const auto plan = PlanSweep(options, Runtimes());
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().message,
            "--provider: 'all' stands alone, not in a list");
}

TEST(SweepDigestTest, WeightsBesideALargerModelFileArePartOfIt) {
  const TemporaryFolder folder;
  const auto digest = [&](float value) {
    Model model;
    model.ir_version = 8;
    model.opset_imports = {{.domain = "", .version = 17}};
    model.graph.name = std::string(9000, 'n');
    const std::vector<float> values(500, value);
    model.graph.initializers.push_back(
        {.name = "w",
         .tensor = Tensor::Copy(DType::kFloat32, {500},
                                std::as_bytes(std::span(values)))
                       .value()});
    EXPECT_TRUE(WriteOnnxModel(model, folder / "model.onnx",
                               {.external_data_threshold_bytes = 100})
                    .has_value());
    SweepDigest result;
    EXPECT_TRUE(result.AddModel(folder / "model.onnx").has_value());
    return result.Finish();
  };
  const std::string first = digest(1);
  EXPECT_TRUE(std::filesystem::exists(folder / "model.onnx.data"));
  EXPECT_NE(digest(2), first);
  EXPECT_EQ(digest(1), first);
}

TEST(SweepPlanTest, SyntheticWeightsAreSaidToBeSo) {
  SweepOptions options;
  options.validation.reference.synthetic_seed = 7;
  EXPECT_THAT(PlanOf(options).notes,
              ElementsAre(HasSubstr("SYNTHETIC weights (seed 7)")));
}

TEST(SweepPlanTest, TheNetworkTakesNoOtherReference) {
  SweepOptions options;
  options.validation.reference.torchscript = "module.pt";
  const auto plan = PlanSweep(options, Runtimes());
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(plan.error().message, HasSubstr("name it"));
}

}  // namespace
}  // namespace parity
