#include "generate/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "base/half.h"
#include "base/sha256.h"
#include "formats/safetensors/safetensors_reader.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::array kKinds = {
    GeneratorKind::kNormal,   GeneratorKind::kUniform,
    GeneratorKind::kScene,    GeneratorKind::kImage,
    GeneratorKind::kConstant, GeneratorKind::kSaturated};

constexpr std::array kDTypes = {
    DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64,
    DType::kInt8,    DType::kInt16,    DType::kInt32,   DType::kInt64,
    DType::kUInt8,   DType::kUInt16,   DType::kUInt32,  DType::kUInt64,
    DType::kBool};

Tensor Generated(const InputSpec& spec, std::uint64_t seed = 0,
                 int threads = 0) {
  const auto tensor = GenerateInput(spec, seed, threads);
  EXPECT_TRUE(tensor.has_value())
      << (tensor ? std::string() : tensor.error().message);
  return tensor.value_or(Tensor());
}

Tensor Generated(GeneratorKind kind, const Shape& shape,
                 DType dtype = DType::kFloat32) {
  return Generated({.name = "x",
                    .dtype = dtype,
                    .shape = shape,
                    .generator = kind,
                    .value = 0.75});
}

TEST(GeneratorTest, EveryNameLeadsBackToItsKind) {
  std::set<std::string> names;
  for (const GeneratorKind kind : kKinds) {
    EXPECT_EQ(GeneratorFromName(Name(kind)), kind);
    names.emplace(Name(kind));
  }
  EXPECT_EQ(names.size(), kKinds.size());
  EXPECT_FALSE(GeneratorFromName("gaussian").has_value());
  EXPECT_FALSE(GeneratorFromName("").has_value());
  EXPECT_EQ(GeneratorNames(),
            "normal, uniform, scene, image, constant, saturated");
}

