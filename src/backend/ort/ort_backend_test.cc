#include "backend/ort/ort_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <format>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "formats/onnx/onnx_writer.h"
#include "formats/safetensors/safetensors_reader.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::array kRuntimeDTypes = {
    DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64,
    DType::kInt8,    DType::kInt16,    DType::kInt32,   DType::kInt64,
    DType::kUInt8,   DType::kUInt16,   DType::kUInt32,  DType::kUInt64,
    DType::kBool};

std::string CasePath(const std::string& name, const std::string& file) {
  return std::format("{}/ort/{}/{}", PARITY_TEST_DATA, name, file);
}

NamedTensors CaseInputs(const std::string& name) {
  return ReadSafetensorsFile(CasePath(name, "inputs.safetensors"))->tensors;
}

// One node of the given type from inputs "x", "y", … to "out".
Model OneNode(const std::string& op_type, std::vector<ValueInfo> inputs,
              ValueInfo output, std::vector<Attribute> attributes = {}) {
  Model model;
  model.ir_version = 8;
  model.opset_imports = {{.domain = "", .version = 16}};
  model.graph.name = "g";
  Node node{.name = "n",
            .op_type = op_type,
            .domain = "",
            .inputs = {},
            .outputs = {output.name},
            .attributes = std::move(attributes)};
  for (const ValueInfo& input : inputs) node.inputs.push_back(input.name);
  model.graph.nodes = {std::move(node)};
  model.graph.inputs = std::move(inputs);
  model.graph.outputs = {std::move(output)};
  return model;
}

ValueInfo Value(const std::string& name, DType dtype) {
  return {
      .name = name, .dtype = dtype, .shape = std::nullopt, .other_type = ""};
}

ValueInfo Encoded(const std::string& name, const std::string& kind,
                  const std::string& type) {
  return {.name = name,
          .dtype = std::nullopt,
          .shape = std::nullopt,
          .other_type = kind,
          .encoded_type = type};
}

class OrtBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              std::format("onnx-parity-ort-{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string Write(const Model& model) const {
    const fs::path path = folder_ / "model.onnx";
    EXPECT_TRUE(WriteOnnxModel(model, path).has_value());
    return path.string();
  }

  fs::path folder_;
  OrtBackend backend_;
};

TEST_F(OrtBackendTest, AModelIsLoadedAndRun) {
  const auto loaded = backend_.Load(
      {.path = CasePath("encoder-decoder-dynamic", "model.onnx")});
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_THAT(loaded->version, ::testing::StartsWith("ONNX Runtime 1."));
  EXPECT_EQ(loaded->kernels, "CPUExecutionProvider");
  EXPECT_THAT(loaded->input_names, ElementsAre("x"));
  EXPECT_THAT(loaded->output_names, ElementsAre("y"));
  EXPECT_GT(loaded->load_ms, 0);
  const auto run =
      backend_.Run({.inputs = CaseInputs("encoder-decoder-dynamic")});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  ASSERT_EQ(run->outputs.size(), 1U);
  EXPECT_EQ(run->outputs[0].name, "y");
  EXPECT_EQ(run->outputs[0].tensor.dtype(), DType::kFloat32);
  EXPECT_EQ(run->outputs[0].tensor.shape().size(), 4U);
  EXPECT_GT(run->run_ms, 0);
}

TEST_F(OrtBackendTest, OutputsComeInTheOrderAskedFor) {
  ASSERT_TRUE(
      backend_
          .Load({.path = CasePath("integer-and-bool-outputs", "model.onnx")})
          .has_value());
  const NamedTensors inputs = CaseInputs("integer-and-bool-outputs");
  const auto all = backend_.Run({.inputs = inputs});
  ASSERT_TRUE(all.has_value()) << all.error().message;
  ASSERT_EQ(all->outputs.size(), 3U);
  EXPECT_EQ(all->outputs[0].name, "label");
  EXPECT_EQ(all->outputs[0].tensor.dtype(), DType::kInt64);
  EXPECT_EQ(all->outputs[1].name, "mask");
  EXPECT_EQ(all->outputs[1].tensor.dtype(), DType::kBool);
  const auto some =
      backend_.Run({.inputs = inputs, .output_names = {"order", "label"}});
  ASSERT_TRUE(some.has_value()) << some.error().message;
  ASSERT_EQ(some->outputs.size(), 2U);
  EXPECT_EQ(some->outputs[0].name, "order");
  EXPECT_EQ(some->outputs[1].name, "label");
  EXPECT_THAT(some->outputs[1].tensor.bytes(),
              ElementsAreArray(all->outputs[0].tensor.bytes()));
}

