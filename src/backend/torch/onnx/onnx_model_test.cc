#include "backend/torch/onnx/onnx_model.h"

#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <format>
#include <string>

#include "backend/backend.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/testing/sample_graphs.h"
#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OnnxModelTest : public ::testing::Test {
 protected:
  // Of a file with this graph.
  static Result<OnnxModel> Open(const Graph& graph, std::int64_t opset,
                                FloatingType floating = {}) {
    const std::filesystem::path path =
        std::filesystem::path(::testing::TempDir()) /
        std::format("onnx-model-{}.onnx", getpid());
    Model model = MakeModel(graph, opset);
    model.ir_version = 8;
    EXPECT_TRUE(WriteOnnxModel(model, path).has_value());
    Result<OnnxModel> opened = OnnxModel::Open(path.string(), floating);
    std::filesystem::remove(path);
    return opened;
  }

 private:
  c10::InferenceMode inference_;
};

// y = -x + w, with w = [1, 2].
Graph SampleGraph() {
  Graph graph = MakeGraph({"x", "w"},
                          {MakeNode("Neg", {"x"}, {"negative"}),
                           MakeNode("Add", {"negative", "w"}, {"y"})},
                          {"y"});
  for (auto* values : {&graph.inputs, &graph.outputs}) {
    for (ValueInfo& value : *values) value.dtype = DType::kFloat32;
  }
  graph.initializers = {{.name = "w", .tensor = Floats({1, 2})}};
  return graph;
}

TEST_F(OnnxModelTest, NamesWhatMustBeFedAndWhatComesOut) {
  const Result<OnnxModel> model = Open(SampleGraph(), 17);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_THAT(model->input_names(), ElementsAre("x"));
  EXPECT_THAT(model->output_names(), ElementsAre("y"));
  EXPECT_THAT(model->notes(), IsEmpty());
}

TEST_F(OnnxModelTest, RunsInTheTypeAskedForOrTheGraphsOwn) {
  for (const FloatingType floating :
       {FloatingType(), FloatingType(c10::ScalarType::Double)}) {
    const Result<OnnxModel> model = Open(SampleGraph(), 17, floating);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const Result<RunResult> run =
        model->Run({.inputs = {{"x", Floats({5, 5})}}});
    ASSERT_TRUE(run.has_value()) << run.error().message;
    const Tensor& y = run->outputs.at(0).tensor;
    ASSERT_EQ(y.dtype(), floating ? DType::kFloat64 : DType::kFloat32);
    if (floating) {
      EXPECT_THAT(y.As<double>(), ElementsAre(-4, -3));
    } else {
      EXPECT_THAT(y.As<float>(), ElementsAre(-4, -3));
    }
    EXPECT_THAT(run->trace, IsEmpty());
  }
}

TEST_F(OnnxModelTest, InputsAndOutputsCanBeAnyValues) {
  const Result<OnnxModel> model =
      Open(SampleGraph(), 17, c10::ScalarType::Double);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Result<RunResult> run =
      model->Run({.inputs = {{"negative", Floats({7, 7})}},
                  .output_names = {"w", "y"},
                  .trace = true});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_THAT(Numbers(run->outputs.at(0).tensor), ElementsAre(1, 2));
  EXPECT_THAT(Numbers(run->outputs.at(1).tensor), ElementsAre(8, 9));
  ASSERT_EQ(run->trace.size(), 1U);
  EXPECT_EQ(run->trace[0].name, "y");
}

TEST_F(OnnxModelTest, NotesWhatCannotBeEvaluated) {
  Graph graph = SampleGraph();
  graph.nodes.push_back(MakeNode("Frobnicate", {"y"}, {"z"}));
  const Result<OnnxModel> model = Open(graph, 25);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_THAT(model->notes(),
              ElementsAre(HasSubstr("opset 25"), HasSubstr("Frobnicate")));
}

TEST_F(OnnxModelTest, RefusesOpsetsThatBroadcastInAnotherWay) {
  const Result<OnnxModel> model = Open(SampleGraph(), 6);
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(model.error().message, HasSubstr("opset 6"));
}

}  // namespace
}  // namespace parity
