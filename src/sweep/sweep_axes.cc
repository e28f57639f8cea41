#include "sweep/sweep_axes.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <format>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kAll = "all";
constexpr std::string_view kProviderSuffix = "ExecutionProvider";

// One axis of the export: what it may be, and what it is when not given.
struct ExportAxis {
  const char* name;
  const Texts SweepAxes::* given;
  Texts all;
  Texts fallback;
  bool of_refiner;  // says nothing about mattingbase
  bool open;        // takes other values than `all`, checked when exporting
};

std::vector<ExportAxis> ExportAxisTable(const MattingConfig& config) {
  const auto own = [](std::string_view text) {
    return Texts{std::string(text)};
  };
  const Texts crops = {"unfold", "roi_align", "gather"};
  const Texts replaces = {"scatter_nd", "scatter_element"};
  return {
      {.name = "backbone",
       .given = &SweepAxes::backbone,
       .all = {"mobilenetv2", "resnet50", "resnet101"},
       .fallback = own(Name(config.backbone)),
       .of_refiner = false,
       .open = false},
      {.name = "backbone_scale",
       .given = &SweepAxes::backbone_scale,
       .all = {"0.125", "0.25", "0.5"},
       .fallback = own(std::format("{}", config.backbone_scale)),
       .of_refiner = true,
       .open = true},
      {.name = "kernel_size",
       .given = &SweepAxes::kernel_size,
       .all = {"1", "3"},
       .fallback = own(std::to_string(config.refine_kernel_size)),
       .of_refiner = true,
       .open = false},
      {.name = "refine_mode",
       .given = &SweepAxes::refine_mode,
       .all = {"full", "sampling", "thresholding"},
       .fallback = own(Name(config.refine_mode)),
       .of_refiner = true,
       .open = false},
      {.name = "opset",
       .given = &SweepAxes::opset,
       .all = {"11", "12", "13", "14", "15", "16", "17", "18", "19", "20"},
       .fallback = {"12"},
       .of_refiner = false,
       .open = false},
      {.name = "precision",
       .given = &SweepAxes::precision,
       .all = {"float32", "float16"},
       .fallback = {"float32"},
       .of_refiner = false,
       .open = false},
      {.name = "crop",
       .given = &SweepAxes::crop,
       .all = crops,
       .fallback = crops,
       .of_refiner = true,
       .open = false},
      {.name = "replace",
       .given = &SweepAxes::replace,
       .all = replaces,
       .fallback = replaces,
       .of_refiner = true,
       .open = false},
  };
}

std::string FlagOf(std::string_view axis) {
  std::string flag = "--" + std::string(axis);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string Listed(std::span<const std::string> values) {
  std::string list;
  for (const std::string& value : values)
    list += (list.empty() ? "" : ", ") + value;
  return list;
}

bool IsAll(const Texts& texts) { return texts.size() == 1 && texts[0] == kAll; }

// Each value is one of `known` and there once.
Status CheckValues(std::string_view axis, const Texts& values,
                   const Texts& known) {
  const bool all_is_a_value = std::ranges::contains(known, kAll);
  if (!all_is_a_value) PARITY_RETURN_IF_ERROR(CheckAllIsAlone(axis, values));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!known.empty() && !std::ranges::contains(known, values[i])) {
      return Fail(
          ErrorCode::kInvalidArgument,
          std::format("{}: '{}' is none of {}{}", FlagOf(axis), values[i],
                      Listed(known), all_is_a_value ? "" : ", all"));
    }
    if (std::ranges::contains(std::span(values).first(i), values[i])) {
      return Fail(
          ErrorCode::kInvalidArgument,
          std::format("{}: '{}' is given twice", FlagOf(axis), values[i]));
    }
  }
  return {};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return lower;
}

// As ONNX Runtime spells them, for a runtime that does not have them or does
// not even load: its refusal should name what was meant.
const Texts& KnownProviders() {
  static const Texts known = {
      "CPUExecutionProvider",      "DnnlExecutionProvider",
      "XnnpackExecutionProvider",  "CUDAExecutionProvider",
      "TensorrtExecutionProvider", "OpenVINOExecutionProvider",
      "ROCMExecutionProvider",     "MIGraphXExecutionProvider",
      "CoreMLExecutionProvider",   "QNNExecutionProvider",
      "WebGpuExecutionProvider",   "ACLExecutionProvider"};
  return known;
}