TEST_F(OrtBackendTest, HalfPrecisionModelsRun) {
  ASSERT_TRUE(
      backend_
          .Load({.path = CasePath("half-precision-convolutions", "model.onnx")})
          .has_value());
  const auto run =
      backend_.Run({.inputs = CaseInputs("half-precision-convolutions")});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->outputs[0].tensor.dtype(), DType::kFloat16);
}

TEST_F(OrtBackendTest, EveryDTypeGoesThroughUnchanged) {
  for (const DType dtype : kRuntimeDTypes) {
    SCOPED_TRACE(Name(dtype));
    const std::string path =
        Write(OneNode("Identity", {Value("x", dtype)}, Value("out", dtype)));
    ASSERT_TRUE(backend_.Load({.path = path}).has_value());
    for (const Shape& shape : {Shape{3, 2}, Shape{}, Shape{0, 4}}) {
      SCOPED_TRACE(ToString(shape));
      Tensor tensor = *Tensor::Allocate(dtype, shape);
      // Every bit pattern of the low byte of an element may be seen, and bool
      // stays 0 or 1.
      std::uint8_t value = dtype == DType::kBool ? 1 : 0x81;
      for (std::byte& byte : tensor.mutable_bytes()) {
        byte = std::byte{value};
        if (dtype == DType::kBool) {
          value ^= 1U;
        } else {
          value = static_cast<std::uint8_t>(value * 5U + 3U);
        }
      }
      const auto run =
          backend_.Run({.inputs = {{.name = "x", .tensor = tensor}}});
      ASSERT_TRUE(run.has_value()) << run.error().message;
      const Tensor& out = run->outputs[0].tensor;
      EXPECT_EQ(out.dtype(), dtype);
      EXPECT_EQ(out.shape(), shape);
      EXPECT_THAT(out.bytes(), ElementsAreArray(tensor.bytes()));
    }
  }
}

TEST_F(OrtBackendTest, InputsAreNotCopiedAndNotChanged) {
  const std::string path = Write(OneNode("Neg", {Value("x", DType::kFloat32)},
                                         Value("out", DType::kFloat32)));
  ASSERT_TRUE(backend_.Load({.path = path}).has_value());
  const std::array<float, 3> values = {1, -2, 3};
  const NamedTensors inputs = {
      {.name = "x",
       .tensor = *Tensor::From<float>(DType::kFloat32, {3}, values)}};
  const auto run = backend_.Run({.inputs = inputs});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_THAT(run->outputs[0].tensor.As<float>(), ElementsAre(-1, 2, -3));
  EXPECT_THAT(inputs[0].tensor.As<float>(), ElementsAre(1, -2, 3));
}

TEST_F(OrtBackendTest, WrongInputsAreErrorsInTheRuntimesWordsOnOneLine) {
  ASSERT_TRUE(
      backend_.Load({.path = CasePath("encoder-decoder-dynamic", "model.onnx")})
          .has_value());
  const auto tensor = [](DType dtype, Shape shape) {
    return *Tensor::Allocate(dtype, std::move(shape));
  };
  struct Case {
    NamedTensors inputs;
    std::vector<std::string> outputs;
    std::string says;
  };
  const Case cases[] = {
      {{{"nowhere", tensor(DType::kFloat32, {1, 3, 8, 8})}}, {}, "nowhere"},
      {{}, {}, "x"},
      {{{"x", tensor(DType::kFloat64, {1, 3, 8, 8})}}, {}, "double"},
      {{{"x", tensor(DType::kFloat32, {1, 3, 8})}}, {}, "rank"},
      {{{"x", tensor(DType::kFloat32, {1, 4, 8, 8})}}, {}, "4"},
      {CaseInputs("encoder-decoder-dynamic"), {"nothing"}, "nothing"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.says);
    const auto run =
        backend_.Run({.inputs = c.inputs, .output_names = c.outputs});
    ASSERT_FALSE(run.has_value());
    EXPECT_EQ(run.error().code, ErrorCode::kBackend);
    EXPECT_THAT(run.error().message,
                AllOf(::testing::StartsWith("ONNX Runtime: "),
                      HasSubstr(c.says), Not(HasSubstr("\n"))));
  }
}

