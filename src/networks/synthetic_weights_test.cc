#include "networks/synthetic_weights.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

TEST(SyntheticWeightsTest, AreTheSpecifiedNumbers) {
  // Computed once from the specification in another language.
  const Result<NamedTensors> weights = SyntheticWeights({}, 0);
  ASSERT_TRUE(weights.has_value());
  const Tensor* first = FindTensor(*weights, "backbone.features.0.0.weight");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(WeightsDigest(*weights),
            "a289120376584a376167aba817e7cb382167f342fb91c514adf7bb93170222dc");
  EXPECT_EQ(FindTensor(*weights, "decoder.conv4.bias")->As<float>()[4], 0.4F);
  EXPECT_EQ(FindTensor(*weights, "aspp.project.1.num_batches_tracked")
                ->As<std::int64_t>()[0],
            1);
}

TEST(SyntheticWeightsTest, TheSeedChangesThem) {
  const MattingConfig config;
  EXPECT_NE(WeightsDigest(*SyntheticWeights(config, 0)),
            WeightsDigest(*SyntheticWeights(config, 1)));
  EXPECT_EQ(WeightsDigest(*SyntheticWeights(config, 1)),
            WeightsDigest(*SyntheticWeights(config, 1)));
}

}  // namespace
}  // namespace parity
