#include "validate/reference_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::SizeIs;
namespace fs = std::filesystem;

class ReferenceIdentityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (fs::temp_directory_path() / "reference-identity-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    Write("worker", "program");
    Write("model.pt", "weights");
    options_.request.kind = ModelKind::kTorchScript;
    options_.request.path = folder_ / "model.pt";
    options_.program = folder_ / "worker";
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name) << text;
  }
  [[nodiscard]] ReferenceIdentity Identify() const {
    return *IdentifyReference(options_);
  }

  fs::path folder_;
  IdentityOptions options_;
};

TEST_F(ReferenceIdentityTest, EveryIngredientCounts) {
  const auto original = Identify().facts;
  EXPECT_EQ(Identify().facts, original);
  const IdentityOptions options = options_;
  LoadRequest& request = options_.request;
  const std::vector<std::function<void()>> changes = {
      [&] { request.attributes["refine_mode"] = "full"; },
      [&] { request.output_names = {"a", "b"}; },
      [&] { request.output_names = {"a,b"}; },
      [&] { request.precision = "float64"; },
      [&] { request.reference_kernels = "native"; },
      [&] { request.threads = 1000; },
      [&] { options_.allow_missing_keys = true; },
      [&] { request.kind = ModelKind::kNetwork; },
      [&] {
        request.kind = ModelKind::kNetwork;
        options_.synthetic_seed = 1;
      },
      [&] {
        request.kind = ModelKind::kNetwork;
        options_.checkpoint = request.path;
      },
      [&] { Write("model.pt", "weightz"); },
      [&] { Write("worker", "another program"); },
      [] { ::setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1); },
      [] { ::setenv("LD_AUDIT", "/opt/audit.so", 1); },
  };
  std::vector<std::map<std::string, std::string>> seen = {original};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i]();
    const auto facts = Identify().facts;
    EXPECT_FALSE(std::ranges::contains(seen, facts)) << "change " << i;
    seen.push_back(facts);
    options_ = options;
  }
  ::unsetenv("ONEDNN_MAX_CPU_ISA");
  ::unsetenv("LD_AUDIT");
}

TEST_F(ReferenceIdentityTest, WhereFilesAreDoesNotCount) {
  const auto original = Identify().facts;
  fs::rename(folder_ / "model.pt", folder_ / "copy.pt");
  fs::rename(folder_ / "worker", folder_ / "moved");
  options_.request.path = folder_ / "copy.pt";
  options_.program = folder_ / "moved";
  EXPECT_EQ(Identify().facts, original);
}

TEST_F(ReferenceIdentityTest, AChangeOfTheWeightsIsSeenLater) {
  const ReferenceIdentity identity = Identify();
  EXPECT_THAT(identity.sources, SizeIs(1));
  EXPECT_TRUE(AreUnchanged(identity.sources));
  fs::last_write_time(folder_ / "model.pt", fs::file_time_type::clock::now() +
                                                std::chrono::seconds(1));
  EXPECT_FALSE(AreUnchanged(identity.sources));
  fs::remove(folder_ / "model.pt");
  EXPECT_FALSE(AreUnchanged(identity.sources));
  EXPECT_THAT(IdentifyReference(options_).error().message,
              HasSubstr("model.pt"));
}

TEST_F(ReferenceIdentityTest, AProcessorIsItsModelAndFeaturesNotItsClock) {
  const std::string_view first =
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
      "model\t\t: 1\nmodel name\t: AMD EPYC\nstepping\t: 1\n"
      "microcode\t: 0x1\ncpu MHz\t\t: 2450.000\nflags\t\t: fpu avx2\n\n"
      "processor\t: 1\nvendor_id\t: other\n";
  EXPECT_EQ(ProcessorOf(first),
            "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
            "model name\t: AMD EPYC\nstepping\t: 1\nflags\t\t: fpu avx2\n");
  EXPECT_FALSE(Identify().facts.at("processor").empty());
}

TEST_F(ReferenceIdentityTest, TheLibrariesOfAProcessAreListed) {
  const auto libraries = LibrariesOf(::getpid());
  ASSERT_TRUE(libraries.has_value()) << libraries.error().message;
  EXPECT_THAT(*libraries,
              Contains(Field(&FileStamp::path, HasSubstr("libstdc++.so"))));
  EXPECT_TRUE(AreUnchanged(*libraries));
  for (const FileStamp& library : *libraries) EXPECT_GT(library.bytes, 0);
  EXPECT_FALSE(LibrariesOf(999'999'999).has_value());
}

TEST_F(ReferenceIdentityTest, ALibraryReplacedWhileItRunsIsAnError) {
  Write("lib x.so.1", "code");
  const auto mapping = FileMapping::Open(folder_ / "lib x.so.1");
  ASSERT_TRUE(mapping.has_value());
  EXPECT_THAT(*LibrariesOf(::getpid()),
              Contains(Field(&FileStamp::path, folder_ / "lib x.so.1")));
  fs::remove(folder_ / "lib x.so.1");
  Write("lib x.so.1", "other");
  const auto libraries = LibrariesOf(::getpid());
  ASSERT_FALSE(libraries.has_value());
  EXPECT_THAT(libraries.error().message, HasSubstr("replaced meanwhile"));
}

}  // namespace
}  // namespace parity
