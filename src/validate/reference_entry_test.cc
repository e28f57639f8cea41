#include "validate/reference_entry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "diagnose/testing/fake_sides.h"
#include "formats/safetensors/safetensors_writer.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/reference_identity.h"

namespace parity {
namespace {

const std::vector<FileStamp> kLibraries = {
    {.path = "/usr/lib/libtorch cpu.so", .bytes = 12, .modified_ns = -7},
    {.path = "/usr/lib/libm.so.6", .bytes = 1'234'567'890'123}};

TEST(ReferenceEntryTest, ALoadComesBackAsItWas) {
  LoadEntry entry;
  entry.loaded = {.version = "libtorch 2.6.0",
                  .input_names = {"src", "bgr"},
                  .output_names = {"pha", "", "fgr"},
                  .notes = {"one\nof two lines", "“quotes”, \"quotes\""},
                  .kernels = "native (OpenBLAS)",
                  .load_ms = 0.1};
  entry.weights_sha256 = "abc";
  entry.notes = {"3 keys are missing"};
  entry.libraries = kLibraries;
  const auto payload = Encode(entry);
  ASSERT_TRUE(payload.has_value());
  const auto again = DecodeLoadEntry(*payload, nullptr);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->loaded.version, entry.loaded.version);
  EXPECT_EQ(again->loaded.input_names, entry.loaded.input_names);
  EXPECT_EQ(again->loaded.output_names, entry.loaded.output_names);
  EXPECT_EQ(again->loaded.notes, entry.loaded.notes);
  EXPECT_EQ(again->loaded.kernels, entry.loaded.kernels);
  EXPECT_EQ(again->loaded.load_ms, entry.loaded.load_ms);
  EXPECT_EQ(again->weights_sha256, entry.weights_sha256);
  EXPECT_EQ(again->notes, entry.notes);
  EXPECT_EQ(again->libraries, entry.libraries);
}

TEST(ReferenceEntryTest, ARunComesBackAsItWas) {
  RunEntry entry;
  entry.run = {.outputs = {{.name = "b", .tensor = Float32({1, 2}, {2, 1})},
                           {.name = "a", .tensor = Int64({-3})},
                           {.name = "none", .tensor = Float64({}, {0, 4})}},
               .run_ms = 17.25,
               .changed_inputs = {"src"},
               .peak_rss_bytes = 123'456'789'012};
  entry.libraries = kLibraries;
  const auto payload = Encode(entry);
  ASSERT_TRUE(payload.has_value());
  const auto again = DecodeRunEntry(*payload, nullptr);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  ASSERT_EQ(again->run.outputs.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const NamedTensor& expected = entry.run.outputs[i];
    const NamedTensor& actual = again->run.outputs[i];
    EXPECT_EQ(actual.name, expected.name);
    EXPECT_EQ(actual.tensor.dtype(), expected.tensor.dtype());
    EXPECT_EQ(actual.tensor.shape(), expected.tensor.shape());
    EXPECT_TRUE(
        std::ranges::equal(actual.tensor.bytes(), expected.tensor.bytes()));
  }
  EXPECT_EQ(again->run.run_ms, entry.run.run_ms);
  EXPECT_EQ(again->run.changed_inputs, entry.run.changed_inputs);
  EXPECT_EQ(again->run.peak_rss_bytes, entry.run.peak_rss_bytes);
  EXPECT_EQ(again->libraries, entry.libraries);
}

TEST(ReferenceEntryTest, WhatIsNoEntryIsCorrupt) {
  EXPECT_EQ(DecodeRunEntry({}, nullptr).error().code, ErrorCode::kCorrupt);
  const auto load = Encode(LoadEntry{.libraries = kLibraries});
  ASSERT_TRUE(load.has_value());
  EXPECT_EQ(DecodeRunEntry(*load, nullptr).error().code, ErrorCode::kCorrupt);
  // A count that nothing stands behind takes no memory.
  std::vector<std::byte> image(SafetensorsSize(
      {}, {{"run_ms", "1"}, {"changed_inputs", "999999999999"}}));
  ASSERT_TRUE(WriteSafetensorsTo(
      image, {}, {{"run_ms", "1"}, {"changed_inputs", "999999999999"}}));
  EXPECT_EQ(DecodeRunEntry(image, nullptr).error().code, ErrorCode::kCorrupt);
}

TEST(ReferenceEntryTest, ATensorTheFormatLacksIsAnError) {
  RunEntry entry;
  entry.run.outputs = {
      {.name = "z", .tensor = *Tensor::Allocate(DType::kComplex128, {1})}};
  EXPECT_EQ(Encode(entry).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace parity
