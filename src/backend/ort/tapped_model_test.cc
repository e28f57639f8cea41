// Values from inside a model, and optimizers left out, on ONNX Runtime.
#include "backend/ort/tapped_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <format>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/optimizer_names.h"
#include "backend/ort/ort_backend.h"
#include "base/splitmix.h"
#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

constexpr std::int64_t kChannels = 6;

// Between `low` and `low` + 2.
Tensor Noise(const std::string& name, Shape shape, double low = -1) {
  Tensor tensor = *Tensor::Allocate(DType::kFloat32, std::move(shape));
  const SplitMixStream stream(name, 1);
  std::uint64_t i = 0;
  for (float& value : tensor.MutableAs<float>())
    value = static_cast<float>(low + 2 * stream.Uniform(i++));
  return tensor;
}

ValueInfo Floats(const std::string& name) {
  return {.name = name,
          .dtype = DType::kFloat32,
          .shape = std::nullopt,
          .other_type = ""};
}

Node MakeNode(const std::string& op, std::vector<std::string> inputs,
              const std::string& output,
              std::vector<Attribute> attributes = {}) {
  return {.name = op,
          .op_type = op,
          .domain = "",
          .inputs = std::move(inputs),
          .outputs = {output},
          .attributes = std::move(attributes)};
}

// x → Conv "conv" → BatchNormalization "normal" → Relu "relu" → Sigmoid "y".
Model ConvolutionModel() {
  Model model;
  model.ir_version = 8;
  model.opset_imports = {{.domain = "", .version = 16}};
  model.graph.name = "g";
  model.graph.inputs = {Floats("x")};
  model.graph.outputs = {Floats("y")};
  model.graph.initializers = {
      {.name = "w", .tensor = Noise("w", {kChannels, 3, 3, 3})},
      {.name = "scale", .tensor = Noise("scale", {kChannels}, 0.5)},
      {.name = "bias", .tensor = Noise("bias", {kChannels})},
      {.name = "mean", .tensor = Noise("mean", {kChannels})},
      {.name = "variance", .tensor = Noise("variance", {kChannels}, 0.5)}};
  model.graph.nodes = {
      MakeNode("Conv", {"x", "w"}, "conv",
               {{.name = "pads", .value = std::vector<std::int64_t>(4, 1)}}),
      MakeNode("BatchNormalization",
               {"conv", "scale", "bias", "mean", "variance"}, "normal"),
      MakeNode("Relu", {"normal"}, "relu"), MakeNode("Sigmoid", {"relu"}, "y")};
  return model;
}

NamedTensors Inputs() { return {{"x", Noise("x", {1, 3, 9, 11})}}; }

class TappedModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              std::format("onnx-parity-taps-{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string Write(const Model& model,
                                  const WriteOptions& options = {}) const {
    const fs::path path = folder_ / "model.onnx";
    EXPECT_TRUE(WriteOnnxModel(model, path, options).has_value());
    return path.string();
  }

  // The output `name` after loading as `request` says.
  Tensor Run(const LoadRequest& request, const std::string& name,
             const NamedTensors& inputs = Inputs()) {
    const Result<LoadResult> loaded = backend_.Load(request);
    EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
    if (!loaded) return {};
    return Ask(name, inputs);
  }
  Tensor Ask(const std::string& name, const NamedTensors& inputs = Inputs()) {
    const Result<RunResult> run =
        backend_.Run({.inputs = inputs, .output_names = {name}});
    EXPECT_TRUE(run.has_value()) << run.error().message;
    if (!run) return {};
    // The output borrows from the session.
    const Tensor& tensor = run->outputs[0].tensor;
    return *Tensor::Copy(tensor.dtype(), tensor.shape(), tensor.bytes());
  }

  fs::path folder_;
  OrtBackend backend_;
};

bool SameBits(const Tensor& x, const Tensor& y) {
  return x.shape() == y.shape() && std::ranges::equal(x.bytes(), y.bytes());
}

TEST_F(TappedModelTest, TapsAreWhatAModelOfTheNodesBeforeReturns) {
  for (const char* const level : {"disabled", "all"}) {
    SCOPED_TRACE(level);
    for (const auto& [tap, nodes] :
         std::vector<std::pair<std::string, std::size_t>>{
             {"conv", 1}, {"normal", 2}, {"relu", 3}}) {
      SCOPED_TRACE(tap);
      Model front = ConvolutionModel();
      front.graph.nodes.resize(nodes);
      front.graph.outputs = {Floats(tap)};
      const Tensor expected =
          Run({.path = Write(front), .optimization = level}, tap);
      const Tensor actual = Run({.path = Write(ConvolutionModel()),
                                 .optimization = level,
                                 .taps = {"conv", "normal", "relu"}},
                                tap);
      ASSERT_EQ(actual.shape(), expected.shape());
      EXPECT_EQ(actual.shape(), (Shape{1, kChannels, 9, 11}));
      EXPECT_THAT(actual.As<float>(),
                  ::testing::Pointwise(::testing::FloatNear(1e-5F),
                                       expected.As<float>()));
      if (std::string_view(level) == "disabled") {
        EXPECT_TRUE(SameBits(actual, expected));
      }
    }
  }
}

TEST_F(TappedModelTest, ANodeThatWouldBeFusedIntoAnotherIsSeen) {
  // ConvActivationFusion and NchwcTransformer would make one node of both.
  Model model = ConvolutionModel();
  model.graph.nodes.erase(model.graph.nodes.begin() + 1);
  model.graph.nodes[1].inputs = {"conv"};
  const std::string path = Write(model);
  const Tensor conv = Run({.path = path, .taps = {"conv", "relu"}}, "conv");
  const Tensor relu = Ask("relu");
  ASSERT_EQ(conv.shape(), relu.shape());
  EXPECT_LT(std::ranges::min(conv.As<float>()), -0.5F);
  for (std::size_t i = 0; i < conv.As<float>().size(); ++i)
    ASSERT_EQ(relu.As<float>()[i], std::max(conv.As<float>()[i], 0.0F));
}

