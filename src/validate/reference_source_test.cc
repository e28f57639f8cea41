#include "validate/reference_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backend/backend.h"
#include "networks/matting_config.h"
#include "parity/dtype.h"
#include "parity/validation.h"
#include "validate/contract.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Contract SyntheticExport() {
  Contract contract;
  MattingConfig config;
  config.refine_mode = RefineMode::kThresholding;
  contract.metadata = ToAttributes(config);
  contract.metadata["network"] = "BackgroundMattingV2";
  contract.metadata["weights"] = "synthetic seed 5";
  return contract;
}

TEST(ReferenceSourceTest, AnExportOfSyntheticWeightsNamesItsReference) {
  const auto plan = PlanReference({}, SyntheticExport());
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->kind, ReferenceKind::kNetwork);
  EXPECT_EQ(plan->network->refine_mode, RefineMode::kThresholding);
  EXPECT_EQ(plan->synthetic_seed, 5U);
}

TEST(ReferenceSourceTest, FlagsOverrideTheMetadata) {
  ReferenceOptions options;
  options.network_config["refine_mode"] = "full";
  options.synthetic_seed = 1;
  const auto plan = PlanReference(options, SyntheticExport());
  EXPECT_EQ(plan->network->refine_mode, RefineMode::kFull);
  EXPECT_EQ(plan->synthetic_seed, 1U);
}

TEST(ReferenceSourceTest, WithoutAReferenceNothingIsGuessed) {
  Contract contract;
  EXPECT_THAT(PlanReference({}, contract).error().message,
              HasSubstr("no reference: give --checkpoint"));
  contract.metadata["weights"] = "synthetic seed x";
  EXPECT_FALSE(PlanReference({}, contract).has_value());
}

TEST(ReferenceSourceTest, AFloat16ExportPromisesFloat16) {
  Contract contract = SyntheticExport();
  EXPECT_FALSE(PlanReference({}, contract)->floating_dtype.has_value());
  contract.metadata["precision"] = "float16";
  EXPECT_EQ(PlanReference({}, contract)->floating_dtype, DType::kFloat16);
}

TEST(ReferenceSourceTest, OtherWeightsThanTheExportsAreNoted) {
  Contract contract = SyntheticExport();
  ValidationOptions options;
  const auto plan = PlanReference({}, contract);
  const auto source = PrepareReference(*plan, options);
  ASSERT_TRUE(source.has_value());
  EXPECT_THAT(source->notes, IsEmpty());
  EXPECT_THAT(DescribeReference(*plan, options.reference),
              HasSubstr("SYNTHETIC weights (seed 5)"));
  const std::string digest = source->weights_sha256;
  EXPECT_THAT(ContradictionNotes(*plan, contract, digest), IsEmpty());
  contract.metadata["weights_sha256"] = digest;
  EXPECT_THAT(ContradictionNotes(*plan, contract, digest), IsEmpty());
  contract.metadata["weights_sha256"] = "0000";
  EXPECT_THAT(ContradictionNotes(*plan, contract, digest),
              ElementsAre("the ONNX file says that it was exported from other "
                          "weights than these (synthetic seed 5)"));
}

TEST(ReferenceSourceTest, FlagsThatContradictTheFileAreNoted) {
  const Contract contract = SyntheticExport();
  ValidationOptions options;
  options.reference.network_config["refine_mode"] = "full";
  const auto plan = PlanReference(options.reference, contract);
  EXPECT_THAT(ContradictionNotes(*plan, contract, ""),
              ElementsAre("the reference has refine_mode full; the ONNX file "
                          "says that it was exported with thresholding"));
}

TEST(ReferenceSourceTest, NetworkFlagsAreForTheNetworkOnly) {
  ReferenceOptions options;
  options.network_config["refine_mode"] = "full";
  options.torchscript = "m.pt";
  EXPECT_THAT(PlanReference(options, {}).error().message,
              HasSubstr("no meaning with --torchscript"));
}

TEST(ReferenceSourceTest, ATorchScriptIsLoadedByPathWithItsAttributes) {
  ValidationOptions options;
  options.reference.torchscript = "models/m.pt";
  options.reference.attributes["refine_mode"] = "full";
  options.runtime.threads = 2;
  const auto plan = PlanReference(options.reference, {});
  const auto source = PrepareReference(*plan, options);
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->request.kind, ModelKind::kTorchScript);
  EXPECT_EQ(source->request.path, "models/m.pt");
  EXPECT_EQ(source->request.attributes.at("refine_mode"), "full");
  EXPECT_EQ(source->request.threads, 2);
  EXPECT_EQ(DescribeReference(*plan, options.reference), "m.pt");
}

}  // namespace
}  // namespace parity