TEST(GeneratorTest, WhatCannotBeMadeIsRefusedByName) {
  const auto complex = GenerateInput(
      {.name = "spectrum", .dtype = DType::kComplex64, .shape = {2}}, 0);
  ASSERT_FALSE(complex.has_value());
  EXPECT_EQ(complex.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(complex.error().message.find("spectrum"), std::string::npos);

  const auto negative = GenerateInput({.name = "depth", .shape = {2, -1}}, 0);
  ASSERT_FALSE(negative.has_value());
  EXPECT_EQ(negative.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(negative.error().message.find("depth"), std::string::npos);
}

TEST(GeneratorTest, AnyRankAndEmptyTensorsAreMade) {
  for (const GeneratorKind kind : kKinds) {
    for (const Shape& shape :
         {Shape{}, Shape{0}, Shape{5}, Shape{3, 0}, Shape{0, 4}, Shape{4, 7},
          Shape{3, 4, 5}, Shape{0, 3, 4, 5}, Shape{2, 3, 0, 5},
          Shape{2, 3, 4, 0}, Shape{2, 2, 3, 4, 5}, Shape{1, 1, 1, 1000},
          Shape{1, 1, 1000, 1}}) {
      for (const DType dtype : kDTypes)
        EXPECT_EQ(Generated(kind, shape, dtype).shape(), shape);
    }
  }
}

// Any change of these bits is a change of every recorded result.
TEST(GeneratorTest, BitsArePinned) {
  const std::map<std::string, std::string> pinned = {
      {"normal",
       "82e346d58c6bbc3d3e470ade5714b155cdfad499f42814b1571792870c891bc5"},
      {"uniform",
       "3b7914894bb711d407154f8604daed3451860e7d8e274f5ecff48edeef722f19"},
      {"scene",
       "3ad83698bb3a93d6e7dc751ad1a7332b94f6b7623b1701a271e72a396015e92f"},
      {"image",
       "1be8eb451b2ab6f20a699ee2980e9102690c7384b959f2f9a67fdedd468248f7"},
      {"constant",
       "70d1073f1497fb7f812ed8cc9db5e35c46cf900ca226fbf3badfa9562044cd73"},
      {"saturated",
       "70d1073f1497fb7f812ed8cc9db5e35c46cf900ca226fbf3badfa9562044cd73"},
  };
  for (const GeneratorKind kind : kKinds) {
    const Tensor tensor = Generated({.name = "src",
                                     .shape = {2, 3, 17, 23},
                                     .generator = kind,
                                     .value = 0.75},
                                    7);
    EXPECT_EQ(Sha256Hex(tensor.bytes()), pinned.at(std::string(Name(kind))))
        << Name(kind);
  }
}

TEST(GeneratorTest, UniformValuesAreTheStreamOfTheName) {
  const Tensor tensor = Generated({.name = "src",
                                   .dtype = DType::kFloat64,
                                   .shape = {3},
                                   .generator = GeneratorKind::kUniform},
                                  5);
  // From the reference description of the stream, run in Python.
  const std::array want = {0.9860665897179001, 0.011104233952135889,
                           0.9074862673199796};
  EXPECT_TRUE(std::ranges::equal(tensor.As<double>(), want));
}

TEST(GeneratorTest, ImagesAreTheOnesTheGoldenOutputsWereMadeFrom) {
  const std::filesystem::path folder =
      std::filesystem::path(PARITY_TEST_DATA) / "goldens";
  for (const char* name :
       {"mattingrefine-mobilenetv2-full-k3-s0.25-2x3x36x44-batch.safetensors",
        "mattingrefine-mobilenetv2-full-k1-s0.25-1x3x64x96.safetensors"}) {
    const auto golden = ReadSafetensorsFile(folder / name);
    ASSERT_TRUE(golden.has_value()) << golden.error().message;
    const std::uint64_t seed =
        std::strtoull(golden->metadata.at("seed").c_str(), nullptr, 10);
    for (const char* input : {"src", "bgr"}) {
      const Tensor* const want = FindTensor(golden->tensors, input);
      ASSERT_NE(want, nullptr);
      const Tensor got = Generated({.name = input,
                                    .shape = want->shape(),
                                    .generator = GeneratorKind::kImage},
                                   seed);
      const auto got_values = got.As<float>();
      const auto want_values = want->As<float>();
      for (std::size_t i = 0; i < want_values.size(); ++i) {
        // Neighbouring floats of one sign have neighbouring bits.
        const auto ulps = std::bit_cast<std::int32_t>(got_values[i]) -
                          std::bit_cast<std::int32_t>(want_values[i]);
        ASSERT_LE(std::abs(ulps), 1) << name << " " << input << " " << i;
      }
    }
  }
}

TEST(GeneratorTest, TheNumberOfThreadsChangesNothing) {
  for (const GeneratorKind kind : kKinds) {
    const InputSpec spec{
        .name = "src", .shape = {2, 3, 130, 70}, .generator = kind, .value = 1};
    const std::string one = Sha256Hex(Generated(spec, 3, 1).bytes());
    for (const int threads : {0, 2, 5})
      EXPECT_EQ(Sha256Hex(Generated(spec, 3, threads).bytes()), one)
          << Name(kind);
  }
}

TEST(GeneratorTest, NamesAndSeedsGiveDifferentTensors) {
  for (const GeneratorKind kind :
       {GeneratorKind::kNormal, GeneratorKind::kUniform, GeneratorKind::kScene,
        GeneratorKind::kImage}) {
    std::set<std::string> digests;
    for (const char* name : {"src", "bgr"}) {
      for (const std::uint64_t seed : {0U, 1U, 2U}) {
        digests.insert(Sha256Hex(
            Generated({.name = name, .shape = {1, 3, 8, 9}, .generator = kind},
                      seed)
                .bytes()));
      }
    }
    EXPECT_EQ(digests.size(), 6) << Name(kind);
  }
}

struct Moments {
  double mean = 0;
  double variance = 0;
  double kurtosis = 0;
};

Moments MomentsOf(const Tensor& tensor) {
  const auto values = tensor.As<float>();
  const auto n = static_cast<double>(values.size());
  Moments m;
  for (const double v : values) m.mean += v / n;
  for (const double v : values) {
    const double square = (v - m.mean) * (v - m.mean);
    m.variance += square / n;
    m.kurtosis += square * square / n;
  }
  m.kurtosis /= m.variance * m.variance;
  return m;
}

TEST(GeneratorTest, NormalValuesHaveTheMomentsOfANormalDistribution) {
  // Standard errors with 10^6 values: 0.001, 0.0014, 0.005.
  const Tensor tensor = Generated(GeneratorKind::kNormal, {1'000'000});
  const Moments m = MomentsOf(tensor);
  EXPECT_NEAR(m.mean, 0, 0.004);
  EXPECT_NEAR(m.variance, 1, 0.006);
  EXPECT_NEAR(m.kurtosis, 3, 0.02);
  const auto [low, high] = std::ranges::minmax(tensor.As<float>());
  EXPECT_LT(low, -4);
  EXPECT_GT(high, 4);
}

TEST(GeneratorTest, UniformValuesFillTheirRange) {
  const Tensor tensor = Generated(GeneratorKind::kUniform, {1'000'000});
  const Moments m = MomentsOf(tensor);
  EXPECT_NEAR(m.mean, 0.5, 0.0012);
  EXPECT_NEAR(m.variance, 1.0 / 12, 0.0004);
  const auto [low, high] = std::ranges::minmax(tensor.As<float>());
  EXPECT_GE(low, 0);
  EXPECT_LT(low, 1e-4);
  EXPECT_LE(high, 1);
  EXPECT_GT(high, 1 - 1e-4);
}

TEST(GeneratorTest, ImagesAndScenesStayBetweenZeroAndOne) {
  for (const GeneratorKind kind :
       {GeneratorKind::kImage, GeneratorKind::kScene}) {
    const Tensor tensor = Generated(kind, {2, 3, 64, 96});
    const auto [low, high] = std::ranges::minmax(tensor.As<float>());
    EXPECT_GE(low, 0);
    EXPECT_LE(high, 1);
    EXPECT_GT(high - low, 0.4) << Name(kind);
  }
}

TEST(GeneratorTest, NarrowFloatsAreTheWideOnesRounded) {
  const Shape shape{1, 3, 40, 50};
  for (const GeneratorKind kind :
       {GeneratorKind::kNormal, GeneratorKind::kUniform, GeneratorKind::kScene,
        GeneratorKind::kImage}) {
    const Tensor wide_tensor = Generated(kind, shape, DType::kFloat64);
    const Tensor float_tensor = Generated(kind, shape, DType::kFloat32);
    const Tensor half_tensor = Generated(kind, shape, DType::kFloat16);
    const auto wide = wide_tensor.As<double>();
    const auto floats = float_tensor.As<float>();
    const auto halves = half_tensor.As<std::uint16_t>();
    for (std::size_t i = 0; i < wide.size(); ++i) {
      ASSERT_EQ(floats[i], static_cast<float>(wide[i]));
      ASSERT_NEAR(FloatFromHalf(halves[i]), wide[i],
                  std::abs(wide[i]) * 0x1p-11 + 0x1p-25);
    }
  }
}

TEST(GeneratorTest, RandomIntegersCoverASmallRange) {
  for (const GeneratorKind kind :
       {GeneratorKind::kNormal, GeneratorKind::kUniform, GeneratorKind::kScene,
        GeneratorKind::kImage}) {
    const Tensor int_tensor = Generated(kind, {4, 250}, DType::kInt64);
    const auto integers = int_tensor.As<std::int64_t>();
    EXPECT_EQ(std::set(integers.begin(), integers.end()),
              (std::set<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    const Tensor bool_tensor = Generated(kind, {4, 250}, DType::kBool);
    const auto bools = bool_tensor.As<std::uint8_t>();
    EXPECT_EQ(std::set(bools.begin(), bools.end()),
              (std::set<std::uint8_t>{0, 1}));
    const Tensor bytes = Generated(kind, {1, 3, 64, 64}, DType::kUInt8);
    EXPECT_GT(std::ranges::max(bytes.As<std::uint8_t>()), 150) << Name(kind);
  }
}

TEST(GeneratorTest, ConstantsAreTheirValueInEveryDtype) {
  const InputSpec spec{.name = "x",
                       .shape = {3000},
                       .generator = GeneratorKind::kConstant,
                       .value = 0.1};
  const Tensor floats = Generated(spec);
  for (const float value : floats.As<float>()) ASSERT_EQ(value, 0.1F);
  InputSpec too_large = spec;
  too_large.dtype = DType::kUInt8;
  too_large.value = 300;
  const Tensor bytes = Generated(too_large);
  for (const std::uint8_t value : bytes.As<std::uint8_t>())
    ASSERT_EQ(value, 255);
}

}  // namespace
}  // namespace parity
