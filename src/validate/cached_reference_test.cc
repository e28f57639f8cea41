#include "validate/cached_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "cache/content_cache.h"
#include "diagnose/testing/fake_sides.h"
#include "parity/error.h"
#include "validate/reference_identity.h"
#include "validate/reference_source.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
namespace fs = std::filesystem;

// What happens in the worker that these tests do without.
struct FakeWorker {
  LoadResult loaded = {.version = "libtorch 0",
                       .output_names = {"y"},
                       .notes = {"a probe"},
                       .kernels = "native",
                       .load_ms = 400};
  std::optional<Error> load_error;
  std::optional<Error> run_error;
  int made = 0;
  int prepared = 0;
  int runs = 0;
  std::function<void()> on_run;
};

// y = x + 1
class FakeReference : public Backend {
 public:
  explicit FakeReference(FakeWorker& worker) : worker_(worker) {}
  [[nodiscard]] std::string name() const override { return "reference"; }
  [[nodiscard]] Result<LoadResult> Load(
      const LoadRequest& /*request*/) override {
    if (worker_.load_error) return std::unexpected(*worker_.load_error);
    return worker_.loaded;
  }
  [[nodiscard]] Result<RunResult> Run(const RunRequest& request) override {
    ++worker_.runs;
    if (worker_.on_run) worker_.on_run();
    if (worker_.run_error) return std::unexpected(*worker_.run_error);
    RunResult result{
        .run_ms = 30, .changed_inputs = {"x"}, .peak_rss_bytes = 5'000'000'000};
    Numbers numbers;
    for (const float value : request.inputs.front().tensor.As<float>())
      numbers.push_back(value + 1);
    result.outputs = {{.name = "y", .tensor = Float32(numbers)}};
    if (request.trace) result.trace = {{.op = "aten::add"}};
    return result;
  }

 private:
  FakeWorker& worker_;
};

class CachedReferenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (fs::temp_directory_path() / "cached-reference-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    Write("libtorch.so", "library");
    Write("weights", "weights");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name) << text;
  }

  // A validation's reference, not loaded yet.
  std::unique_ptr<CachedReference> Make(std::int64_t max_bytes = 1'000'000) {
    CachedReferenceOptions options;
    options.identify = [this]() -> Result<ReferenceIdentity> {
      if (unidentified_) return Fail(ErrorCode::kNotFound, "no such file");
      return ReferenceIdentity{.facts = facts_,
                               .sources = {*StampOf(folder_ / "weights")}};
    };
    options.make = [this]() -> Result<std::unique_ptr<Backend>> {
      ++worker_.made;
      return std::make_unique<FakeReference>(worker_);
    };
    options.prepare = [this]() -> Result<ReferenceSource> {
      ++worker_.prepared;
      return ReferenceSource{.request = {},
                             .weights_sha256 = "digest",
                             .notes = {"2 keys are missing"}};
    };
    options.libraries = [this]() -> Result<std::vector<FileStamp>> {
      return std::vector{*StampOf(folder_ / "libtorch.so")};
    };
    options.interrupted = &interrupted_;
    return std::make_unique<CachedReference>(
        *ContentCache::Open(folder_ / "cache", max_bytes), std::move(options));
  }

  // A whole validation with these inputs: whether it needed the worker.
  bool NeedsWorker(const RunRequest& request) {
    const int before = worker_.made;
    const auto reference = Make();
    EXPECT_TRUE(reference->Load({}).has_value());
    EXPECT_TRUE(reference->Run(request).has_value());
    EXPECT_EQ(reference->cached(), worker_.made == before);
    EXPECT_THAT(reference->TakeNotes(), IsEmpty());
    return worker_.made > before;
  }

  [[nodiscard]] std::vector<fs::path> Entries() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder_ / "cache"))
      paths.push_back(entry.path());
    return paths;
  }

  fs::path folder_;
  FakeWorker worker_;
  bool unidentified_ = false;
  std::atomic<bool> interrupted_ = false;
  std::map<std::string, std::string> facts_ = {{"kind", "network"},
                                               {"threads", "2"}};
  RunRequest request_{.inputs = {{.name = "x", .tensor = Float32({1, 2})}}};
};

