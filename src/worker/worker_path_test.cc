#include "worker/worker_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <format>
#include <fstream>

#include "parity/error.h"

namespace parity {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class WorkerPathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              std::format("onnx-parity-path-{}", ::getpid());
    fs::create_directories(folder_ / "bin");
  }
  void TearDown() override {
    ::unsetenv(kWorkersVariable);
    fs::remove_all(folder_);
  }
  void MakeProgram(const fs::path& path) const {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/true\n";
    fs::permissions(path, fs::perms::owner_all);
  }

  fs::path folder_;
};

TEST_F(WorkerPathTest, ProgramsAreFoundInstalledAndBuilt) {
  for (const char* const place :
       {"workers/w", "bin/workers/w", "bin/w", "libexec/onnx-parity/w"}) {
    SCOPED_TRACE(place);
    // Each comes before the ones made earlier.
    MakeProgram(folder_ / place);
    const auto found = FindWorkerFrom(folder_ / "bin", "w");
    ASSERT_TRUE(found.has_value()) << found.error().message;
    EXPECT_EQ(*found, folder_ / place);
  }
}

TEST_F(WorkerPathTest, FoldersAndPlainFilesAreNoPrograms) {
  fs::create_directories(folder_ / "bin/w");
  fs::create_directories(folder_ / "workers");
  std::ofstream(folder_ / "workers/w") << "text";
  fs::permissions(folder_ / "workers/w", fs::perms::owner_read);
  EXPECT_FALSE(FindWorkerFrom(folder_ / "bin", "w").has_value());
}

TEST_F(WorkerPathTest, TheErrorNamesEveryPlace) {
  const auto found = FindWorkerFrom(folder_ / "bin", "onnx-parity-x");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::kNotFound);
  for (const char* const place :
       {"libexec/onnx-parity", "bin", "bin/workers", "workers"}) {
    EXPECT_THAT(found.error().message, HasSubstr((folder_ / place).string()));
  }
  EXPECT_THAT(found.error().message, HasSubstr("onnx-parity-x"));
  EXPECT_THAT(found.error().message, HasSubstr(kWorkersVariable));
}

TEST_F(WorkerPathTest, TheEnvironmentVariableNamesTheOnlyPlace) {
  MakeProgram(folder_ / "mine/w");
  ::setenv(kWorkersVariable, (folder_ / "mine").c_str(), 1);
  EXPECT_EQ(FindWorker("w").value_or(""), folder_ / "mine/w");
  EXPECT_FALSE(FindWorker("v").has_value());
}

TEST_F(WorkerPathTest, ProgramsBesideThisOneAreFound) {
  ::setenv(kWorkersVariable, "", 1);
  const fs::path own = fs::canonical("/proc/self/exe");
  EXPECT_EQ(FindWorker(own.filename().string()).value_or(""), own);
}

}  // namespace
}  // namespace parity
