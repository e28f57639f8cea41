#include "diagnose/laboratory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "backend/backend.h"
#include "diagnose/testing/fake_sides.h"
#include "parity/error.h"

namespace parity {
namespace {

using ::testing::ElementsAre;

class LaboratoryTest : public ::testing::Test {
 protected:
  LaboratoryTest() {
    sides_.network.steps = {
        Map("double", "aten::mul", "x", "y", [](double x) { return 2 * x; })};
    sides_.network.outputs = {"y"};
    sides_.graph = sides_.network;
    sides_.graph.steps[0].op = "Mul";
  }

  FakeSides sides_;
  RunRequest request_{.inputs = {{.name = "x", .tensor = Float32({1, 2})}}};
};

TEST_F(LaboratoryTest, SidesAreMadeWhenFirstAskedAndTheLastTwoAreKept) {
  Laboratory lab(sides_.Options());
  EXPECT_TRUE(sides_.made.empty());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(lab.Reference64(request_).has_value());
    ASSERT_TRUE(lab.Graph64(request_).has_value());
  }
  EXPECT_THAT(sides_.made, ElementsAre(SideKind::kTorch, SideKind::kTorch));
  EXPECT_EQ(sides_.runs, 6);
  // The one that was asked longest ago makes room.
  ASSERT_TRUE(lab.Candidate(request_).has_value());
  ASSERT_TRUE(lab.Graph64(request_).has_value());
  EXPECT_EQ(sides_.made.size(), 3U);
  ASSERT_TRUE(lab.Reference64(request_).has_value());
  EXPECT_EQ(sides_.made.size(), 4U);
  lab.Clear();
  ASSERT_TRUE(lab.Graph64(request_).has_value());
  EXPECT_EQ(sides_.made.size(), 5U);
}

TEST_F(LaboratoryTest, EverySideIsLoadedAsItsQuestionSays) {
  sides_.reference_load.attributes = {{"training", "true"}};
  sides_.candidate_load.provider = "P";
  sides_.candidate_load.threads = 3;
  Laboratory lab(sides_.Options());
  ASSERT_TRUE(lab.Reference64(request_).has_value());
  EXPECT_EQ(sides_.loads.back().precision, "float64");
  EXPECT_EQ(sides_.loads.back().attributes.at("training"), "true");
  ASSERT_TRUE(lab.Reference(request_).has_value());
  EXPECT_EQ(sides_.loads.back().precision, "");
  ASSERT_TRUE(lab.Graph64(request_).has_value());
  EXPECT_EQ(sides_.loads.back().kind, ModelKind::kOnnx);
  EXPECT_EQ(sides_.loads.back().path, "graph.onnx");
  EXPECT_EQ(sides_.loads.back().precision, "float64");
  EXPECT_EQ(sides_.loads.back().threads, 3);
  ASSERT_TRUE(lab.GraphNative(request_).has_value());
  EXPECT_EQ(sides_.loads.back().precision, "");
  ASSERT_TRUE(lab.Candidate(request_).has_value());
  EXPECT_EQ(sides_.loads.back().provider, "P");
}

TEST_F(LaboratoryTest, ALoadThatFailedIsRememberedAndNotTriedAgain) {
  sides_.load_error = [](const LoadRequest& load) -> std::optional<Error> {
    if (load.precision != "float64") return std::nullopt;
    return Error{.code = ErrorCode::kUnsupported, .message = "no such op"};
  };
  Laboratory lab(sides_.Options());
  for (int i = 0; i < 2; ++i) {
    const auto run = lab.Graph64(request_);
    ASSERT_FALSE(run.has_value());
    EXPECT_EQ(run.error().message, "no such op");
  }
  EXPECT_EQ(sides_.loads.size(), 1U);
  EXPECT_TRUE(lab.GraphNative(request_).has_value());
}

TEST_F(LaboratoryTest, AWorkerThatDiedIsNotAskedAgain) {
  sides_.run_error = [](const LoadRequest& /*load*/,
                        const RunRequest& /*request*/) {
    return Error{.code = ErrorCode::kWorkerDied, .message = "killed"};
  };
  Laboratory lab(sides_.Options());
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(lab.Graph64(request_).error().message, "killed");
  EXPECT_EQ(sides_.runs, 1);
}

TEST_F(LaboratoryTest, ARunThatFailedMayBeTriedWithOtherInputs) {
  sides_.run_error = [](const LoadRequest& /*load*/,
                        const RunRequest& request) -> std::optional<Error> {
    if (!request.trace) return std::nullopt;
    return Error{.code = ErrorCode::kBackend, .message = "bad shape"};
  };
  Laboratory lab(sides_.Options());
  RunRequest traced = request_;
  traced.trace = true;
  EXPECT_FALSE(lab.Graph64(traced).has_value());
  EXPECT_TRUE(lab.Graph64(request_).has_value());
  EXPECT_EQ(sides_.loads.size(), 1U);
}

TEST_F(LaboratoryTest, TheReferencesWeightsAreAskedForOnceAndWhenNeeded) {
  Laboratory lab(sides_.Options());
  EXPECT_TRUE(lab.has_reference());
  ASSERT_TRUE(lab.Graph64(request_).has_value());
  ASSERT_TRUE(lab.Candidate(request_).has_value());
  EXPECT_EQ(sides_.reference_asked, 0);
  ASSERT_TRUE(lab.Reference64(request_).has_value());
  ASSERT_TRUE(lab.Reference(request_).has_value());
  EXPECT_EQ(sides_.reference_asked, 1);
}

TEST_F(LaboratoryTest, WeightsThatCannotBeReadAreAnErrorOfEveryQuestion) {
  LaboratoryOptions options = sides_.Options();
  int asked = 0;
  options.reference = [&]() -> Result<LoadRequest> {
    ++asked;
    return Fail(ErrorCode::kNotFound, "the checkpoint is gone");
  };
  Laboratory lab(std::move(options));
  EXPECT_EQ(lab.Reference(request_).error().message, "the checkpoint is gone");
  EXPECT_EQ(lab.Reference64(request_).error().message,
            "the checkpoint is gone");
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(sides_.made.empty());
}

TEST_F(LaboratoryTest, RecordingsCannotBeAsked) {
  sides_.recorded = true;
  Laboratory lab(sides_.Options());
  EXPECT_FALSE(lab.has_reference());
  EXPECT_EQ(lab.Reference(request_).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(lab.Reference64(request_).error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(sides_.made.empty());
}

TEST_F(LaboratoryTest, CandidateVariantsShareOneProcessReferencesDoNot) {
  Laboratory lab(sides_.Options());
  LoadRequest load = sides_.candidate_load;
  for (const char* const level : {"disabled", "basic"}) {
    load.optimization = level;
    ASSERT_TRUE(lab.CandidateVariant(load, request_).has_value());
    EXPECT_EQ(sides_.loads.back().optimization, level);
    ASSERT_TRUE(
        lab.ReferenceVariant(sides_.reference_load, request_).has_value());
  }
  EXPECT_THAT(sides_.made, ElementsAre(SideKind::kRuntime, SideKind::kTorch,
                                       SideKind::kTorch));
}

TEST_F(LaboratoryTest, AVariantThatKilledItsProcessDoesNotFailTheNext) {
  sides_.run_error = [](const LoadRequest& load,
                        const RunRequest& /*request*/) -> std::optional<Error> {
    if (load.optimization == "disabled") return std::nullopt;
    return Error{.code = ErrorCode::kWorkerDied, .message = "killed"};
  };
  Laboratory lab(sides_.Options());
  LoadRequest load = sides_.candidate_load;
  EXPECT_FALSE(lab.CandidateVariant(load, request_).has_value());
  load.optimization = "disabled";
  EXPECT_TRUE(lab.CandidateVariant(load, request_).has_value());
  EXPECT_EQ(sides_.made.size(), 2U);
}

TEST_F(LaboratoryTest, WhetherAVariantFailedToLoadOrToRunIsKnown) {
  sides_.load_error = [](const LoadRequest& load) -> std::optional<Error> {
    if (load.optimization == "disabled") return std::nullopt;
    return Error{.code = ErrorCode::kBackend, .message = "not implemented"};
  };
  Laboratory lab(sides_.Options());
  LoadRequest load = sides_.candidate_load;
  EXPECT_FALSE(lab.CandidateVariant(load, {}).has_value());
  EXPECT_TRUE(lab.last_load_failed());
  load.optimization = "disabled";
  EXPECT_FALSE(lab.CandidateVariant(load, {}).has_value());  // no inputs
  EXPECT_FALSE(lab.last_load_failed());
}

TEST_F(LaboratoryTest, ProgressIsToldBeforeEveryQuestion) {
  Laboratory lab(sides_.Options());
  ASSERT_TRUE(lab.Graph64(request_).has_value());
  EXPECT_THAT(sides_.progress,
              ElementsAre("explaining: the ONNX graph in float64"));
}

}  // namespace
}  // namespace parity
