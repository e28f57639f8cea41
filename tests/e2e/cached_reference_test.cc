// Results of the reference that are kept between runs of the real program:
// PyTorch computes once, and nothing else about a validation changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ios>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sweep_report.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class CachedReferenceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_folder = new TestFolder;
    exported = RunTool({"export", "--output", Model()});
  }
  static void TearDownTestSuite() { delete shared_folder; }
  void SetUp() override { ASSERT_EQ(exported.exit_code, 0) << exported.err; }

  static std::string Model() { return *shared_folder / "model.onnx"; }
  [[nodiscard]] std::string Cache() const { return folder_ / "cache"; }

  [[nodiscard]] std::vector<std::string> Arguments(
      const std::string& report) const {
    return {"validate", Model(), "--shape", "src=1x3x128x160",
            "--cache",  Cache(), "--json",  folder_ / report};
  }
  Json Validate(const ToolOptions& options = {}) {
    run_ = RunTool(Arguments("report.json"), options);
    return ReadJson(folder_ / "report.json");
  }
  [[nodiscard]] std::vector<fs::path> Entries() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(Cache() + "/references"))
      paths.push_back(entry.path());
    return paths;
  }

  // Workers of which the reference's looks as the real one and does not run.
  [[nodiscard]] ToolOptions WithoutTorch() const {
    const fs::path real = fs::path(PARITY_BINARY_DIR) / "workers";
    const fs::path workers = folder_.path() / "workers";
    fs::create_directory(workers);
    fs::create_symlink(real / "onnx-parity-ort", workers / "onnx-parity-ort");
    const fs::path original = real / "onnx-parity-torch";
    const fs::path torch = workers / "onnx-parity-torch";
    std::ofstream(torch) << "no program";
    fs::resize_file(torch, fs::file_size(original));
    fs::permissions(torch, fs::perms::owner_all);
    fs::last_write_time(torch, fs::last_write_time(original));
    return {.environment = {{"ONNX_PARITY_WORKERS", workers.string()}},
            .folder = {}};
  }

  static TestFolder* shared_folder;
  static ToolRun exported;
  TestFolder folder_;
  ToolRun run_;
};
TestFolder* CachedReferenceTest::shared_folder = nullptr;
ToolRun CachedReferenceTest::exported;

// What must not depend on where the reference came from.
Json Essence(const Json& report) {
  Json outputs = Json::array();
  for (const Json& entry : report["cases"]) {
    for (const Json& output : entry["outputs"]) {
      outputs.push_back({output["name"], output["shape"], output["passed"],
                         output["comparison"]["expected_rms"],
                         output["comparison"]["max_abs_expected"],
                         output["comparison"]["expected_nonfinite"]});
    }
  }
  return {report["verdict"],
          report["cause"],
          report["node"],
          report["notes"],
          report["weights_sha256"],
          report["reference"]["version"],
          report["reference"]["model"],
          report["reference"]["kernels"],
          outputs};
}

TEST_F(CachedReferenceTest, TheSecondValidationIsTheSameWithoutPyTorch) {
  const Json first = Validate();
  ASSERT_EQ(run_.exit_code, 0) << run_.out << run_.err;
  EXPECT_FALSE(first["reference"]["cached"].get<bool>());
  EXPECT_THAT(run_.out, Not(HasSubstr("from the cache")));
  const Json second = Validate(WithoutTorch());
  ASSERT_EQ(run_.exit_code, 0) << run_.out << run_.err;
  EXPECT_TRUE(second["reference"]["cached"].get<bool>());
  EXPECT_FALSE(second["candidate"]["cached"].get<bool>());
  EXPECT_THAT(run_.out, HasSubstr("; from the cache\n"));
  EXPECT_EQ(Essence(second), Essence(first));
  EXPECT_EQ(second["cases"][0]["reference_run_ms"],
            first["cases"][0]["reference_run_ms"]);
  EXPECT_EQ(second["reference"]["peak_rss_bytes"],
            first["reference"]["peak_rss_bytes"]);
}

TEST_F(CachedReferenceTest, WithoutTheFlagNothingIsKeptOrFound) {
  ASSERT_EQ(Validate()["verdict"], "passed");
  const ToolRun run = RunTool(
      {"validate", Model(), "--shape", "src=1x3x128x160"}, WithoutTorch());
  EXPECT_EQ(run.exit_code, 2);
}

TEST_F(CachedReferenceTest, AnExportsValidationUsesItToo) {
  ASSERT_EQ(Validate()["verdict"], "passed");
  const ToolRun run =
      RunTool({"export", "--output", folder_ / "again.onnx", "--validate",
               "--shape", "src=1x3x128x160", "--cache", Cache()},
              WithoutTorch());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("; from the cache\n"),
                             EndsWith("Validation passed.\n")));
}

TEST_F(CachedReferenceTest, OtherInputsAreComputed) {
  ASSERT_EQ(Validate()["verdict"], "passed");
  std::vector<std::string> arguments = Arguments("report.json");
  arguments.insert(arguments.end(), {"--seed", "1"});
  EXPECT_EQ(RunTool(arguments).exit_code, 0);
  EXPECT_FALSE(
      ReadJson(folder_ / "report.json")["reference"]["cached"].get<bool>());
  EXPECT_THAT(Entries(), SizeIs(3));  // one load, two runs
}

