// The axes of a sweep and the values each can take.
#ifndef PARITY_SWEEP_SWEEP_AXES_H_
#define PARITY_SWEEP_SWEEP_AXES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/tensor.h"

namespace parity {

// One axis with the values to try, in order.
struct Axis {
  std::string name;  // "crop"
  std::vector<std::string> values;
};

// Errors: kInvalidArgument for "all" among other values.
[[nodiscard]] Status CheckAllIsAlone(std::string_view axis,
                                     const std::vector<std::string>& texts);

// The axes of how the network is exported, in the order in which rows are made
// (the last changes fastest): backbone, backbone_scale, kernel_size,
// refine_mode, opset, precision, crop, replace. Those that say nothing about a
// configuration of type mattingbase are left out for it.
//
// Where `axes` is silent: the configuration's own value, opset 12, float32, and
// every crop and replace method. "all" is every value of the published command
// lines; of backbone_scale 0.125, 0.25 and 0.5, of opset 11 to 20. Errors:
// kInvalidArgument for a value that is none (listing those there are), or twice
// the same.
[[nodiscard]] Result<std::vector<Axis>> ExportAxes(const SweepAxes& axes,
                                                   const MattingConfig& config);

// Errors: kInvalidArgument naming the first axis of an export that is given.
[[nodiscard]] Status CheckNoExportAxes(const SweepAxes& axes);

// Levels of optimization. "all" alone is every level, among others it is the
// level of that name; nothing is the level "all".
[[nodiscard]] Result<std::vector<std::string>> OptimizationValues(
    const std::vector<std::string>& texts);

// The execution providers to try on a runtime that has `available`, by their
// full names. Nothing or "all": all of them, the CPU first. A name may be short
// and in any case ("cpu", "dnnl"); one that the runtime does not have stays, to
// be refused by it.
[[nodiscard]] std::vector<std::string> ProviderValues(
    const std::vector<std::string>& texts,
    const std::vector<std::string>& available);

// What "1x3x720x1280" (every input) or "src=1x3x8x8+bgr=1x3x8x8" says for the
// inputs of these names. "all" on the axis stands for three sizes of pictures
// (ShapeValues). Errors: kInvalidArgument for other texts and unknown inputs.
[[nodiscard]] Result<std::map<std::string, Shape>> ShapesOf(
    std::string_view text, const std::vector<std::string>& inputs);

// Errors: kInvalidArgument for "all" where the model is not the network.
[[nodiscard]] Result<std::vector<std::string>> ShapeValues(
    const std::vector<std::string>& texts, bool is_network);

}  // namespace parity

#endif  // PARITY_SWEEP_SWEEP_AXES_H_
