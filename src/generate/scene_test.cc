#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "generate/generator.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::int64_t kHeight = 180;
constexpr std::int64_t kWidth = 320;
// Both pictures carry noise of ±0.01.
constexpr double kBothNoises = 0.0201;

InputSpec Scene(const char* name, const Shape& shape) {
  return {.name = name, .shape = shape, .generator = GeneratorKind::kScene};
}

// The largest difference over the channels, at each pixel of each image.
std::vector<std::vector<double>> Differences(const Tensor& a, const Tensor& b) {
  const auto x = a.As<float>();
  const auto y = b.As<float>();
  const auto plane = static_cast<std::size_t>(kHeight * kWidth);
  std::vector<std::vector<double>> images(
      static_cast<std::size_t>(a.shape()[0]), std::vector<double>(plane));
  for (std::size_t image = 0; image < images.size(); ++image) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      for (std::size_t i = 0; i < plane; ++i) {
        const std::size_t at = (3 * image + channel) * plane + i;
        images[image][i] = std::max(
            images[image][i], std::abs(static_cast<double>(x[at]) - y[at]));
      }
    }
  }
  return images;
}

NamedTensors Pair(std::uint64_t seed) {
  const Shape shape{2, 3, kHeight, kWidth};
  return *GenerateInputs(std::vector{Scene("src", shape), Scene("bgr", shape)},
                         seed);
}

TEST(SceneTest, ThePersonCoversAPlausiblePartAndTheRestIsTheRoom) {
  for (const std::uint64_t seed : {0U, 1U, 2U, 3U}) {
    const NamedTensors pair = Pair(seed);
    for (const std::vector<double>& image :
         Differences(pair[0].tensor, pair[1].tensor)) {
      const auto changed = std::ranges::count_if(
          image, [](double d) { return d > kBothNoises; });
      const double part =
          static_cast<double>(changed) / static_cast<double>(image.size());
      EXPECT_GT(part, 0.12) << seed;
      EXPECT_LT(part, 0.4) << seed;
      // Clearly different inside, not a faint shadow.
      EXPECT_GT(std::ranges::max(image), 0.3) << seed;
      // The whole top edge and both upper corners are the empty room.
      for (std::size_t x = 0; x < kWidth * 10; ++x)
        ASSERT_LE(image[x], kBothNoises);
    }
  }
}

TEST(SceneTest, TheOutlineIsSoft) {
  const NamedTensors pair = Pair(0);
  const auto images = Differences(pair[0].tensor, pair[1].tensor);
  const auto room = pair[1].tensor.As<float>();
  for (std::size_t image = 0; image < images.size(); ++image) {
    const std::vector<double>& difference = images[image];
    const std::size_t start = 3 * image * difference.size();
    double steepest = 0;
    for (std::size_t i = 0; i + 1 < difference.size(); ++i) {
      // Where the room itself has no edge, the person's is the only one.
      bool smooth = (i + 1) % kWidth != 0;
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const std::size_t at = start + channel * difference.size() + i;
        smooth = smooth && std::abs(room[at] - room[at + 1]) < 0.05F;
      }
      if (smooth)
        steepest =
            std::max(steepest, std::abs(difference[i + 1] - difference[i]));
    }
    // A hard outline would step by nearly the whole difference.
    const double largest = std::ranges::max(difference);
    EXPECT_LT(steepest, 0.5 * largest);
    EXPECT_GT(steepest, 0.05 * largest);
  }
}

TEST(SceneTest, EachImageOfABatchHasItsOwnRoomAndPerson) {
  const NamedTensors pair = Pair(0);
  for (const NamedTensor& entry : pair) {
    const auto values = entry.tensor.As<float>();
    const std::size_t half = values.size() / 2;
    double difference = 0;
    for (std::size_t i = 0; i < half; ++i)
      difference += std::abs(values[i] - values[half + i]);
    EXPECT_GT(difference / static_cast<double>(half), 0.05) << entry.name;
  }
}

TEST(SceneTest, OnlyAMatchingPairSharesItsRoom) {
  const Shape shape{1, 3, kHeight, kWidth};
  const auto shares_room = [](const std::vector<InputSpec>& specs) {
    const NamedTensors tensors = *GenerateInputs(specs, 0);
    const auto image =
        Differences(tensors[0].tensor, tensors[1].tensor).front();
    return *std::max_element(image.begin(), image.begin() + kWidth) <=
           kBothNoises;
  };
  EXPECT_TRUE(shares_room({Scene("src", shape), Scene("bgr", shape)}));
  EXPECT_TRUE(shares_room({Scene("bgr", shape), Scene("src", shape)}));
  EXPECT_FALSE(shares_room({Scene("left", shape), Scene("right", shape)}));
  EXPECT_FALSE(shares_room({Scene("src", shape), Scene("src2", shape)}));
}

TEST(SceneTest, APairOfDifferentShapesIsTwoPicturesOfEmptyRooms) {
  const auto tensors = GenerateInputs(
      std::vector{Scene("src", {1, 3, 8, 8}), Scene("bgr", {1, 3, 8, 9})}, 0);
  ASSERT_TRUE(tensors.has_value());
  const auto alone = GenerateInput(Scene("src", {1, 3, 8, 8}), 0);
  EXPECT_TRUE(std::ranges::equal((*tensors)[0].tensor.bytes(), alone->bytes()));
}

}  // namespace
}  // namespace parity