TEST_F(CachedReferenceTest, WhatWasComputedOnceNeedsNoWorkerAndNoWeights) {
  ASSERT_TRUE(NeedsWorker(request_));
  const auto reference = Make();
  const auto loaded = reference->Load({});
  ASSERT_TRUE(loaded.has_value());
  EXPECT_EQ(loaded->version, "libtorch 0");
  EXPECT_EQ(loaded->kernels, "native");
  EXPECT_THAT(loaded->notes, ElementsAre("a probe"));
  EXPECT_THAT(loaded->output_names, ElementsAre("y"));
  EXPECT_EQ(loaded->load_ms, 400);
  EXPECT_EQ(reference->weights_sha256(), "digest");
  EXPECT_THAT(reference->weights_notes(), ElementsAre("2 keys are missing"));
  const auto run = reference->Run(request_);
  ASSERT_TRUE(run.has_value());
  EXPECT_THAT(run->outputs[0].tensor.As<float>(), ElementsAre(2, 3));
  EXPECT_EQ(run->run_ms, 30);
  EXPECT_THAT(run->changed_inputs, ElementsAre("x"));
  EXPECT_EQ(run->peak_rss_bytes, 5'000'000'000);
  EXPECT_TRUE(reference->cached());
  EXPECT_EQ(worker_.made, 1);
  EXPECT_EQ(worker_.prepared, 1);
}

TEST_F(CachedReferenceTest, OutputsOutliveTheReferenceAndTheCache) {
  ASSERT_TRUE(NeedsWorker(request_));
  Result<RunResult> run = RunResult{};
  {
    const auto reference = Make();
    ASSERT_TRUE(reference->Load({}).has_value());
    run = reference->Run(request_);
  }
  fs::remove_all(folder_ / "cache");
  EXPECT_THAT(run->outputs[0].tensor.As<float>(), ElementsAre(2, 3));
}

TEST_F(CachedReferenceTest, AnythingThatChangesTheResultMisses) {
  ASSERT_TRUE(NeedsWorker(request_));
  const std::vector<std::function<void()>> changes = {
      [&] { request_.inputs[0].tensor = Float32({1, 3}); },
      [&] { request_.inputs[0].tensor = Float32({1, 2}, {2, 1}); },
      [&] { request_.inputs[0].tensor = Float32({1, 2}, {1, 2}); },
      [&] { request_.inputs[0].name = "z"; },
      [&] { request_.inputs.push_back({.name = "k", .tensor = Int64({1})}); },
      [&] { request_.inputs.pop_back(); },
      [&] { facts_["kind"] = "torchscript"; },
      [&] { facts_["threads"] = "3"; },
      [&] { facts_["new"] = ""; },
      [&] { Write("libtorch.so", "another library"); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    changes[i]();
    // Without the input that the change before the last one has added there is
    // nothing new.
    EXPECT_EQ(NeedsWorker(request_), i != 5);
    EXPECT_FALSE(NeedsWorker(request_));
  }
}

TEST_F(CachedReferenceTest, TracesAndSubsetsGoToTheWorkerAndAreNotKept) {
  ASSERT_TRUE(NeedsWorker(request_));
  RunRequest traced = request_;
  traced.trace = true;
  RunRequest subset = request_;
  subset.output_names = {"y"};
  const std::size_t entries = Entries().size();
  for (int i = 0; i < 2; ++i) {
    const auto reference = Make();
    ASSERT_TRUE(reference->Load({}).has_value());
    EXPECT_EQ(worker_.made, 1 + i);
    const auto run = reference->Run(traced);
    ASSERT_TRUE(run.has_value());
    EXPECT_EQ(run->trace.size(), 1U);
    EXPECT_TRUE(reference->Run(subset).has_value());
    EXPECT_FALSE(reference->cached());
    EXPECT_EQ(worker_.made, 2 + i);
  }
  EXPECT_EQ(worker_.runs, 5);
  EXPECT_EQ(Entries().size(), entries);
}

TEST_F(CachedReferenceTest, ErrorsAreNotKept) {
  worker_.load_error = {.code = ErrorCode::kBackend, .message = "no such key"};
  EXPECT_EQ(Make()->Load({}).error().message, "no such key");
  worker_.load_error.reset();
  worker_.run_error = {.code = ErrorCode::kBackend, .message = "bad shape"};
  {
    const auto reference = Make();
    ASSERT_TRUE(reference->Load({}).has_value());
    EXPECT_EQ(reference->Run(request_).error().message, "bad shape");
    // The worker is still there for other inputs.
    worker_.run_error.reset();
    EXPECT_TRUE(reference->Run(request_).has_value());
  }
  EXPECT_FALSE(NeedsWorker(request_));
}

// It was loaded once; that it cannot be now is no refusal of the inputs.
TEST_F(CachedReferenceTest, AWorkerThatCannotBeLoadedAgainIsDead) {
  ASSERT_TRUE(NeedsWorker(request_));
  worker_.load_error = {.code = ErrorCode::kBackend, .message = "gone"};
  request_.inputs[0].tensor = Float32({7});
  const auto reference = Make();
  ASSERT_TRUE(reference->Load({}).has_value());
  const auto run = reference->Run(request_);
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::kWorkerDied);
  EXPECT_EQ(run.error().message, "gone");
}

TEST_F(CachedReferenceTest, DamagedEntriesAreComputedAgain) {
  ASSERT_TRUE(NeedsWorker(request_));
  for (const fs::path& entry : Entries())
    fs::resize_file(entry, fs::file_size(entry) - 1);
  const auto reference = Make();
  ASSERT_TRUE(reference->Load({}).has_value());
  const auto run = reference->Run(request_);
  ASSERT_TRUE(run.has_value());
  EXPECT_THAT(run->outputs[0].tensor.As<float>(), ElementsAre(2, 3));
  EXPECT_THAT(reference->TakeNotes(),
              ElementsAre(HasSubstr("damaged"), HasSubstr("damaged")));
  EXPECT_EQ(worker_.made, 2);
  EXPECT_FALSE(NeedsWorker(request_));
}

TEST_F(CachedReferenceTest, AnotherChoiceOfKernelsIsAnotherResult) {
  ASSERT_TRUE(NeedsWorker(request_));
  // This time the probe finds something else.
  worker_.loaded.kernels = "oneDNN";
  RunRequest other = request_;
  other.inputs[0].tensor = Float32({5});
  const auto reference = Make();
  EXPECT_EQ(reference->Load({})->kernels, "native");
  ASSERT_TRUE(reference->Run(other).has_value());
  EXPECT_THAT(reference->TakeNotes(),
              ElementsAre(HasSubstr("computed by native, others by oneDNN")));
  const auto again = Make();
  EXPECT_EQ(again->Load({})->kernels, "oneDNN");
  ASSERT_TRUE(again->Run(other).has_value());
  EXPECT_TRUE(again->cached());
  // The first result is of the other kernels, and not used for these.
  EXPECT_TRUE(NeedsWorker(request_));
}

TEST_F(CachedReferenceTest, WeightsThatChangeWhileTheyAreReadAreNotKept) {
  worker_.on_run = [this] { Write("weights", "other weights"); };
  const auto reference = Make();
  ASSERT_TRUE(reference->Load({}).has_value());
  ASSERT_TRUE(reference->Run(request_).has_value());
  EXPECT_EQ(Entries().size(), 1U);  // of loading, which was before
}

TEST_F(CachedReferenceTest, WhatCannotBeIdentifiedIsComputedAndNotKept) {
  unidentified_ = true;
  const auto reference = Make();
  ASSERT_TRUE(reference->Load({}).has_value());
  ASSERT_TRUE(reference->Run(request_).has_value());
  EXPECT_FALSE(reference->cached());
  EXPECT_THAT(Entries(), IsEmpty());
}

TEST_F(CachedReferenceTest, AResultThatCannotBeKeptIsNotLost) {
  const auto reference = Make();
  ASSERT_TRUE(reference->Load({}).has_value());
  fs::remove_all(folder_ / "cache");
  const auto run = reference->Run(request_);
  ASSERT_TRUE(run.has_value());
  EXPECT_THAT(run->outputs[0].tensor.As<float>(), ElementsAre(2, 3));
  EXPECT_THAT(reference->TakeNotes(),
              ElementsAre("could not keep the reference's results in " +
                          (folder_ / "cache").string() +
                          ": No such file or directory"));
}

TEST_F(CachedReferenceTest, AResultLargerThanTheCacheIsANote) {
  const auto reference = Make(100);
  ASSERT_TRUE(reference->Load({}).has_value());
  ASSERT_TRUE(reference->Run(request_).has_value());
  const std::vector<std::string> notes = reference->TakeNotes();
  ASSERT_FALSE(notes.empty());
  EXPECT_THAT(notes[0], HasSubstr("was not kept"));
}

TEST_F(CachedReferenceTest, WhoComesSecondWaitsAndComputesNothing) {
  const auto first = Make();
  const auto second = Make();
  ASSERT_TRUE(first->Load({}).has_value());
  ASSERT_TRUE(second->Load({}).has_value());  // finds how the first one loaded
  std::atomic<bool> running = false;
  worker_.on_run = [&] {
    running = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  };
  std::thread other([&] { EXPECT_TRUE(first->Run(request_).has_value()); });
  while (!running) std::this_thread::yield();
  const auto run = second->Run(request_);
  other.join();
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(worker_.runs, 1);
  EXPECT_TRUE(second->cached());
}

TEST_F(CachedReferenceTest, ManyThatStartTogetherComputeOnce) {
  std::vector<std::unique_ptr<CachedReference>> references;
  references.reserve(4);
  for (int i = 0; i < 4; ++i) references.push_back(Make());
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (const auto& reference : references) {
    threads.emplace_back([&] {
      ASSERT_TRUE(reference->Load({}).has_value());
      EXPECT_TRUE(reference->Run(request_).has_value());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(worker_.runs, 1);
  // The one that loaded need not be the one that gets to run first.
  EXPECT_LE(worker_.made, 2);
}

TEST_F(CachedReferenceTest, AWaitForAnotherCanBeInterrupted) {
  const auto first = Make();
  const auto second = Make();
  ASSERT_TRUE(first->Load({}).has_value());
  ASSERT_TRUE(second->Load({}).has_value());
  worker_.on_run = [&] {
    interrupted_ = true;
    const auto run = second->Run(request_);
    ASSERT_FALSE(run.has_value());
    EXPECT_EQ(run.error().code, ErrorCode::kInterrupted);
  };
  EXPECT_TRUE(first->Run(request_).has_value());
}

}  // namespace
}  // namespace parity
