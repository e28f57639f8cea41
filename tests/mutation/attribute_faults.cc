// Faults of attributes and of padding: the output keeps its shape.
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/splitmix.h"
#include "fault_planting.h"
#include "fault_sites.h"
#include "graph/model.h"
#include "graph_edits.h"
#include "graph_facts.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using IntegerList = std::vector<std::int64_t>;

std::string Text(const AttributeValue& value) {
  if (const auto* const number = std::get_if<float>(&value))
    return std::format("{}", *number);
  if (const auto* const integer = std::get_if<std::int64_t>(&value))
    return std::format("{}", *integer);
  if (const auto* const text = std::get_if<std::string>(&value)) return *text;
  if (const auto* const list = std::get_if<IntegerList>(&value))
    return ToString(*list);
  return "other";
}

// Collects the sites of one node.
class NodeSites {
 public:
  NodeSites(const Node& node, std::size_t index, FaultSites& sites)
      : node_(node), index_(index), sites_(sites) {}

  [[nodiscard]] std::size_t index() const { return index_; }

  void Set(const std::string& way, std::string attribute,
           AttributeValue value) const {
    Add(way,
        [index = index_, attribute = std::move(attribute),
         value = std::move(value)](PlantedFault& fault, const SplitMixStream&) {
          Node& node = fault.model.graph.nodes[index];
          const AttributeValue* const old = node.FindAttribute(attribute);
          fault.description =
              std::format("{} {} → {}", attribute,
                          old == nullptr ? "default" : Text(*old), Text(value));
          SetAttribute(node, attribute, value);
          return true;
        });
  }

  // A number: `otherwise` is its default.
  void Scale(const std::string& attribute, double otherwise,
             double factor) const {
    const double old = FloatOr(node_, attribute, otherwise);
    if (old != 0) Set(attribute, attribute, static_cast<float>(old * factor));
  }

  void Toggle(const std::string& attribute, std::int64_t otherwise) const {
    const bool old = IntegerOr(node_, attribute, otherwise) != 0;
    Set(attribute, attribute, std::int64_t{!old});
  }

  // One of the texts that it is not now.
  void Choose(const std::string& attribute, std::string_view otherwise,
              std::initializer_list<std::string_view> texts) const {
    for (const std::string_view text : texts) {
      if (text != TextOr(node_, attribute, otherwise))
        Set(attribute, attribute, std::string(text));
    }
  }

  void Add(
      const std::string& way,
      std::function<bool(PlantedFault&, const SplitMixStream&)> plant) const {
    sites_[way].push_back(
        {.node = index_, .value = node_.outputs[0], .plant = std::move(plant)});
  }

 private:
  const Node& node_;
  std::size_t index_;
  FaultSites& sites_;
};

bool IsPadded(const Node& node) {
  for (const std::int64_t pad : IntegersOf(node, "pads")) {
    if (pad > 0) return true;
  }
  return false;
}

// One more in a direction whose window has an odd size: what that adds to the
// window, padding makes up for.
void AddDilation(const Node& node, const NodeSites& sites,
                 const Tensor* weight) {
  if (node.op_type != "Conv" || weight == nullptr ||
      weight->shape().size() < 3 ||
      TextOr(node, "auto_pad", "NOTSET") != "NOTSET")
    return;
  const std::size_t axes = weight->shape().size() - 2;
  IntegerList dilations = IntegersOf(node, "dilations");
  IntegerList pads = IntegersOf(node, "pads");
  dilations.resize(axes, 1);
  pads.resize(axes * 2, 0);
  bool changes = false;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t size = weight->shape()[axis + 2];
    if (size == 1 || size % 2 == 0) continue;
    ++dilations[axis];
    pads[axis] += (size - 1) / 2;
    pads[axes + axis] += (size - 1) / 2;
    changes = true;
  }
  if (!changes) return;
  sites.Add("dilation", [dilations, pads, index = sites.index()](
                            PlantedFault& fault, const SplitMixStream&) {
    Node& changed = fault.model.graph.nodes[index];
    fault.description =
        std::format("dilations → {}, padding to match", ToString(dilations));
    SetAttribute(changed, "dilations", dilations);
    SetAttribute(changed, "pads", pads);
    return true;
  });
}

