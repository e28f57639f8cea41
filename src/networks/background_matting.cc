#include "networks/background_matting.h"

#include <cstdint>
#include <format>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "graph/graph_builder.h"
#include "graph/model.h"
#include "graph/operators.h"
#include "networks/layer_graph.h"
#include "networks/matting_base_graph.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "networks/matting_layers.h"
#include "networks/matting_refiner_graph.h"
#include "networks/synthetic_weights.h"
#include "networks/weights_check.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// The axes of an image whose height and width are called `prefix`height, ….
std::vector<Dimension> ImageShape(std::int64_t channels,
                                  std::string_view prefix = "") {
  return {{.value = {}, .name = "batch"},
          {.value = channels, .name = ""},
          {.value = {}, .name = std::format("{}height", prefix)},
          {.value = {}, .name = std::format("{}width", prefix)}};
}

struct Inputs {
  Value src;
  Value bgr;
  Value src_bgr;  // (N,6,H,W)
  Value size;     // (H,W), int64
};

Inputs DeclareInputs(LayerGraph& graph) {
  GraphBuilder& builder = graph.builder();
  const Operators ops = graph.In("");
  Inputs inputs;
  inputs.src = builder.Input("src", graph.dtype(), ImageShape(3));
  inputs.bgr = builder.Input("bgr", graph.dtype(), ImageShape(3));
  const Value shape = ops.Shape(inputs.src);
  graph.SetBatch(ops.SliceVector(shape, 0, 1));
  inputs.size = ops.SliceVector(shape, 2, 4);
  inputs.src_bgr = ops.Concat({inputs.src, inputs.bgr}, 1);
  return inputs;
}

void MattingBase(LayerGraph& graph, const MattingConfig& config) {
  const Inputs in = DeclareInputs(graph);
  const BaseOutputs base =
      BaseNetwork(graph, config.backbone, in.src_bgr, in.size);
  const Value fgr =
      graph.Clip("", graph.In("").Add(base.fgr_residual, in.src), 0, 1);
  GraphBuilder& builder = graph.builder();
  builder.Output(base.pha, "pha", graph.dtype(), ImageShape(1));
  builder.Output(fgr, "fgr", graph.dtype(), ImageShape(3));
  builder.Output(base.err, "err", graph.dtype(), ImageShape(1));
  builder.Output(base.hid, "hid", graph.dtype(), ImageShape(kHiddenChannels));
}

MattingSizes ComputeSizes(LayerGraph& graph, double backbone_scale,
                          Value full) {
  const Operators ops = graph.In("");
  GraphBuilder& builder = graph.builder();
  const auto divided_by = [&](std::int64_t divisor) {
    return ops.Div(full, builder.Integers({&divisor, 1}));
  };
  // floor(size·scale) in double, as PyTorch computes it.
  const Value scaled = ops.Mul(ops.Cast(full, DType::kFloat64),
                               builder.Float(backbone_scale, DType::kFloat64));
  return {.full = full,
          .half = divided_by(2),
          .quarter = divided_by(4),
          .coarse = ops.Cast(ops.Floor(scaled), DType::kInt64)};
}

void MattingRefine(LayerGraph& graph, const MattingConfig& config,
                   const MattingExportOptions& options) {
  const Operators ops = graph.In("");
  const Inputs in = DeclareInputs(graph);
  const MattingSizes sizes =
      ComputeSizes(graph, config.backbone_scale, in.size);
  const Value src_bgr_sm = graph.Up("", in.src_bgr, 6, sizes.coarse);
  const BaseOutputs base =
      BaseNetwork(graph, config.backbone, src_bgr_sm, sizes.coarse);
  const RefinerOutputs refined =
      Refiner(graph, config, options, in.src_bgr, base, sizes);

  const Value pha = graph.Clip("", refined.pha, 0, 1);
  const Value fgr = graph.Clip("", ops.Add(refined.fgr_residual, in.src), 0, 1);
  const Value src_sm = ops.Split(src_bgr_sm, {3, 3}, 1)[0];
  const Value fgr_sm = graph.Clip("", ops.Add(base.fgr_residual, src_sm), 0, 1);
  GraphBuilder& builder = graph.builder();
  builder.Output(pha, "pha", graph.dtype(), ImageShape(1));
  builder.Output(fgr, "fgr", graph.dtype(), ImageShape(3));
  builder.Output(base.pha, "pha_sm", graph.dtype(), ImageShape(1, "coarse_"));
  builder.Output(fgr_sm, "fgr_sm", graph.dtype(), ImageShape(3, "coarse_"));
  builder.Output(base.err, "err_sm", graph.dtype(), ImageShape(1, "coarse_"));
  builder.Output(refined.ref, "ref_sm", graph.dtype(),
                 ImageShape(1, "quarter_"));
}

// The oldest version of the file format that knows the operator set, so that
// old runtimes load the model.
std::int64_t IrVersionFor(int opset_version) {
  if (opset_version <= 11) return 6;
  if (opset_version <= 14) return 7;
  if (opset_version <= 18) return 8;
  return 9;
}

std::map<std::string, std::string> Metadata(
    const MattingConfig& config, const MattingExportOptions& options) {
  std::map<std::string, std::string> metadata = ToAttributes(config);
  metadata["network"] = "BackgroundMattingV2";
  if (config.type == MattingType::kRefine) {
    metadata["patch_crop_method"] = Name(options.crop);
    metadata["patch_replace_method"] = Name(options.replace);
  }
  metadata["precision"] = Name(options.precision);
  metadata["weights"] = options.weights_source;
  metadata["tool_version"] = options.tool_version;
  return metadata;
}

}  // namespace

Result<MattingExport> BuildBackgroundMatting(
    const MattingConfig& config, const NamedTensors& weights,
    const MattingExportOptions& options) {
  PARITY_RETURN_IF_ERROR(CheckConfig(config));
  PARITY_RETURN_IF_ERROR(CheckExportOptions(options));
  PARITY_ASSIGN_OR_RETURN(
      const CheckedWeights checked,
      CheckWeights(config, weights, /*allow_missing=*/false));

  MattingExport result;
  Model& model = result.model;
  model.ir_version = IrVersionFor(options.opset_version);
  model.opset_imports = {{.domain = "", .version = options.opset_version}};
  model.producer_name = "onnx-parity";
  model.producer_version = options.tool_version;
  model.metadata = Metadata(config, options);
  // Hashing reads every weight once, as long as all the rest takes.
  std::jthread hash([&checked, &digest = model.metadata["weights_sha256"]] {
    digest = WeightsDigest(checked.weights);
  });

  LayerGraph graph(
      std::format("{}_{}", Name(config.type), Name(config.backbone)), weights,
      options);
  if (config.type == MattingType::kBase) {
    MattingBase(graph, config);
  } else {
    MattingRefine(graph, config, options);
  }
  PARITY_ASSIGN_OR_RETURN(model.graph, std::move(graph).Take(result.notes));
  hash.join();
  return result;
}

}  // namespace parity
