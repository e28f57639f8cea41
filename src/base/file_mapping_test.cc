#include "base/file_mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "parity/error.h"

namespace parity {
namespace {

class FileMappingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::temp_directory_path() / ("onnx-parity-" + name);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] static std::string Content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(FileMappingTest, MissingFilesAndFoldersAreErrorsThatNameThePath) {
  const auto missing = FileMapping::Open(folder_ / "nothing");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message,
              ::testing::HasSubstr((folder_ / "nothing").string()));
  const auto folder = FileMapping::Open(folder_);
  ASSERT_FALSE(folder.has_value());
  EXPECT_THAT(folder.error().message, ::testing::HasSubstr("is a folder"));
  EXPECT_FALSE(FileMapping::Open("/dev/null").has_value());
}

TEST_F(FileMappingTest, AnEmptyFileIsMapped) {
  std::ofstream(folder_ / "empty").close();
  const auto mapping = FileMapping::Open(folder_ / "empty");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_TRUE((*mapping)->bytes().empty());
}

TEST_F(FileMappingTest, AFileAppearsOnlyWhenComplete) {
  const std::filesystem::path path = folder_ / "report.json";
  std::ofstream(path) << "old";
  {
    auto file = AtomicFile::Create(path);
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(file->Write("new").has_value());
    EXPECT_EQ(Content(path), "old");
    ASSERT_TRUE(file->Commit().has_value());
  }
  EXPECT_EQ(Content(path), "new");
}

TEST_F(FileMappingTest, AnAbandonedFileLeavesNothing) {
  {
    auto file = AtomicFile::Create(folder_ / "report.json");
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(file->Write("half").has_value());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(FileMappingTest, AnInterruptedFileIsRemovedByTheHandler) {
  auto file = AtomicFile::Create(folder_ / "report.json");
  ASSERT_TRUE(file.has_value());
  RemoveTemporaryFiles();
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(FileMappingTest, AnUnwritableFolderIsAnError) {
  auto file = AtomicFile::Create(folder_ / "nowhere" / "report.json");
  ASSERT_FALSE(file.has_value());
  EXPECT_THAT(file.error().message,
              ::testing::HasSubstr("No such file or directory"));
}

TEST_F(FileMappingTest, MemoryFilesAreSeenThroughTheirDescriptor) {
  auto memory = MemoryFile::Create("tensors", 5);
  ASSERT_TRUE(memory.has_value());
  std::memcpy(memory->bytes().data(), "hello", 5);
  const UniqueFd descriptor = std::move(*memory).TakeDescriptor();
  const auto mapping = FileMapping::FromDescriptor(descriptor.get(), "tensors");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(
      std::string(reinterpret_cast<const char*>((*mapping)->bytes().data()), 5),
      "hello");
}

}  // namespace
}  // namespace parity