TEST_F(CachedReferenceTest, ADamagedEntryIsComputedAgain) {
  const Json first = Validate();
  ASSERT_EQ(first["verdict"], "passed");
  for (const fs::path& path : Entries()) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x55');
  }
  Json second = Validate();
  EXPECT_EQ(run_.exit_code, 0) << run_.out << run_.err;
  EXPECT_FALSE(second["reference"]["cached"].get<bool>());
  EXPECT_THAT(run_.out, HasSubstr("note a damaged entry of the cache"));
  second["notes"] = first["notes"];
  EXPECT_EQ(Essence(second), Essence(first));
  EXPECT_TRUE(Validate()["reference"]["cached"].get<bool>());
}

TEST_F(CachedReferenceTest, ValidationsAtTheSameTimeShareACache) {
  {
    StartedTool one(Arguments("one.json"), {});
    StartedTool two(Arguments("two.json"), {});
    const ToolRun first = one.Finish();
    const ToolRun second = two.Finish();
    EXPECT_EQ(first.exit_code, 0) << first.out << first.err;
    EXPECT_EQ(second.exit_code, 0) << second.out << second.err;
  }
  EXPECT_EQ(Essence(ReadJson(folder_ / "one.json")),
            Essence(ReadJson(folder_ / "two.json")));
  EXPECT_THAT(Entries(), SizeIs(2));  // neither locks nor halves
  EXPECT_TRUE(Validate()["reference"]["cached"].get<bool>());
}

TEST_F(CachedReferenceTest, AFolderThatCannotBeUsedIsOneLine) {
  std::ofstream(Cache()) << "a file";
  const Json report = Validate();
  EXPECT_EQ(run_.exit_code, 2);
  EXPECT_THAT(run_.out, IsEmpty());
  EXPECT_THAT(run_.err, AllOf(HasSubstr("cache folder"), HasSubstr(Cache())));
  EXPECT_EQ(std::ranges::count(run_.err, '\n'), 1);
  EXPECT_EQ(report["verdict"], "error");
}

TEST_F(CachedReferenceTest, AFullDiskLosesTheEntryNotTheResult) {
  fs::create_directory(Cache());
  // Room for how the reference loads, not for what it computes.
  if (::mount("tmpfs", Cache().c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "this user may not mount a small file system: "
                 << std::strerror(errno);
  }
  const Json report = Validate();
  const std::size_t entries = Entries().size();
  ::umount2(Cache().c_str(), MNT_DETACH);
  EXPECT_EQ(run_.exit_code, 0) << run_.out << run_.err;
  EXPECT_EQ(report["verdict"], "passed");
  EXPECT_THAT(run_.out,
              HasSubstr("note could not keep the reference's results "
                        "in " +
                        Cache() + "/references: No space left on device\n"));
  EXPECT_EQ(entries, 1U);
}

TEST_F(CachedReferenceTest, ASizeIsASize) {
  std::vector<std::string> arguments = Arguments("report.json");
  arguments.insert(arguments.end(), {"--cache-size", "large"});
  const ToolRun run = RunTool(arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--cache-size: 'large' is not a size"));
}

TEST_F(CachedReferenceTest, WhatDoesNotFitIsNotKept) {
  std::vector<std::string> arguments = Arguments("report.json");
  arguments.insert(arguments.end(), {"--cache-size", "20KB"});
  const ToolRun run = RunTool(arguments);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("was not kept"));
  EXPECT_THAT(Entries(), SizeIs(1));
}

// A failure is explained as if the reference had been computed.
class ExplainedFromTheCacheTest : public ::testing::TestWithParam<const char*> {
};

TEST_P(ExplainedFromTheCacheTest, TheCauseAndTheNodeAreTheSame) {
  const TestFolder folder;
  const fs::path data = fs::path(PARITY_TEST_DATA) / "cases" / GetParam();
  const Json label = ReadJson(data / "case.json");
  std::vector<std::string> arguments = {
      "validate",       data / "model.onnx",
      "--torchscript",  data / "reference.pt",
      "--criterion",    "noise",
      "--provider",     label["runtime"]["provider"],
      "--optimization", label["runtime"]["optimization"],
      "--json",         folder / "report.json"};
  for (const std::string set : label["sets"]) {
    arguments.insert(arguments.end(),
                     {"--inputs", data / "inputs" / (set + ".safetensors")});
  }
  const auto validate = [&] {
    EXPECT_EQ(RunTool(arguments).exit_code, 1);
    return ReadJson(folder / "report.json");
  };
  const Json computed = validate();
  arguments.insert(arguments.end(), {"--cache", folder / "cache"});
  const Json first = validate();
  const Json second = validate();
  ASSERT_TRUE(second.is_object());
  EXPECT_FALSE(first["reference"]["cached"].get<bool>());
  EXPECT_TRUE(second["reference"]["cached"].get<bool>());
  EXPECT_EQ(computed["cause"], label["expect"]["cause"]);
  for (const Json& report : {first, second}) {
    EXPECT_EQ(Essence(report), Essence(computed));
    ASSERT_EQ(report["findings"].size(), computed["findings"].size());
    for (std::size_t i = 0; i < report["findings"].size(); ++i)
      EXPECT_EQ(report["findings"][i]["message"],
                computed["findings"][i]["message"]);
    for (std::size_t i = 0; i < report["cases"].size(); ++i) {
      const Json& outputs = report["cases"][i]["outputs"];
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        EXPECT_EQ(
            outputs[k]["budget"]["reference_error"],
            computed["cases"][i]["outputs"][k]["budget"]["reference_error"]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ExplainedFromTheCacheTest,
                         ::testing::Values("12-epsilon-dropped",
                                           "16-nearest-one-pixel",
                                           "19-batchnorm-in-train-mode"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace parity