void AddResize(const Node& node, const NodeSites& sites) {
  const std::string_view mode = TextOr(node, "mode", "nearest");
  sites.Choose("coordinate_transformation_mode", "half_pixel",
               {"half_pixel", "align_corners", "asymmetric"});
  if (mode == "nearest") {
    sites.Choose("mode", "nearest", {"linear"});
    // Others agree with some of these at whole factors.
    sites.Choose("nearest_mode", "round_prefer_floor", {"floor", "ceil"});
  } else {
    sites.Choose("mode", "nearest", {"nearest"});
  }
  if (mode == "cubic") sites.Scale("cubic_coeff_a", -0.75, 2.0 / 3);
}

// By operator; floating values only.
void AddOthers(const Node& node, const NodeSites& sites, std::int64_t opset) {
  const std::string_view op = node.op_type;
  if (op == "BatchNormalization" || op == "LayerNormalization" ||
      op == "InstanceNormalization" || op == "GroupNormalization")
    sites.Scale("epsilon", 1e-5, 1000);
  if (op == "LeakyRelu") sites.Scale("alpha", 0.01, 3);
  if (op == "Elu" || op == "Celu" || op == "ThresholdedRelu")
    sites.Scale("alpha", 1, 1.5);
  if (op == "HardSigmoid") {
    sites.Scale("alpha", 0.2, 1.2);
    sites.Scale("beta", 0.5, 1.2);
  }
  if (op == "Gemm") sites.Scale("alpha", 1, 1.05);
  if (op == "Softmax" || op == "LogSoftmax") {
    const std::int64_t axis = IntegerOr(node, "axis", opset < 13 ? 1 : -1);
    // The axis before it: from either end, one less.
    if (axis != 0) sites.Set("axis", "axis", axis - 1);
  }
  if (op == "AveragePool" && IsPadded(node))
    sites.Toggle("count_include_pad", 0);
  if (op == "CumSum") sites.Toggle("exclusive", 0);
  if (op == "TopK") sites.Toggle("largest", 1);
  if (op == "GridSample") sites.Toggle("align_corners", 0);
  if (op == "DepthToSpace") sites.Choose("mode", "DCR", {"DCR", "CRD"});
  if (op == "Gelu") sites.Choose("approximate", "none", {"none", "tanh"});
  if (op == "Pad") sites.Choose("mode", "constant", {"edge"});
  if (op == "RoiAlign") {
    sites.Scale("spatial_scale", 1, 0.9);
    if (opset >= 16) {
      sites.Choose("coordinate_transformation_mode", "half_pixel",
                   {"half_pixel", "output_half_pixel"});
    }
  }
}

}  // namespace

FaultSites AttributeSites(const Model& model, const GraphFacts& facts) {
  FaultSites sites;
  for (const std::size_t index : facts.data_nodes()) {
    const Node& node = model.graph.nodes[index];
    if (!facts.IsFloat(node.outputs[0])) continue;
    const NodeSites node_sites(node, index, sites);
    if (node.inputs.size() > 1)
      AddDilation(node, node_sites, facts.ConstantOf(node.inputs[1]));
    if (node.op_type == "Resize") AddResize(node, node_sites);
    AddOthers(node, node_sites, model.opset_version());
  }
  return sites;
}

FaultSites PaddingSites(const Model& model, const GraphFacts& facts) {
  FaultSites sites;
  for (const std::size_t index : facts.data_nodes()) {
    const Node& node = model.graph.nodes[index];
    const NodeSites node_sites(node, index, sites);
    const std::string_view op = node.op_type;
    if (op != "Conv" && op != "MaxPool" && op != "AveragePool") continue;
    const std::string_view automatic = TextOr(node, "auto_pad", "NOTSET");
    if (automatic.starts_with("SAME"))
      node_sites.Choose("auto_pad", "", {"SAME_UPPER", "SAME_LOWER"});
    const IntegerList pads = IntegersOf(node, "pads");
    const std::size_t axes = pads.size() / 2;
    for (std::size_t axis = 0; axis < axes && automatic == "NOTSET"; ++axis) {
      for (const std::size_t from : {axis, axes + axis}) {
        const std::size_t to = from < axes ? axes + axis : axis;
        IntegerList shifted = pads;
        --shifted[from];
        ++shifted[to];
        if (shifted[from] >= 0) node_sites.Set("shift", "pads", shifted);
      }
    }
  }
  return sites;
}

}  // namespace parity