std::string ProviderName(const std::string& text, const Texts& available) {
  const std::string wanted = Lower(text);
  for (const Texts* names : {&available, &KnownProviders()}) {
    for (const std::string& name : *names) {
      const std::string full = Lower(name);
      if (wanted == full || wanted + Lower(kProviderSuffix) == full)
        return name;
    }
  }
  return text.ends_with(kProviderSuffix) ? text
                                         : text + std::string(kProviderSuffix);
}

}  // namespace

Status CheckAllIsAlone(std::string_view axis, const Texts& texts) {
  if (texts.size() < 2 || !std::ranges::contains(texts, kAll)) return {};
  return Fail(
      ErrorCode::kInvalidArgument,
      std::format("{}: 'all' stands alone, not in a list", FlagOf(axis)));
}

Result<std::vector<Axis>> ExportAxes(const SweepAxes& axes,
                                     const MattingConfig& config) {
  std::vector<Axis> result;
  for (const ExportAxis& axis : ExportAxisTable(config)) {
    const Texts& given = axes.*axis.given;
    if (axis.of_refiner && config.type == MattingType::kBase) {
      if (given.empty()) continue;
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("{} has no meaning for mattingbase, which has no "
                              "refiner",
                              FlagOf(axis.name)));
    }
    Texts values = given.empty()  ? axis.fallback
                   : IsAll(given) ? axis.all
                                  : given;
    const bool checked = !axis.open && !given.empty();
    PARITY_RETURN_IF_ERROR(
        CheckValues(axis.name, values, checked ? axis.all : Texts{}));
    result.push_back({.name = axis.name, .values = std::move(values)});
  }
  return result;
}

Status CheckNoExportAxes(const SweepAxes& axes) {
  for (const ExportAxis& axis : ExportAxisTable(MattingConfig{})) {
    if ((axes.*axis.given).empty()) continue;
    return Fail(
        ErrorCode::kInvalidArgument,
        std::format("{} says how the built-in network is exported; it has no "
                    "meaning for a model that is there already",
                    FlagOf(axis.name)));
  }
  return {};
}

Result<Texts> OptimizationValues(const Texts& texts) {
  Texts levels = {"disabled", "basic", "extended", "all"};
  if (texts.empty()) return Texts{"all"};
  if (IsAll(texts)) {
    // The default first: it is proposed where others are no faster.
    std::ranges::reverse(levels);
    return levels;
  }
  PARITY_RETURN_IF_ERROR(CheckValues("optimization", texts, levels));
  return texts;
}

Texts ProviderValues(const Texts& texts, const Texts& available) {
  Texts values;
  const auto add = [&](const std::string& name) {
    if (!std::ranges::contains(values, name)) values.push_back(name);
  };
  if (texts.empty() || IsAll(texts)) {
    for (const std::string& name : available) {
      if (name == "CPUExecutionProvider") values.insert(values.begin(), name);
    }
    for (const std::string& name : available) add(name);
    if (values.empty()) values.emplace_back("CPUExecutionProvider");
    return values;
  }
  for (const std::string& text : texts) add(ProviderName(text, available));
  return values;
}

Result<std::map<std::string, Shape>> ShapesOf(std::string_view text,
                                              const Texts& inputs) {
  std::map<std::string, Shape> shapes;
  if (!text.contains('=')) {
    PARITY_ASSIGN_OR_RETURN(const Shape shape, ParseShape(text));
    for (const std::string& input : inputs) shapes[input] = shape;
    return shapes;
  }
  while (!text.empty()) {
    const std::size_t plus = text.find('+');
    const std::string_view part = text.substr(0, plus);
    text.remove_prefix(plus == std::string_view::npos ? text.size() : plus + 1);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("--shape: '{}' is not of the form INPUT=SHAPE; "
                              "several inputs are joined by '+'",
                              part));
    }
    const std::string name(part.substr(0, equals));
    if (!std::ranges::contains(inputs, name)) {
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("--shape: the model has no input '{}'; it has {}",
                              name, Listed(inputs)));
    }
    PARITY_ASSIGN_OR_RETURN(shapes[name], ParseShape(part.substr(equals + 1)));
  }
  return shapes;
}

Result<Texts> ShapeValues(const Texts& texts, bool is_network) {
  if (IsAll(texts)) {
    if (is_network)
      return Texts{"1x3x720x1280", "1x3x1080x1920", "1x3x2160x3840"};
    return Fail(ErrorCode::kInvalidArgument,
                "--shape: a model takes more shapes than can be listed; name "
                "those to try");
  }
  PARITY_RETURN_IF_ERROR(CheckValues("shape", texts, {}));
  return texts;
}

}  // namespace parity
