// TorchScript behind the backend. Modules are written here as source, or are
// files that PyTorch 2.6 saved (tests/data/torchscript).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <format>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/torch_backend.h"
#include "formats/safetensors/safetensors_reader.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pointwise;

std::string DataPath(const std::string& name, const std::string& file) {
  return std::format("{}/torchscript/{}/{}", PARITY_TEST_DATA, name, file);
}

NamedTensors DataInputs(const std::string& name) {
  return ReadSafetensorsFile(DataPath(name, "inputs.safetensors"))->tensors;
}

Tensor Floats(const std::vector<float>& values) {
  return *Tensor::From<float>(
      DType::kFloat32, {static_cast<std::int64_t>(values.size())}, values);
}

std::vector<std::string> Names(const RunResult& result) {
  std::vector<std::string> names;
  for (const NamedTensor& output : result.outputs) names.push_back(output.name);
  return names;
}

class TorchScriptTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  // Saves a module whose methods are `source`.
  void Save(torch::jit::Module module, const std::string& source) {
    module.define(source);
    module.save(path_);
  }
  void Save(const std::string& source) {
    Save(torch::jit::Module("Model"), source);
  }

  Result<LoadResult> Load(const std::string& path,
                          std::map<std::string, std::string> attributes = {},
                          const std::string& precision = "") {
    return backend_.Load({.kind = ModelKind::kTorchScript,
                          .path = path,
                          .attributes = std::move(attributes),
                          .precision = precision});
  }
  Result<LoadResult> Load(std::map<std::string, std::string> attributes = {}) {
    return Load(path_, std::move(attributes));
  }
  void MustLoad(const std::string& path,
                std::map<std::string, std::string> attributes = {}) {
    const Result<LoadResult> loaded = Load(path, std::move(attributes));
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  }
  std::string LoadError(const std::string& path,
                        std::map<std::string, std::string> attributes = {}) {
    const Result<LoadResult> loaded = Load(path, std::move(attributes));
    return loaded ? "loaded" : loaded.error().message;
  }

  RunResult MustRun(NamedTensors inputs) {
    Result<RunResult> run = backend_.Run({.inputs = std::move(inputs)});
    EXPECT_TRUE(run.has_value()) << run.error().message;
    return run ? *std::move(run) : RunResult{};
  }
  std::string RunError(NamedTensors inputs) {
    const Result<RunResult> run = backend_.Run({.inputs = std::move(inputs)});
    return run ? "ran" : run.error().message;
  }

  std::string path_ =
      std::filesystem::temp_directory_path() /
      std::format("torch_script_test_{}.pt", static_cast<int>(getpid()));
  TorchBackend backend_;
};

// --- files ---

TEST_F(TorchScriptTest, OtherKindsOfFilesAreToldApart) {
  EXPECT_THAT(LoadError("/no/such/file.pt"), HasSubstr("/no/such/file.pt"));
  EXPECT_THAT(LoadError(PARITY_TEST_DATA), HasSubstr("is a folder"));
  struct Case {
    std::string file;
    std::string message;
  };
  for (const Case& c :
       {Case{"checkpoints/plain_dict_zip.pth", "; --checkpoint takes it"},
        Case{"checkpoints/dtypes_legacy.pth", "; --checkpoint takes it"},
        Case{"checkpoints/empty.pth", "not a TorchScript archive (made by"},
        Case{"checkpoints/dtypes.expected.safetensors",
             "is a safetensors file, not a TorchScript archive"},
        Case{"checkpoints/not_a_checkpoint.pth",
             "not a TorchScript archive"}}) {
    const std::string path = std::format("{}/{}", PARITY_TEST_DATA, c.file);
    EXPECT_THAT(LoadError(path), AllOf(HasSubstr(path), HasSubstr(c.message)));
  }
}

