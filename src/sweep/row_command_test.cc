#include "sweep/row_command.h"

#include <gtest/gtest.h>

#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "parity/diagnosis.h"
#include "parity/validation.h"

namespace parity {
namespace {

TEST(ShellWordTest, OnlyWhatAShellWouldReadIsQuoted) {
  EXPECT_EQ(ShellWord("models/a-1.onnx"), "models/a-1.onnx");
  EXPECT_EQ(ShellWord("my model.pth"), "'my model.pth'");
  EXPECT_EQ(ShellWord("it's"), R"('it'\''s')");
  EXPECT_EQ(ShellWord("$HOME"), "'$HOME'");
  EXPECT_EQ(ShellWord(""), "''");
}

TEST(RowCommandTest, AnExportNamesEverythingThatMakesIt) {
  ValidationOptions options;
  options.reference.checkpoint = "my weights.pth";
  options.runtime.provider = "CPUExecutionProvider";
  options.runtime.optimization = "basic";
  options.cases.shapes["src"] = {1, 3, 64, 64};
  options.reference.cache = "cache";
  MattingExportOptions graph;
  graph.crop = CropMethod::kGather;
  graph.replace = ReplaceMethod::kScatterNd;
  EXPECT_EQ(
      ExportCommand({}, graph, options, "1.30.0"),
      "onnx-parity export --model-type mattingrefine --model-backbone "
      "mobilenetv2 --model-backbone-scale 0.25 --model-refine-mode sampling "
      "--model-refine-sample-pixels 80000 --model-refine-kernel-size 3 "
      "--model-checkpoint 'my weights.pth' "
      "--model-refine-patch-crop-method gather "
      "--model-refine-patch-replace-method scatter_nd "
      "--onnx-opset-version 12 --precision float32 --output model.onnx "
      "--validate --provider CPUExecutionProvider --optimization basic "
      "--runtime 1.30.0 --cache cache --shape src=1x3x64x64");
}

TEST(RowCommandTest, MattingBaseHasNoRefinerToName) {
  MattingConfig config;
  config.type = MattingType::kBase;
  config.backbone = Backbone::kResNet101;
  EXPECT_EQ(ExportCommand(config, {}, {}, "system"),
            "onnx-parity export --model-type mattingbase --model-backbone "
            "resnet101 --synthetic-seed 0 --onnx-opset-version 12 --precision "
            "float32 --output model.onnx --validate --provider "
            "CPUExecutionProvider --optimization all");
}

TEST(RowCommandTest, AModelThatIsThereIsValidated) {
  ValidationOptions options;
  options.model = "m.onnx";
  options.reference.torchscript = "m.pt";
  options.reference.attributes["refine_mode"] = "full";
  options.runtime.threads = 2;
  options.cases.inputs = {"a frame.npz"};
  options.cases.seed = 3;
  options.tolerance.atol = 0.001;
  options.output_rtol["pha"] = 0.5;
  options.criterion = Criterion::kNoise;
  EXPECT_EQ(ValidateCommand(options, "/opt/libonnxruntime.so.1"),
            "onnx-parity validate m.onnx --torchscript m.pt "
            "--attribute refine_mode=full --provider "
            "CPUExecutionProvider --optimization all --runtime-library "
            "/opt/libonnxruntime.so.1 --threads 2 --seed 3 --inputs "
            "'a frame.npz' --atol 0.001 --rtol pha=0.5 --criterion noise");
}

}  // namespace
}  // namespace parity
