#include "validate/recorded_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "base/file_mapping.h"
#include "formats/onnx/onnx_test_data.h"
#include "formats/safetensors/safetensors_writer.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/contract.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

class RecordedBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("onnx-parity-") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    for (const char* name : {"a", "b"}) contract_.inputs.push_back(Value(name));
    contract_.outputs.push_back(Value("y"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static ValueInfo Value(const std::string& name) {
    ValueInfo value;
    value.name = name;
    return value;
  }
  static NamedTensor Row(const std::string& name,
                         const std::vector<float>& values) {
    return {.name = name,
            .tensor = *Tensor::From<float>(
                DType::kFloat32, {static_cast<std::int64_t>(values.size())},
                std::span(values))};
  }
  std::filesystem::path Safetensors(const NamedTensors& tensors) const {
    std::filesystem::path path = folder_ / "r.safetensors";
    auto file = AtomicFile::Create(path);
    EXPECT_TRUE(file.has_value() &&
                WriteSafetensors(*file, tensors, {}).has_value() &&
                file->Commit().has_value());
    return path;
  }

  std::filesystem::path folder_;
  Contract contract_;
};

TEST_F(RecordedBackendTest, InputsAreWhatTheModelCallsSo) {
  const auto recordings = ReadRecordings(
      Safetensors({Row("y", {3}), Row("b", {2}), Row("a", {1})}), contract_);
  ASSERT_TRUE(recordings.has_value()) << recordings.error().message;
  ASSERT_EQ(recordings->size(), 1U);
  EXPECT_EQ((*recordings)[0].inputs[0].name, "a");
  EXPECT_EQ((*recordings)[0].outputs[0].name, "y");
}

TEST_F(RecordedBackendTest, WhatIsNotRecordedIsNamed) {
  EXPECT_THAT(
      ReadRecordings(Safetensors({Row("a", {1}), Row("y", {1})}), contract_)
          .error()
          .message,
      HasSubstr("input b of the model is not recorded"));
  EXPECT_THAT(
      ReadRecordings(Safetensors({Row("a", {1}), Row("b", {1})}), contract_)
          .error()
          .message,
      HasSubstr("no outputs are recorded"));
  EXPECT_FALSE(ReadRecordings(folder_ / "missing.npz", contract_).has_value());
}

TEST_F(RecordedBackendTest, UnnamedTensorsOfATestDataSetGoByTheirNumber) {
  const RecordedSet set{.inputs = {Row("", {1}), Row("b", {2})},
                        .outputs = {Row("", {3})}};
  for (const char* name : {"test_data_set_0", "test_data_set_1"})
    ASSERT_TRUE(WriteTestDataSet(set, folder_ / name).has_value());
  const auto one = ReadRecordings(folder_ / "test_data_set_0/", contract_);
  ASSERT_TRUE(one.has_value()) << one.error().message;
  EXPECT_EQ((*one)[0].name, "test_data_set_0");
  EXPECT_EQ((*one)[0].inputs[0].name, "a");
  EXPECT_EQ((*one)[0].outputs[0].name, "y");
  EXPECT_EQ(ReadRecordings(folder_, contract_)->size(), 2U);
}

TEST_F(RecordedBackendTest, OnlyRecordedInputsHaveAnAnswer) {
  RecordedBackend backend(
      {{.name = "r", .inputs = {Row("a", {1})}, .outputs = {Row("y", {2})}}});
  const auto answer = backend.Run({.inputs = {Row("a", {1})}});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->outputs[0].tensor.As<float>()[0], 2);
  EXPECT_FALSE(backend.Run({.inputs = {Row("a", {5})}}).has_value());
  EXPECT_FALSE(backend.Run({.inputs = {Row("c", {1})}}).has_value());
}

TEST_F(RecordedBackendTest, InputFilesMayHoldMoreThanTheInputs) {
  const auto inputs = ReadInputs(
      Safetensors({Row("y", {3}), Row("b", {2}), Row("a", {1})}), contract_);
  ASSERT_TRUE(inputs.has_value());
  ASSERT_EQ(inputs->size(), 2U);
  EXPECT_EQ((*inputs)[0].name, "a");
  EXPECT_THAT(
      ReadInputs(Safetensors({Row("a", {1})}), contract_).error().message,
      HasSubstr("no tensor for input b"));
}

}  // namespace
}  // namespace parity
