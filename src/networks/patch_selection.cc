#include "networks/patch_selection.h"

#include <cstdint>

#include "graph/graph_builder.h"
#include "graph/operators.h"
#include "networks/layer_graph.h"
#include "networks/matting_config.h"
#include "parity/dtype.h"

namespace parity {
namespace {

constexpr const char* kModule = "refiner.select";

Value MarkLargest(LayerGraph& graph, const MattingConfig& config, Value err,
                  Value quarter) {
  const Operators ops = graph.In(kModule);
  const Value cells =
      ops.Mul(ops.SliceVector(quarter, 0, 1), ops.SliceVector(quarter, 1, 2));
  const std::int64_t wanted = SampledCells(config);
  const Value count =
      ops.MinInteger(graph.builder().Integers({&wanted, 1}), cells);

  const Value flat = ops.Reshape(err, {0, -1});
  const Value largest = ops.TopKIndices(flat, count);
  Value marked = ops.ScatterElements(
      ops.ConstantOfShape(ops.Shape(flat), 0, DType::kBool), largest,
      ops.ConstantOfShape(ops.Shape(largest), 1, DType::kBool), 1);
  if (config.refine_prevent_oversampling) {
    const Value zero = graph.builder().Float(0, DType::kFloat32);
    marked = ops.And(marked, ops.Greater(flat, zero));
  }
  return ops.Reshape(marked, ops.Shape(err));
}

}  // namespace

Value MarkCells(LayerGraph& graph, const MattingConfig& config, Value err,
                Value quarter) {
  err = graph.UpInFloat32(kModule, err, 1, quarter);
  if (config.refine_mode == RefineMode::kSampling)
    return MarkLargest(graph, config, err, quarter);
  const Value threshold =
      graph.builder().Float(config.refine_threshold, DType::kFloat32);
  return graph.In(kModule).Greater(err, threshold);
}

Value ListCells(LayerGraph& graph, Value marked) {
  const Operators ops = graph.In(kModule);
  return ops.Transpose(ops.NonZero(ops.Squeeze(marked, 1)), {1, 0});
}

}  // namespace parity
