#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "backend/backend.h"
#include "diagnose/laboratory.h"
#include "diagnose/rules.h"
#include "diagnose/testing/fake_sides.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/error.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

class LoadRuleTest : public ::testing::Test {
 protected:
  LoadRuleTest() {
    sides_.graph.steps = {
        Map("/conv/Conv", "Conv", "x", "features", [](double x) { return x; }),
        Map("", "Relu", "features", "y", [](double x) { return x; })};
    sides_.graph.outputs = {"y"};
    request_.inputs = {{.name = "x", .tensor = Float32({1, 2})}};
  }
  Finding Examine(const std::string& message, const RunRequest* request,
                  ErrorCode code = ErrorCode::kBackend) {
    Laboratory lab(sides_.Options());
    const Model model = sides_.MakeModel(request_.inputs);
    return ExamineLoadFailure(lab, &model, {.code = code, .message = message},
                              request);
  }
  // Nothing loads unless `works`.
  template <class Works>
  void LoadsWhere(Works works) {
    sides_.load_error = [works](const LoadRequest& load) {
      return works(load) ? std::optional<Error>()
                         : Error{.code = ErrorCode::kBackend,
                                 .message = "not implemented"};
    };
  }

  FakeSides sides_;
  RunRequest request_;
};

constexpr auto kNever = [](const LoadRequest& /*load*/) { return false; };
constexpr auto kUnoptimized = [](const LoadRequest& load) {
  return load.optimization == "disabled";
};

TEST_F(LoadRuleTest, AModelThatNeverLoadsIsALoadFailureWithItsMessage) {
  LoadsWhere(kNever);
  const Finding finding = Examine("node (/conv/Conv) is invalid", nullptr);
  EXPECT_EQ(finding.cause, Cause::kLoad);
  EXPECT_EQ(finding.message, "node (/conv/Conv) is invalid");
  EXPECT_EQ(finding.node, "/conv/Conv");
  EXPECT_EQ(finding.op, "Conv");
}

TEST_F(LoadRuleTest, ANodeWithoutANameIsFoundByItsInput) {
  LoadsWhere(kNever);
  const Finding finding = Examine("input 'features' has no type", nullptr);
  EXPECT_EQ(finding.node, "y");
  EXPECT_EQ(finding.op, "Relu");
}

TEST_F(LoadRuleTest, NamesThatAreOnlyPartOfAWordAreNotTaken) {
  LoadsWhere(kNever);
  EXPECT_EQ(Examine("x y features /conv/Conv", nullptr).node, "");
}

TEST_F(LoadRuleTest, WhatLoadsWithoutOptimizationsIsTheOptimizersFault) {
  LoadsWhere(kUnoptimized);
  for (const RunRequest* const request :
       {static_cast<const RunRequest*>(nullptr),
        static_cast<const RunRequest*>(&request_)}) {
    const Finding finding = Examine("fusion failed", request);
    EXPECT_EQ(finding.cause, Cause::kOptimizer);
    EXPECT_THAT(finding.message, HasSubstr("--optimization disabled"));
    EXPECT_THAT(finding.message, HasSubstr("fusion failed"));
  }
}

TEST_F(LoadRuleTest, WhatLoadsButDoesNotRunIsNoOptimizersFault) {
  LoadsWhere(kUnoptimized);
  sides_.run_error = [](const LoadRequest& /*load*/,
                        const RunRequest& /*request*/) {
    return Error{.code = ErrorCode::kBackend, .message = "bad shape"};
  };
  EXPECT_EQ(Examine("bad shape", &request_).cause, Cause::kLoad);
}

TEST_F(LoadRuleTest, WhatLoadsOnTheCpuIsTheProvidersFault) {
  sides_.candidate_load.provider = "FastProvider";
  LoadsWhere([](const LoadRequest& load) {
    return load.provider == "CPUExecutionProvider";
  });
  const Finding finding = Examine("no kernel", &request_);
  EXPECT_EQ(finding.cause, Cause::kProvider);
  EXPECT_THAT(finding.message, HasSubstr("FastProvider cannot load or run it"));
}

TEST_F(LoadRuleTest, AProviderThatDoesNotExistIsTheCallersMistake) {
  sides_.candidate_load.provider = "NoProvider";
  EXPECT_EQ(
      Examine("no such provider", nullptr, ErrorCode::kInvalidArgument).cause,
      Cause::kLoad);
  EXPECT_TRUE(sides_.made.empty());
}

TEST_F(LoadRuleTest, WithoutOptimizationsThereIsNothingToTurnOff) {
  sides_.candidate_load.optimization = "disabled";
  EXPECT_EQ(Examine("not implemented", nullptr).cause, Cause::kLoad);
  EXPECT_TRUE(sides_.made.empty());
}

}  // namespace
}  // namespace parity