TEST_F(TorchScriptTest, DamagedArchivesAreErrorsOfOneLine) {
  std::ifstream whole(DataPath("loop", "reference.pt"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(whole), {}};
  // The name of the code in the archive's directory.
  const std::size_t code = bytes.rfind("code/");
  ASSERT_NE(code, std::string::npos);
  bytes[code] = 'k';
  std::ofstream(path_, std::ios::binary) << bytes;
  const std::string message = LoadError(path_);
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  EXPECT_THAT(message, Not(HasSubstr("frame #")));
  EXPECT_NE(message, "loaded");
}

TEST_F(TorchScriptTest, AModuleWithoutForwardIsAnError) {
  Save("def other(self, x: Tensor):\n  return x\n");
  EXPECT_THAT(LoadError(path_), HasSubstr("no method forward"));
}

// --- inputs ---

TEST_F(TorchScriptTest, InputsGoToTheArgumentsOfTheirName) {
  Save("def forward(self, a: Tensor, b: Tensor):\n  return a - 2 * b\n");
  const Result<LoadResult> loaded = Load();
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_THAT(loaded->input_names, ElementsAre("a", "b"));
  EXPECT_THAT(loaded->output_names, IsEmpty());
  const RunResult run = MustRun({{"b", Floats({1})}, {"a", Floats({10})}});
  EXPECT_THAT(Names(run), ElementsAre("output_0"));
  EXPECT_THAT(run.outputs[0].tensor.As<float>(), ElementsAre(8));
  EXPECT_GT(run.run_ms, 0);
}

TEST_F(TorchScriptTest, OtherNamesGoByPosition) {
  Save("def forward(self, a: Tensor, b: Tensor):\n  return a - 2 * b\n");
  MustLoad(path_);
  // One name of two: the names are those of the other side, not of this one.
  const RunResult run = MustRun({{"b", Floats({10})}, {"y", Floats({1})}});
  EXPECT_THAT(run.outputs[0].tensor.As<float>(), ElementsAre(8));
}

TEST_F(TorchScriptTest, MissingAndSurplusInputsAreNamed) {
  Save("def forward(self, a: Tensor, b: Tensor, c: Tensor):\n  return a\n");
  MustLoad(path_);
  EXPECT_EQ(RunError({{"b", Floats({1})}}),
            "no input is given for 'a', 'c' of the TorchScript module, which "
            "takes 'a', 'b', 'c'");
  EXPECT_EQ(RunError({{"x", Floats({1})}, {"y", Floats({1})}}),
            "no input is given for 'c' of the TorchScript module, which takes "
            "'a', 'b', 'c'");
  EXPECT_THAT(RunError({}), HasSubstr("'a', 'b', 'c'"));
  EXPECT_EQ(RunError({{"w", Floats({1})},
                      {"x", Floats({1})},
                      {"y", Floats({1})},
                      {"z", Floats({1})}}),
            "4 inputs are given, but the TorchScript module takes 3: 'a', 'b', "
            "'c'");
}

TEST_F(TorchScriptTest, ArgumentsWithADefaultMayBeLeftOut) {
  Save(
      "def forward(self, x: Tensor, mask: Optional[Tensor]=None, "
      "n: int=3, scale: float=1.0, flip: bool=False):\n"
      "  y = x * n * scale\n"
      "  if mask is not None:\n    y = y * mask\n"
      "  if flip:\n    y = -y\n"
      "  return y\n");
  MustLoad(path_);
  EXPECT_THAT(MustRun({{"x", Floats({2})}}).outputs[0].tensor.As<float>(),
              ElementsAre(6));
  const Tensor n = *Tensor::From<std::int64_t>(DType::kInt64, {},
                                               std::vector<std::int64_t>{5});
  const RunResult run = MustRun({{"x", Floats({2})},
                                 {"mask", Floats({0.5F})},
                                 {"n", n},
                                 {"scale", Floats({4})},
                                 {"flip", Floats({1})}});
  EXPECT_THAT(run.outputs[0].tensor.As<float>(), ElementsAre(-20));
  EXPECT_EQ(RunError({{"x", Floats({2})}, {"n", Floats({1, 2})}}),
            "argument 'n' of the TorchScript module is of type int, which the "
            "tensor 'n' (2) cannot be");
}

TEST_F(TorchScriptTest, ArgumentsThatNoTensorCanBeAreAnError) {
  Save("def forward(self, xs: List[Tensor]):\n  return xs[0]\n");
  MustLoad(path_);
  EXPECT_THAT(RunError({{"xs", Floats({1})}}),
              HasSubstr("of type List[Tensor]"));
}

TEST_F(TorchScriptTest, AModelThatWritesToItsInputWritesToTheCallersBytes) {
  MustLoad(DataPath("writes_input", "reference.pt"));
  Tensor x = Floats({1, 2, 3, 4, 5, 6});
  const RunResult run = MustRun({{"x", x}});
  EXPECT_THAT(x.As<float>(), ElementsAre(100, 2, 3, -7, 5, 6));
  EXPECT_THAT(run.outputs[0].tensor.As<float>(),
              ElementsAre(50, 1, 1.5F, -3.5F, 2.5F, 3));
}

// --- outputs ---

TEST_F(TorchScriptTest, TuplesAndListsAreFlattenedInOrder) {
  Save(
      "def forward(self, x: Tensor):\n"
      "  return (x, [x + 1, x + 2], (x + 3, 7, 0.5, True))\n");
  MustLoad(path_);
  const RunResult run = MustRun({{"x", Floats({1})}});
  EXPECT_THAT(Names(run),
              ElementsAre("output_0", "output_1", "output_2", "output_3",
                          "output_4", "output_5", "output_6"));
  EXPECT_EQ(run.outputs[3].tensor.As<float>()[0], 4);
  EXPECT_EQ(run.outputs[4].tensor.As<std::int64_t>()[0], 7);
  EXPECT_EQ(run.outputs[4].tensor.shape(), Shape{});
  EXPECT_EQ(run.outputs[5].tensor.As<double>()[0], 0.5);
  EXPECT_EQ(run.outputs[6].tensor.dtype(), DType::kBool);
}

TEST_F(TorchScriptTest, KeysOfDictionariesAreNames) {
  Save(
      "def forward(self, x: Tensor):\n"
      "  return {'pha': [x, x + 1], 'fgr': [x + 2]}\n");
  MustLoad(path_);
  const RunResult run = MustRun({{"x", Floats({1})}});
  EXPECT_THAT(Names(run), ElementsAre("pha.0", "pha.1", "fgr.0"));
  EXPECT_EQ(FindTensor(run.outputs, "fgr.0")->As<float>()[0], 3);
}

TEST_F(TorchScriptTest, NamesStayUnique) {
  Save(
      "def forward(self, x: Tensor):\n"
      "  return ({'a': x}, {'a': x + 1, 'output_2': x + 2}, x + 3)\n");
  MustLoad(path_);
  const RunResult run = MustRun({{"x", Floats({1})}});
  EXPECT_THAT(Names(run), ElementsAre("a", "output_1", "output_2", "output_3"));
}

TEST_F(TorchScriptTest, NoneIsLeftOutAndNothingIsAnError) {
  Save(
      "def forward(self, x: Tensor):\n"
      "  y: Optional[Tensor] = None\n  return (x, y, x + 1)\n");
  MustLoad(path_);
  EXPECT_THAT(Names(MustRun({{"x", Floats({1})}})),
              ElementsAre("output_0", "output_1"));
  Save("def forward(self, x: Tensor):\n  return None\n");
  MustLoad(path_);
  EXPECT_EQ(RunError({{"x", Floats({1})}}),
            "the TorchScript module returns no tensor");
  Save("def forward(self, x: Tensor):\n  return (x, 'done')\n");
  MustLoad(path_);
  EXPECT_THAT(RunError({{"x", Floats({1})}}),
              HasSubstr("returns a value of type str"));
}

// --- attributes ---

class ScriptAttributeTest : public TorchScriptTest {
 protected:
  void SetUp() override {
    torch::jit::Module child("Child");
    child.register_attribute("threshold", c10::FloatType::get(), 0.5);
    child.define(
        "def forward(self, x: Tensor):\n  return x + self.threshold\n");
    torch::jit::Module module("Model");
    module.register_attribute("mode", c10::StringType::get(),
                              std::string("sampling"));
    module.register_attribute("count", c10::IntType::get(), 3);
    module.register_attribute("sharp", c10::BoolType::get(), false);
    module.register_attribute("limit",
                              c10::OptionalType::create(c10::FloatType::get()),
                              c10::IValue());
    module.register_attribute("sizes", c10::ListType::ofInts(),
                              c10::List<std::int64_t>({1, 2}));
    module.register_buffer("weight", at::ones({1}));
    module.register_module("refiner", child);
    Save(module,
         "def forward(self, x: Tensor):\n"
         "  y = self.refiner.forward(x) * self.count\n"
         "  if self.mode == 'full':\n    y = y + 100\n"
         "  if self.sharp:\n    y = -y\n"
         "  limit = self.limit\n"
         "  if limit is not None:\n    y = torch.clamp(y, max=limit)\n"
         "  return y * self.weight\n");
  }
  float Result(std::map<std::string, std::string> attributes) {
    MustLoad(path_, std::move(attributes));
    const RunResult run = MustRun({{"x", Floats({1})}});
    return run.outputs.empty() ? std::nanf("")
                               : run.outputs[0].tensor.As<float>()[0];
  }
};

TEST_F(ScriptAttributeTest, AreSetFromText) {
  EXPECT_EQ(Result({}), 4.5F);
  EXPECT_EQ(Result({{"mode", "full"}}), 104.5F);
  EXPECT_EQ(Result({{"count", "-2"}}), -3);
  EXPECT_EQ(Result({{"sharp", "True"}, {"refiner.threshold", "1e1"}}), -33);
  EXPECT_EQ(Result({{"limit", "2.5"}}), 2.5F);
  EXPECT_EQ(Result({{"limit", "none"}}), 4.5F);
}

TEST_F(ScriptAttributeTest, UnknownNamesListWhatThereIs) {
  for (const char* name : {"modes", "refiner.mode", "refiner", "mode.x",
                           "refiner.", ".mode", "", "refiner.refiner.x"}) {
    const std::string message = LoadError(path_, {{name, "1"}});
    if (std::string(name) == "refiner") {
      EXPECT_THAT(message, HasSubstr("only str, int, float and bool"));
      continue;
    }
    EXPECT_EQ(
        message,
        std::format("the TorchScript module has no attribute '{}'; it has "
                    "training (bool), mode (str), count (int), sharp "
                    "(bool), limit (Optional[float]), refiner.threshold "
                    "(float)",
                    name));
  }
}

TEST_F(ScriptAttributeTest, TextOfAnotherTypeIsAnError) {
  struct Case {
    std::string name, value, type;
  };
  for (const Case& c : {Case{"count", "3.5", "int"}, Case{"count", "", "int"},
                        Case{"count", "99999999999999999999", "int"},
                        Case{"sharp", "yes", "bool"},
                        Case{"refiner.threshold", "high", "float"},
                        Case{"refiner.threshold", "1,5", "float"},
                        Case{"limit", "nothing", "Optional[float]"}}) {
    EXPECT_EQ(LoadError(path_, {{c.name, c.value}}),
              std::format("attribute '{}' is of type {}, which '{}' is not",
                          c.name, c.type, c.value));
  }
  EXPECT_THAT(LoadError(path_, {{"sizes", "1"}}),
              HasSubstr("of type List[int]"));
  EXPECT_THAT(LoadError(path_, {{"weight", "1"}}), HasSubstr("of type Tensor"));
  EXPECT_THAT(LoadError(path_, {{"training", "maybe"}}),
              HasSubstr("true or false, not 'maybe'"));
}

TEST_F(TorchScriptTest, TrainingModeIsReportedAndCanBeLeft) {
  const std::string file = DataPath("training", "reference.pt");
  const Result<LoadResult> training = Load(file);
  ASSERT_TRUE(training.has_value()) << training.error().message;
  EXPECT_THAT(training->notes,
              Contains(HasSubstr("--attribute training=false")));
  const RunResult first = MustRun(DataInputs("training"));

  const Result<LoadResult> evaluation = Load(file, {{"training", "false"}});
  ASSERT_TRUE(evaluation.has_value());
  EXPECT_THAT(evaluation->notes, Not(Contains(HasSubstr("training"))));
  const RunResult second = MustRun(DataInputs("training"));
  EXPECT_THAT(second.outputs[0].tensor.As<float>(),
              Not(Pointwise(::testing::FloatNear(0.1F),
                            first.outputs[0].tensor.As<float>())));

  // A flag alone, without layers that mind it, is no news.
  const Result<LoadResult> harmless = Load(DataPath("loop", "reference.pt"));
  ASSERT_TRUE(harmless.has_value());
  EXPECT_THAT(harmless->notes, Not(Contains(HasSubstr("training"))));
}

// --- runs ---

TEST_F(TorchScriptTest, SavedModulesRun) {
  MustLoad(DataPath("loop", "reference.pt"));
  const RunResult loop = MustRun(DataInputs("loop"));
  EXPECT_EQ(loop.outputs[0].tensor.shape(),
            FindTensor(DataInputs("loop"), "x")->shape());

  MustLoad(DataPath("integers", "reference.pt"));
  const RunResult integers = MustRun(DataInputs("integers"));
  ASSERT_EQ(integers.outputs.size(), 3U);
  EXPECT_EQ(integers.outputs[0].tensor.dtype(), DType::kInt64);
  EXPECT_EQ(integers.outputs[1].tensor.dtype(), DType::kBool);

  MustLoad(DataPath("not_finite", "reference.pt"));
  const RunResult nan = MustRun({{"x", Floats({-1, 0})}});
  ASSERT_EQ(nan.outputs.size(), 3U);
  EXPECT_TRUE(std::isnan(nan.outputs[0].tensor.As<float>()[0]));
  EXPECT_TRUE(std::isinf(nan.outputs[0].tensor.As<float>()[1]));
}

TEST_F(TorchScriptTest, Float64IsTheSameComputation) {
  const std::string file = DataPath("encoder_decoder", "reference.pt");
  MustLoad(file);
  const RunResult single = MustRun(DataInputs("encoder_decoder"));
  ASSERT_TRUE(Load(file, {}, "float64").has_value());
  const RunResult twice = MustRun(DataInputs("encoder_decoder"));
  const Tensor& expected = twice.outputs[0].tensor;
  const Tensor& actual = single.outputs[0].tensor;
  ASSERT_EQ(expected.dtype(), DType::kFloat64);
  ASSERT_EQ(actual.dtype(), DType::kFloat32);
  ASSERT_EQ(actual.shape(), expected.shape());
  double largest = 0;
  for (std::size_t i = 0; i < actual.As<float>().size(); ++i) {
    largest =
        std::max(largest, std::abs(static_cast<double>(actual.As<float>()[i]) -
                                   expected.As<double>()[i]));
  }
  EXPECT_LT(largest, 1e-6);
  EXPECT_GT(largest, 0);
}

TEST_F(TorchScriptTest, IntegerParametersKeepTheirDTypeWhenConverted) {
  torch::jit::Module module("Model");
  module.register_buffer("order", at::arange(1, -1, -1));
  module.register_parameter("scale", at::full({1}, 0.1), /*is_buffer=*/false);
  Save(module,
       "def forward(self, x: Tensor):\n"
       "  return torch.index_select(x, 0, self.order) * self.scale\n");
  ASSERT_TRUE(Load(path_, {}, "float64").has_value());
  const RunResult run = MustRun({{"x", Floats({1, 2})}});
  EXPECT_THAT(
      run.outputs[0].tensor.As<double>(),
      ElementsAre(2 * static_cast<double>(0.1F), static_cast<double>(0.1F)));
}

TEST_F(TorchScriptTest, DTypesAndConstantsInTheCodeAreConverted) {
  // In saved code a dtype is a number: 6 is float32, 3 is int32.
  struct Case {
    std::string code;
    double expected;  // of x = 0.1F
  };
  constexpr double kX = static_cast<double>(0.1F);
  for (const Case& c :
       {Case{"x.to(6) / 3", kX / 3}, Case{"(x / 3).to(dtype=6)", kX / 3},
        Case{"torch.matmul(x.view(1, 1), torch.full([1, 1], 3, dtype=6))",
             kX * 3},
        Case{"torch.matmul(x.view(1, 1), torch.ones([1, 1])) / 3", kX / 3},
        Case{"torch.sum(x / 3, dtype=6)", kX / 3},
        Case{"x.float() / 3", kX / 3},
        Case{"x / 3 + (x * 30).to(3)", kX / 3 + 3},
        Case{"x * (1 / 3)", kX * (1.0 / 3)}}) {
    SCOPED_TRACE(c.code);
    Save(std::format("def forward(self, x: Tensor):\n  return {}\n", c.code));
    ASSERT_TRUE(Load(path_, {}, "float64").has_value());
    const RunResult run = MustRun({{"x", Floats({0.1F})}});
    ASSERT_EQ(run.outputs.size(), 1U);
    ASSERT_EQ(run.outputs[0].tensor.dtype(), DType::kFloat64);
    EXPECT_DOUBLE_EQ(run.outputs[0].tensor.As<double>()[0], c.expected);
  }
  // A default of libtorch that was changed for a run is back.
  EXPECT_EQ(at::ones({1}).scalar_type(), c10::ScalarType::Float);
  // A traced module with a constant tensor in its code.
  ASSERT_TRUE(
      Load(DataPath("not_finite", "reference.pt"), {}, "float64").has_value());
  const RunResult constants = MustRun({{"x", Floats({0.5F, 2})}});
  EXPECT_EQ(constants.outputs[1].tensor.dtype(), DType::kFloat64);
}

TEST_F(TorchScriptTest, DTypesThatCannotBeConvertedAreErrorsThatSaySo) {
  torch::jit::Module module("Model");
  module.register_attribute("kind", c10::IntType::get(), 6);
  module.register_parameter("w", at::ones({2, 2}), /*is_buffer=*/false);
  Save(module,
       "def forward(self, x: Tensor):\n"
       "  return torch.matmul(x.view(1, 2).to(self.kind), self.w)\n");
  ASSERT_TRUE(Load(path_, {}, "float64").has_value());
  EXPECT_THAT(RunError({{"x", Floats({1, 2})}}),
              AllOf(HasSubstr("same dtype"), HasSubstr("float != double"),
                    HasSubstr("torch.matmul"), Not(HasSubstr("\n"))));
}

TEST_F(TorchScriptTest, WhatAModelRaisesIsOneLineWithTheCode) {
  Save(
      "def forward(self, x: Tensor):\n"
      "  w = torch.ones([7, 2])\n  return torch.matmul(x, w)\n");
  MustLoad(path_);
  const Result<RunResult> run =
      backend_.Run({.inputs = {{"x", Floats({1, 2, 3})}}});
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::kBackend);
  EXPECT_THAT(
      run.error().message,
      AllOf(HasSubstr("cannot be multiplied"), HasSubstr("torch.matmul(x, w)"),
            Not(HasSubstr("\n")), Not(HasSubstr("Traceback"))));

  Save(
      "def forward(self, x: Tensor):\n"
      "  if x.size(0) > 0:\n    raise AssertionError('only 64 pixels')\n"
      "  return x\n");
  MustLoad(path_);
  EXPECT_THAT(RunError({{"x", Floats({1})}}), HasSubstr("only 64 pixels"));
}

}  // namespace
}  // namespace parity
