#include "validate/contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ValueInfo Value(const std::string& name, std::vector<Dimension> shape) {
  ValueInfo value;
  value.name = name;
  value.dtype = DType::kFloat32;
  value.shape = std::move(shape);
  return value;
}

Dimension Named(const std::string& name) { return {.value = {}, .name = name}; }
Dimension Fixed(std::int64_t size) { return {.value = size, .name = ""}; }

TEST(DimensionBindingsTest, ANameHasOneSizeThroughoutARun) {
  DimensionBindings bindings;
  EXPECT_THAT(
      bindings.Bind(Value("src", {Named("batch"), Fixed(3), Named("height")}),
                    {2, 3, 720}),
      IsEmpty());
  EXPECT_THAT(
      bindings.Bind(
          Value("pha_sm", {Named("batch"), Fixed(1), Named("height")}),
          {2, 1, 180}),
      ElementsAre("dimension 'height' is 720 in src but 180 in pha_sm"));
}

TEST(DimensionBindingsTest, FixedSizesAndRanksAreKept) {
  DimensionBindings bindings;
  EXPECT_THAT(bindings.Bind(Value("y", {Fixed(1), Fixed(4)}), {1, 5}),
              ElementsAre("y has size 5 on axis 1, declared is 4"));
  EXPECT_THAT(bindings.Bind(Value("y", {Fixed(1), Fixed(4)}), {4}),
              ElementsAre("y has rank 1 (4), declared is rank 2 (1 x 4)"));
}

TEST(DimensionBindingsTest, UnnamedAxesAndUndeclaredShapesPromiseNothing) {
  DimensionBindings bindings;
  EXPECT_THAT(bindings.Bind(Value("a", {Named("")}), {5}), IsEmpty());
  EXPECT_THAT(bindings.Bind(Value("b", {Named("")}), {6}), IsEmpty());
  ValueInfo any = Value("c", {});
  any.shape.reset();
  EXPECT_THAT(bindings.Bind(any, {1, 2, 3}), IsEmpty());
}

std::vector<std::pair<std::size_t, std::size_t>> Pairs(
    const OutputPairing& pairing) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  pairs.reserve(pairing.pairs.size());
  for (const OutputPairing::Pair& pair : pairing.pairs)
    pairs.emplace_back(pair.expected, pair.actual);
  return pairs;
}

using Index = std::pair<std::size_t, std::size_t>;

TEST(PairOutputsTest, NamesDecideNotTheOrder) {
  const OutputPairing pairing = PairOutputs({"pha", "fgr"}, {"fgr", "pha"});
  EXPECT_THAT(Pairs(pairing), ElementsAre(Index{0, 1}, Index{1, 0}));
  EXPECT_THAT(pairing.failures, IsEmpty());
}

TEST(PairOutputsTest, MissingAndExtraOutputsAreFailures) {
  const OutputPairing pairing = PairOutputs({"pha", "fgr"}, {"pha", "err"});
  EXPECT_THAT(Pairs(pairing), ElementsAre(Index{0, 0}));
  EXPECT_THAT(
      pairing.failures,
      ElementsAre("output fgr of the reference is missing from the ONNX file",
                  "output err of the ONNX file is not among the reference's"));
}

TEST(PairOutputsTest, AReferenceWithoutNamesIsPairedByPosition) {
  const OutputPairing pairing =
      PairOutputs({"output_0", "output_1"}, {"boxes", "scores"});
  EXPECT_THAT(Pairs(pairing), ElementsAre(Index{0, 0}, Index{1, 1}));
  EXPECT_THAT(pairing.failures, IsEmpty());
  EXPECT_THAT(PairOutputs({"output_0"}, {"boxes", "scores"}).failures,
              ElementsAre("the reference has 1 outputs, the ONNX file 2"));
}

TEST(PairOutputsTest, EntirelyOtherNamesArePairedByPositionAndSaid) {
  const OutputPairing pairing = PairOutputs({"out", "aux"}, {"1205", "1206"});
  EXPECT_THAT(Pairs(pairing), ElementsAre(Index{0, 0}, Index{1, 1}));
  EXPECT_EQ(pairing.notes.size(), 1U);
}

TEST(PairOutputsTest, NoOutputsAtAllPairNothing) {
  EXPECT_THAT(PairOutputs({}, {}).pairs, IsEmpty());
  EXPECT_THAT(PairOutputs({}, {"y"}).failures,
              ElementsAre("the reference has 0 outputs, the ONNX file 1"));
}

Tensor Zeros(DType dtype, Shape shape) {
  return *Tensor::Allocate(dtype, std::move(shape));
}

TEST(CompareSignaturesTest, BroadcastableShapesAreDifferentShapes) {
  EXPECT_THAT(
      CompareSignatures(Zeros(DType::kFloat32, {1, 1, 4, 4}),
                        Zeros(DType::kFloat32, {4, 4}), DType::kFloat32),
      ElementsAre("rank is 2 (4x4), the reference's is 4 (1x1x4x4)"));
  EXPECT_THAT(
      CompareSignatures(Zeros(DType::kFloat32, {1, 3, 4, 4}),
                        Zeros(DType::kFloat32, {1, 1, 4, 4}), DType::kFloat32),
      ElementsAre("shape is 1x1x4x4, the reference's is 1x3x4x4"));
}

TEST(CompareSignaturesTest, DtypesMustBeThePromisedOne) {
  EXPECT_THAT(CompareSignatures(Zeros(DType::kInt64, {1}),
                                Zeros(DType::kInt32, {1}), DType::kInt64),
              ElementsAre("dtype is int32, the reference's is int64"));
  EXPECT_THAT(CompareSignatures(Zeros(DType::kFloat32, {1}),
                                Zeros(DType::kFloat16, {1}), DType::kFloat16),
              IsEmpty());
}

}  // namespace
}  // namespace parity
