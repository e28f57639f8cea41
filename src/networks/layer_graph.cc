#include "networks/layer_graph.h"

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "graph/graph_builder.h"
#include "graph/model.h"
#include "graph/operators.h"
#include "networks/matting_export_options.h"
#include "networks/matting_layers.h"
#include "networks/parameter_rounding.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

LayerGraph::LayerGraph(std::string graph_name, const NamedTensors& weights,
                       const MattingExportOptions& options)
    : builder_(std::move(graph_name)),
      opset_version_(options.opset_version),
      fold_(options.constant_folding),
      dtype_(DTypeOf(options.precision)) {
  for (const NamedTensor& entry : weights)
    weights_.emplace(entry.name, &entry.tensor);
}

Operators LayerGraph::In(std::string module) {
  return {builder_, opset_version_, std::move(module)};
}

const Tensor& LayerGraph::Weight(std::string_view name) const {
  const auto found = weights_.find(name);
  assert(found != weights_.end());
  return *found->second;
}

Value LayerGraph::Parameter(const std::string& name) {
  const Value value = builder_.Initializer(name);
  const auto compute = [&source = Weight(name),
                        dtype = dtype_](std::vector<Slot>& slots) -> Status {
    PARITY_ASSIGN_OR_RETURN(slots[0].rounded, Round(source, dtype));
    return {};
  };
  jobs_.push_back(
      {.slots = {{.name = name, .initializer = value, .rounded = {}}},
       .compute = compute});
  return value;
}

Value LayerGraph::Conv(const std::string& path, Value x, const Window& window) {
  const Value weight = Parameter(path + ".weight");
  const Value bias =
      weights_.contains(path + ".bias") ? Parameter(path + ".bias") : Value{};
  return In(path).Conv(x, weight, bias, Weight(path + ".weight").shape()[2],
                       window);
}

Value LayerGraph::ConvBn(const std::string& conv, const std::string& bn,
                         Value x, const Window& window, int zero_channels) {
  if (!fold_) {
    assert(zero_channels == 0);
    const Value y = Conv(conv, x, window);
    return In(bn).BatchNormalization(
        y, Parameter(bn + ".weight"), Parameter(bn + ".bias"),
        Parameter(bn + ".running_mean"), Parameter(bn + ".running_var"),
        kBatchNormEpsilon);
  }
  const ConvAndBatchNorm layer = {.weight = &Weight(conv + ".weight"),
                                  .gamma = &Weight(bn + ".weight"),
                                  .beta = &Weight(bn + ".bias"),
                                  .mean = &Weight(bn + ".running_mean"),
                                  .variance = &Weight(bn + ".running_var")};
  const Value weight = builder_.Initializer(conv + ".weight");
  const Value bias = builder_.Initializer(conv + ".bias");
  const auto compute = [layer, dtype = dtype_,
                        zero_channels](std::vector<Slot>& slots) -> Status {
    PARITY_ASSIGN_OR_RETURN(FoldedConv folded, FoldBatchNorm(layer, dtype));
    slots[0].rounded = std::move(folded.weight);
    slots[1].rounded = std::move(folded.bias);
    if (zero_channels == 0) return {};
    Tensor& folded_weight = slots[0].rounded.tensor;
    PARITY_ASSIGN_OR_RETURN(folded_weight,
                            AppendZeroInputs(folded_weight, zero_channels));
    return {};
  };
  jobs_.push_back(
      {.slots = {{.name = conv + ".weight",
                  .initializer = weight,
                  .rounded = {}},
                 {.name = conv + ".bias", .initializer = bias, .rounded = {}}},
       .compute = compute});
  const Value y =
      In(conv).Conv(x, weight, bias, layer.weight->shape()[2], window);
  builder_.NameAs(y, bn, "BatchNormalization");
  return y;
}

Value LayerGraph::Clip(const std::string& module, Value x, double low,
                       double high) {
  return In(module).Clip(x, low, high, dtype_);
}

Value LayerGraph::ToFloat32(const Operators& module, Value x) const {
  return dtype_ == DType::kFloat32 ? x : module.Cast(x, DType::kFloat32);
}

Value LayerGraph::FromFloat32(const Operators& module, Value x) const {
  return dtype_ == DType::kFloat32 ? x : module.Cast(x, dtype_);
}

Value LayerGraph::UpInFloat32(const std::string& module, Value x, int channels,
                              Value size) {
  const Operators ops = In(module);
  const std::int64_t channel_count = channels;
  const Value sizes =
      ops.Concat({batch_, builder_.Integers({&channel_count, 1}), size}, 0);
  return ops.ResizeBilinear(ToFloat32(ops, x), sizes);
}

Value LayerGraph::Up(const std::string& module, Value x, int channels,
                     Value size) {
  return FromFloat32(In(module), UpInFloat32(module, x, channels, size));
}

Result<Graph> LayerGraph::Take(std::vector<std::string>& notes) && {
  std::vector<Status> statuses(jobs_.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs_.size(); i = next++)
      statuses[i] = jobs_[i].compute(jobs_[i].slots);
  };
  {
    const std::jthread other(work);
    work();
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    PARITY_RETURN_IF_ERROR(std::move(statuses[i]));
    for (Slot& slot : jobs_[i].slots) {
      std::string note = slot.rounded.loss.Note(slot.name);
      if (!note.empty()) notes.push_back(std::move(note));
      builder_.SetTensor(slot.initializer, std::move(slot.rounded.tensor));
    }
  }
  return std::move(builder_).Take();
}

}  // namespace parity