TEST_F(TappedModelTest, TapsAreReturnedOnlyWhenAskedFor) {
  const Result<LoadResult> loaded =
      backend_.Load({.path = Write(ConvolutionModel()), .taps = {"conv"}});
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_THAT(loaded->output_names, ElementsAre("y"));
  EXPECT_THAT(loaded->input_names, ElementsAre("x"));
  const Result<RunResult> run = backend_.Run({.inputs = Inputs()});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  ASSERT_EQ(run->outputs.size(), 1U);
  EXPECT_EQ(run->outputs[0].name, "y");
  const Result<RunResult> both =
      backend_.Run({.inputs = Inputs(), .output_names = {"conv", "y"}});
  ASSERT_TRUE(both.has_value()) << both.error().message;
  ASSERT_EQ(both->outputs.size(), 2U);
  EXPECT_TRUE(SameBits(both->outputs[1].tensor, run->outputs[0].tensor));
}

TEST_F(TappedModelTest, InputsInitializersAndOutputsCanBeTapped) {
  const std::string path = Write(ConvolutionModel());
  const LoadRequest request = {.path = path, .taps = {"y", "x", "w", "x", "y"}};
  EXPECT_TRUE(SameBits(Run(request, "x"), Inputs()[0].tensor));
  EXPECT_TRUE(SameBits(Ask("w"), Noise("w", {kChannels, 3, 3, 3})));
  EXPECT_TRUE(SameBits(Ask("y"), Run({.path = path}, "y")));
}

TEST_F(TappedModelTest, ATapThatIsNoValueOfTheMainGraphIsNamed) {
  Model model = ConvolutionModel();
  auto branch = std::make_shared<Graph>();
  branch->name = "branch";
  branch->nodes = {MakeNode("Neg", {"relu"}, "inside")};
  branch->outputs = {Floats("inside")};
  model.graph.initializers.push_back(
      {.name = "condition",
       .tensor = *Tensor::From<std::uint8_t>(DType::kBool, {},
                                             std::vector<std::uint8_t>{1})});
  model.graph.nodes.back() =
      MakeNode("If", {"condition"}, "y",
               {{.name = "then_branch", .value = branch},
                {.name = "else_branch", .value = branch}});
  const std::string path = Write(model);
  for (const char* const tap : {"no_such_value", "inside", ""}) {
    const Result<LoadResult> loaded =
        backend_.Load({.path = path, .taps = {"conv", tap}});
    ASSERT_FALSE(loaded.has_value()) << tap;
    EXPECT_EQ(loaded.error().code, ErrorCode::kNotFound);
    EXPECT_EQ(
        loaded.error().message,
        std::format("{}: there is no value '{}' in the main graph", path, tap));
  }
  EXPECT_EQ(backend_.Load({.path = "no.onnx", .taps = {"x"}}).error().code,
            ErrorCode::kNotFound);
}

TEST_F(TappedModelTest, WeightsBesideTheModelAreTakenIn) {
  Model model = ConvolutionModel();
  model.graph.initializers[0].tensor = Noise("w", {64, 3, 3, 3});
  for (std::size_t i = 1; i < 5; ++i)
    model.graph.initializers[i].tensor = Noise("p", {64}, 0.5);
  const Tensor expected = Run({.path = Write(model), .taps = {"conv"}}, "conv");
  const std::string path =
      Write(model, {.external_data_threshold_bytes = 1000});
  ASSERT_TRUE(fs::exists(path + ".data"));
  EXPECT_TRUE(
      SameBits(Run({.path = path, .taps = {"conv"}}, "conv"), expected));
  const Result<TappedModel> tapped = ReadTappedModel(path, {"conv"});
  ASSERT_TRUE(tapped.has_value());
  EXPECT_GT(tapped->bytes.size(), 64UL * 3 * 3 * 3 * 4);
  EXPECT_THAT(tapped->outputs, ElementsAre("y"));
}

// --- optimizers ---

class DisabledOptimizersTest : public TappedModelTest {
 protected:
  // y of the model, whose batch normalisation is folded into the convolution
  // unless that is forbidden: the sums are rounded differently.
  Tensor Result(const std::string& level,
                std::vector<std::string> disabled = {}) {
    return Run({.path = Write(ConvolutionModel()),
                .optimization = level,
                .disabled_optimizers = std::move(disabled)},
               "y");
  }
};

TEST_F(DisabledOptimizersTest, ALeftOutOptimizerDoesNotAct) {
  const Tensor plain = Result("disabled");
  const Tensor folded = Result("basic");
  ASSERT_FALSE(SameBits(plain, folded));
  EXPECT_TRUE(SameBits(Result("basic", {"ConvBNFusion"}), plain));
  EXPECT_TRUE(SameBits(Result("basic", {"NoSuchOptimizer"}), folded));
}

TEST_F(DisabledOptimizersTest, ManyCanBeLeftOut) {
  const Tensor plain = Result("disabled");
  EXPECT_TRUE(SameBits(
      Result("basic", {"ConstantFolding", "ConvBNFusion", "MatMulAddFusion"}),
      plain));
  std::vector<std::string> all;
  for (const auto& names :
       {std::span<const std::string_view>(kBasicOptimizers),
        std::span<const std::string_view>(kExtendedOptimizers),
        std::span<const std::string_view>(kLayoutOptimizers)})
    all.insert(all.end(), names.begin(), names.end());
  EXPECT_TRUE(SameBits(Result("all", all), plain));
}

}  // namespace
}  // namespace parity
