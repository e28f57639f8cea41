// The public library with the real ONNX Runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parity/inference_session.h>
#include <parity/validation.h>
#include <parity/version.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SessionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // This program does not stand where the library would look for workers.
    ::setenv("ONNX_PARITY_WORKERS", PARITY_BINARY_DIR "/workers", 1);
    shared_folder = new TestFolder;
    (void)RunTool({"export", "--model-type", "mattingbase", "--output",
                   *shared_folder / "model.onnx"});
  }
  static void TearDownTestSuite() { delete shared_folder; }

  static Result<InferenceSession> Open() {
    return InferenceSession::Open(*shared_folder / "model.onnx");
  }
  static NamedTensors Inputs(const Shape& shape) {
    NamedTensors inputs;
    for (const char* name : {"src", "bgr"})
      inputs.push_back(
          {.name = name, .tensor = *Tensor::Allocate(DType::kFloat32, shape)});
    return inputs;
  }

  static TestFolder* shared_folder;
};
TestFolder* SessionTest::shared_folder = nullptr;

TEST_F(SessionTest, NamesAreTheFiles) {
  const auto session = Open();
  ASSERT_TRUE(session.has_value()) << session.error().message;
  EXPECT_THAT(session->input_names(), ElementsAre("src", "bgr"));
  EXPECT_THAT(session->output_names(), ElementsAre("pha", "fgr", "err", "hid"));
  EXPECT_THAT(session->runtime_version(), HasSubstr("ONNX Runtime"));
}

TEST_F(SessionTest, NoNamesMeanEveryOutputAndNamesTheirOrder) {
  auto session = Open();
  ASSERT_TRUE(session.has_value());
  const auto all = session->Run({}, Inputs({1, 3, 32, 48}));
  ASSERT_TRUE(all.has_value()) << all.error().message;
  EXPECT_EQ(all->size(), 4U);
  const auto some = session->Run({"err", "pha"}, Inputs({2, 3, 32, 32}));
  ASSERT_TRUE(some.has_value()) << some.error().message;
  ASSERT_EQ(some->size(), 2U);
  EXPECT_EQ((*some)[0].name, "err");
  EXPECT_EQ((*some)[0].tensor.shape(), (Shape{2, 1, 32, 32}));
}

TEST_F(SessionTest, AWrongRunIsAnErrorAndTheSessionGoesOn) {
  auto session = Open();
  ASSERT_TRUE(session.has_value());
  EXPECT_FALSE(session->Run({"alpha"}, Inputs({1, 3, 32, 32})).has_value());
  EXPECT_FALSE(session->Run({}, Inputs({1, 4, 32, 32})).has_value());
  EXPECT_FALSE(session->Run({}, {}).has_value());
  EXPECT_TRUE(session->Run({}, Inputs({1, 3, 32, 32})).has_value());
}

TEST_F(SessionTest, AFileThatIsNoModelIsAnError) {
  EXPECT_FALSE(
      InferenceSession::Open(*shared_folder / "missing.onnx").has_value());
  EXPECT_FALSE(InferenceSession::Open(PARITY_TEST_DATA "/images/subject.png")
                   .has_value());
}

TEST_F(SessionTest, AWholeValidationIsOneCall) {
  ValidationOptions options;
  options.model = *shared_folder / "model.onnx";
  options.cases.shapes["src"] = {1, 3, 32, 32};
  const auto result = Validate(options);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->verdict(), Verdict::kPassed);
  EXPECT_EQ(result->cases.at(0).outputs.size(), 4U);
  options.tolerance.atol = 0;
  EXPECT_EQ(Validate(options)->verdict(), Verdict::kFailed);
}

TEST(VersionTest, IsTheToolsVersion) {
  EXPECT_EQ(RunTool({"--version"}).out,
            "onnx-parity " + std::string(Version()) + "\n");
}

}  // namespace
}  // namespace parity
