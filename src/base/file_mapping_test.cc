#include "base/file_mapping.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

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

  [[nodiscard]] static std::string Text(const FileMapping& mapping) {
    return {reinterpret_cast<const char*>(mapping.bytes().data()),
            mapping.bytes().size()};
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

TEST_F(FileMappingTest, ADeviceIsWrittenToAndNeverReplaced) {
  auto file = AtomicFile::Create("/dev/full");
  ASSERT_TRUE(file.has_value());
  const Status written = file->Write("x");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().message,
            "cannot write /dev/full: No space left on device");
  auto nothing = AtomicFile::Create("/dev/null");
  ASSERT_TRUE(nothing.has_value());
  ASSERT_TRUE(nothing->Write("x").has_value());
  ASSERT_TRUE(nothing->Commit().has_value());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(FileMappingTest, ALinkKeepsPointingToTheFileThatIsReplaced) {
  std::ofstream(folder_ / "real") << "old";
  std::filesystem::create_symlink("real", folder_ / "link");
  auto file = AtomicFile::Create(folder_ / "link");
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(file->Write("new").has_value() && file->Commit().has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(Content(folder_ / "real"), "new");
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
  const auto descriptor = std::move(*memory).Seal();
  ASSERT_TRUE(descriptor.has_value());
  const auto mapping = FileMapping::FromSealed(descriptor->get(), "tensors");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(Text(**mapping), "hello");
}

TEST_F(FileMappingTest, MemoryFilesGrowWithWhatIsWritten) {
  auto memory = MemoryFile::Create("tensors");
  ASSERT_TRUE(memory.has_value());
  EXPECT_TRUE(memory->Write("one, ").has_value());
  EXPECT_TRUE(memory->Write("").has_value());
  EXPECT_TRUE(memory->Write("two").has_value());
  const auto descriptor = std::move(*memory).Seal();
  ASSERT_TRUE(descriptor.has_value());
  const auto mapping = FileMapping::FromSealed(descriptor->get(), "tensors");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_EQ(Text(**mapping), "one, two");
}

TEST_F(FileMappingTest, SealedMemoryFilesCannotBeCutShortOrWritten) {
  auto memory = MemoryFile::Create("tensors", 5);
  ASSERT_TRUE(memory.has_value());
  const auto descriptor = std::move(*memory).Seal();
  ASSERT_TRUE(descriptor.has_value());
  EXPECT_EQ(::ftruncate(descriptor->get(), 0), -1);
  EXPECT_EQ(::ftruncate(descriptor->get(), 10), -1);
  EXPECT_EQ(::pwrite(descriptor->get(), "bye", 3, 0), -1);
}

TEST_F(FileMappingTest, UnsealedDescriptorsAreRefused) {
  const UniqueFd memory(::memfd_create("tensors", MFD_ALLOW_SEALING));
  std::ofstream(folder_ / "file") << "text";
  const UniqueFd file(::open((folder_ / "file").c_str(), O_RDONLY));
  for (const int descriptor : {memory.get(), file.get(), -1}) {
    const auto mapping = FileMapping::FromSealed(descriptor, "outputs");
    ASSERT_FALSE(mapping.has_value());
    EXPECT_EQ(mapping.error().message, "outputs came in no sealed memory file");
  }
}

TEST_F(FileMappingTest, CopyOnWriteChangesNoOtherMapping) {
  auto memory = MemoryFile::Create("tensors", 5);
  ASSERT_TRUE(memory.has_value());
  std::memcpy(memory->bytes().data(), "hello", 5);
  const auto descriptor = std::move(*memory).Seal();
  ASSERT_TRUE(descriptor.has_value());
  const auto original = FileMapping::FromSealed(descriptor->get(), "tensors");
  const auto copy = FileMapping::FromSealed(descriptor->get(), "tensors",
                                            MappingAccess::kCopyOnWrite);
  ASSERT_TRUE(original.has_value() && copy.has_value());
  std::memcpy(const_cast<std::byte*>((*copy)->bytes().data()), "J", 1);
  EXPECT_EQ(Text(**copy), "Jello");
  EXPECT_EQ(Text(**original), "hello");
}

TEST(AtomicFileTest, AFileThatOthersRemoveMeanwhileIsMadeAllTheSame) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      ("atomic_file_race_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::filesystem::path path = folder / "file";
  std::atomic<bool> done = false;
  std::thread remover([&] {
    while (!done) ::unlink(path.c_str());
  });
  int failures = 0;
  for (int i = 0; i < 5000; ++i) {
    auto file = AtomicFile::Create(path);
    if (!file || !file->Write("text") || !file->Commit()) ++failures;
  }
  done = true;
  remover.join();
  std::filesystem::remove_all(folder);
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace parity