TEST_F(OrtBackendTest, OutputsThatAreNoTensorsOfNumbersAreNamed) {
  struct Case {
    Model model;
    std::string says;
  };
  const ValueInfo x = Value("x", DType::kFloat32);
  const Case cases[] = {
      {OneNode("SequenceConstruct", {x},
               Encoded("out", "sequence", "\x22\x06\x0A\x04\x0A\x02\x08\x01")),
       "output 'out' is a sequence, which cannot be compared"},
      {OneNode("Cast", {x}, Encoded("out", "string", "\x0A\x02\x08\x08"),
               {{.name = "to", .value = std::int64_t{8}}}),
       "output 'out' is a tensor of strings, which cannot be compared"},
  };
  for (const Case& c : cases) {
    const auto loaded = backend_.Load({.path = Write(c.model)});
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    const auto run = backend_.Run(
        {.inputs = {{"x", *Tensor::Allocate(DType::kFloat32, {2})}}});
    ASSERT_FALSE(run.has_value());
    EXPECT_EQ(run.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(run.error().message, c.says);
  }
}

TEST_F(OrtBackendTest, ComplexInputsAreAnError) {
  const std::string path =
      Write(OneNode("Identity", {Value("x", DType::kFloat32)},
                    Value("out", DType::kFloat32)));
  ASSERT_TRUE(backend_.Load({.path = path}).has_value());
  EXPECT_FALSE(
      backend_
          .Run({.inputs = {{"x", *Tensor::Allocate(DType::kComplex64, {2})}}})
          .has_value());
}

TEST_F(OrtBackendTest, FilesThatAreNoModelAreErrors) {
  const auto missing = backend_.Load({.path = (folder_ / "no.onnx").string()});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("no.onnx"));
  std::ofstream(folder_ / "text.onnx") << "this is no model";
  const auto text = backend_.Load({.path = (folder_ / "text.onnx").string()});
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kBackend);
  EXPECT_THAT(text.error().message,
              AllOf(HasSubstr("text.onnx"), Not(HasSubstr("\n"))));
  EXPECT_FALSE(backend_.Run({}).has_value());
}

TEST_F(OrtBackendTest, AnUnknownProviderListsTheOnesThereAre) {
  for (const char* const name : {"NoExecutionProvider", "Cpu", "x"}) {
    const auto loaded = backend_.Load(
        {.path = CasePath("encoder-decoder-dynamic", "model.onnx"),
         .provider = name});
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(
        loaded.error().message,
        AllOf(HasSubstr(std::format("has no provider '{}'; it has ", name)),
              HasSubstr("CPUExecutionProvider")));
  }
}

TEST_F(OrtBackendTest, EveryOptimizationLevelRunsAndOthersAreRefused) {
  const NamedTensors inputs = CaseInputs("encoder-decoder-dynamic");
  for (const char* const level : {"disabled", "basic", "extended", "all"}) {
    const auto loaded = backend_.Load(
        {.path = CasePath("encoder-decoder-dynamic", "model.onnx"),
         .threads = 1,
         .optimization = level});
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_TRUE(backend_.Run({.inputs = inputs}).has_value());
  }
  const auto loaded =
      backend_.Load({.path = CasePath("encoder-decoder-dynamic", "model.onnx"),
                     .optimization = "most"});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(OrtBackendTest, WithoutAModelTheLibrarySaysWhatItHas) {
  const auto loaded = backend_.Load({.path = ""});
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_THAT(loaded->version, HasSubstr("ONNX Runtime 1."));
  EXPECT_THAT(loaded->providers, Contains("CPUExecutionProvider"));
  EXPECT_FALSE(backend_.Run({}).has_value());
}

TEST_F(OrtBackendTest, AMeasuredModelRunsAgainAndItsNodesAreCountedOnce) {
  const fs::path scratch =
      fs::path(testing::TempDir()) /
      std::format("ort_backend_test_scratch_{}", ::getpid());
  fs::create_directories(scratch);
  const auto loaded =
      backend_.Load({.path = CasePath("encoder-decoder-dynamic", "model.onnx"),
                     .measured = true,
                     .scratch_folder = scratch.string()});
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  const NamedTensors inputs = CaseInputs("encoder-decoder-dynamic");
  const auto run = backend_.Run({.inputs = inputs, .repeats = 3});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_THAT(run->repeat_ms, SizeIs(3));
  EXPECT_THAT(run->repeat_ms, Each(Gt(0.0)));
  ASSERT_THAT(run->provider_nodes, SizeIs(1));
  EXPECT_EQ(run->provider_nodes.begin()->first, "CPUExecutionProvider");
  EXPECT_GT(run->provider_nodes.begin()->second, 3);
  EXPECT_TRUE(fs::is_empty(scratch)) << "the profile was left behind";
  const auto later = backend_.Run({.inputs = inputs});
  ASSERT_TRUE(later.has_value());
  EXPECT_THAT(later->provider_nodes, IsEmpty());
  EXPECT_THAT(later->repeat_ms, IsEmpty());
  fs::remove_all(scratch);
}

TEST_F(OrtBackendTest, OtherKindsOfModelsAreRefused) {
  const auto loaded = backend_.Load({.kind = ModelKind::kTorchScript});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace parity
