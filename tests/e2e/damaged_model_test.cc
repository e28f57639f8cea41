// Correct exports with one fault planted: each must fail or be refused, never
// pass, and say what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

class DamagedModelTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_folder = new TestFolder;
    (void)RunTool(
        {"export", "--model-type", "mattingbase", "--output", Original()});
  }
  static void TearDownTestSuite() { delete shared_folder; }

  static std::string Original() { return *shared_folder / "model.onnx"; }
  static std::string Damaged() { return *shared_folder / "damaged.onnx"; }

  static ToolRun ValidateFile(const std::string& path) {
    return RunTool({"validate", path, "--shape", "src=1x3x64x96"});
  }

  // Validates the export after `damage` has been done to it.
  static ToolRun Validate(const std::function<void(Model&)>& damage) {
    Result<Model> model = ReadOnnxModel(Original());
    if (!model)
      return {.exit_code = -1, .out = "", .err = model.error().message};
    damage(*model);
    if (const Status written = WriteOnnxModel(*model, Damaged()); !written)
      return {.exit_code = -1, .out = "", .err = written.error().message};
    return ValidateFile(Damaged());
  }

  static Initializer& Find(Model& model, std::string_view part) {
    return *std::ranges::find_if(
        model.graph.initializers,
        [&](const Initializer& i) { return i.name.contains(part); });
  }

  // Replaces one element of a float initializer.
  static void SetElement(Model& model, std::string_view part, std::size_t index,
                         float value) {
    Initializer& initializer = Find(model, part);
    Tensor copy =
        *Tensor::Copy(initializer.tensor.dtype(), initializer.tensor.shape(),
                      initializer.tensor.bytes());
    copy.MutableAs<float>()[index] = value;
    initializer.tensor = copy;
  }

  static TestFolder* shared_folder;
};
TestFolder* DamagedModelTest::shared_folder = nullptr;

TEST_F(DamagedModelTest, TheUndamagedModelPasses) {
  const ToolRun run = Validate([](Model&) {});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST_F(DamagedModelTest, NaNInTheCandidateFails) {
  const ToolRun run = Validate([](Model& model) {
    SetElement(model, "decoder.conv4.bias", 0,
               std::numeric_limits<float>::quiet_NaN());
  });
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("pha has NaN or infinity on one side only"));
}

TEST_F(DamagedModelTest, AChangedBiasFails) {
  const ToolRun run = Validate(
      [](Model& model) { SetElement(model, "decoder.conv4.bias", 4, 0.41F); });
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("err differs by 0.01"));
}

TEST_F(DamagedModelTest, AMissingOutputFails) {
  const ToolRun run = Validate([](Model& model) {
    model.graph.outputs.erase(model.graph.outputs.begin() + 2);
  });
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(
      run.out,
      HasSubstr("output err of the reference is missing from the ONNX file"));
}

TEST_F(DamagedModelTest, AnExtraOutputFails) {
  const ToolRun run = Validate([](Model& model) {
    ValueInfo extra;
    extra.name = model.graph.nodes.front().outputs.front();
    model.graph.outputs.push_back(extra);
  });
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("is not among the reference's"));
}

TEST_F(DamagedModelTest, SwappedOutputNamesFail) {
  const ToolRun run = Validate([](Model& model) {
    const auto rename = [](std::string& name) {
      if (name == "pha") {
        name = "err";
      } else if (name == "err") {
        name = "pha";
      }
    };
    for (Node& node : model.graph.nodes) {
      std::ranges::for_each(node.inputs, rename);
      std::ranges::for_each(node.outputs, rename);
    }
  });
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
}

TEST_F(DamagedModelTest, AnOutputWithoutItsLeadingAxesIsNotBroadcast) {
  const ToolRun run = Validate([](Model& model) {
    for (Node& node : model.graph.nodes) {
      for (std::string& output : node.outputs) {
        if (output == "pha") output = "pha_full";
      }
    }
    Node squeeze;
    squeeze.name = "squeeze";
    squeeze.op_type = "Squeeze";
    squeeze.inputs = {"pha_full"};
    squeeze.outputs = {"pha"};
    model.graph.nodes.push_back(squeeze);
    model.graph.outputs[0].shape.reset();
  });
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("pha: rank is 2"));
}

TEST_F(DamagedModelTest, AnOutputOfAnotherDtypeFails) {
  const ToolRun run = Validate([](Model& model) {
    for (Node& node : model.graph.nodes) {
      for (std::string& output : node.outputs) {
        if (output == "pha") output = "pha_float";
      }
    }
    Node cast;
    cast.name = "cast";
    cast.op_type = "Cast";
    cast.inputs = {"pha_float"};
    cast.outputs = {"pha"};
    cast.attributes = {{.name = "to", .value = std::int64_t{11}}};  // DOUBLE
    model.graph.nodes.push_back(cast);
    model.graph.outputs[0].dtype = DType::kFloat64;
  });
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("dtype is float64, the reference's is float32"));
}

TEST_F(DamagedModelTest, DimensionNamesThatLieFail) {
  const ToolRun run = Validate([](Model& model) {
    // A width that is called height.
    (*model.graph.outputs[0].shape)[3] = {.value = {}, .name = "height"};
  });
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("dimension 'height' is 64 in src but 96 in pha"));
}

TEST_F(DamagedModelTest, ExternalWeightsAreFoundOrMissedByName) {
  Result<Model> model = ReadOnnxModel(Original());
  ASSERT_TRUE(model.has_value());
  const std::string path = *shared_folder / "external.onnx";
  ASSERT_TRUE(
      WriteOnnxModel(*model, path, {.external_data_threshold_bytes = 1'000'000})
          .has_value());
  ASSERT_LT(std::filesystem::file_size(path), 1'000'000U);
  EXPECT_EQ(ValidateFile(path).exit_code, 0);

  const std::string data = path + ".data";
  std::filesystem::resize_file(data, std::filesystem::file_size(data) - 1);
  ToolRun run = ValidateFile(path);
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("external.onnx.data"));
  std::filesystem::remove(data);
  run = ValidateFile(path);
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("external.onnx.data"));
}

TEST_F(DamagedModelTest, ATruncatedFileIsRefused) {
  const auto size = std::filesystem::file_size(Original());
  for (const double part : {0.0, 0.001, 0.5, 0.999}) {
    std::filesystem::copy_file(
        Original(), Damaged(),
        std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(
        Damaged(),
        static_cast<std::uintmax_t>(static_cast<double>(size) * part));
    const ToolRun run = ValidateFile(Damaged());
    EXPECT_EQ(run.exit_code, 2) << part << run.out;
    EXPECT_THAT(run.err, HasSubstr("damaged.onnx"));
  }
}

TEST_F(DamagedModelTest, AnOperatorTheRuntimeDoesNotKnowIsNotAVerdict) {
  const ToolRun run = Validate([](Model& model) {
    model.graph.nodes.front().op_type = "NoSuchOperator";
  });
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("NoSuchOperator"));
}

TEST_F(DamagedModelTest, UndefinedValuesAreNamed) {
  const ToolRun run = Validate(
      [](Model& model) { model.graph.nodes[3].inputs[0] = "nowhere"; });
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("'nowhere'"));
}

}  // namespace
}  // namespace parity
