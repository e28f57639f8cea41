#include "networks/matting_config.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <format>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/status_macros.h"
#include "parity/error.h"

namespace parity {
namespace {

constexpr std::array<std::string_view, 2> kTypes = {"mattingbase",
                                                    "mattingrefine"};
constexpr std::array<std::string_view, 3> kBackbones = {"resnet50", "resnet101",
                                                        "mobilenetv2"};
constexpr std::array<std::string_view, 3> kModes = {"full", "sampling",
                                                    "thresholding"};

template <class Enum, std::size_t kCount>
Status ReadEnum(std::string_view key, std::string_view text,
                const std::array<std::string_view, kCount>& names,
                Enum& target) {
  std::string known;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == text) {
      target = static_cast<Enum>(i);
      return {};
    }
    known += (i > 0 ? ", " : "") + std::string(names[i]);
  }
  return Fail(ErrorCode::kInvalidArgument,
              std::format("{} '{}' is none of {}", key, text, known));
}

template <class Number>
Status ReadNumber(std::string_view key, std::string_view text, Number& target) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), target);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("{} '{}' is not a number", key, text));
  }
  return {};
}

Status ReadBool(std::string_view key, std::string_view text, bool& target) {
  if (text != "true" && text != "false") {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("{} '{}' is neither true nor false", key, text));
  }
  target = text == "true";
  return {};
}

Status ReadAttribute(std::string_view key, std::string_view text,
                     MattingConfig& config) {
  if (key == "type") return ReadEnum(key, text, kTypes, config.type);
  if (key == "backbone")
    return ReadEnum(key, text, kBackbones, config.backbone);
  if (key == "backbone_scale")
    return ReadNumber(key, text, config.backbone_scale);
  if (key == "refine_mode")
    return ReadEnum(key, text, kModes, config.refine_mode);
  if (key == "refine_sample_pixels")
    return ReadNumber(key, text, config.refine_sample_pixels);
  if (key == "refine_threshold")
    return ReadNumber(key, text, config.refine_threshold);
  if (key == "refine_kernel_size")
    return ReadNumber(key, text, config.refine_kernel_size);
  if (key == "refine_prevent_oversampling")
    return ReadBool(key, text, config.refine_prevent_oversampling);
  return {};
}

}  // namespace

std::string_view Name(MattingType type) {
  return kTypes[static_cast<std::size_t>(type)];
}
std::string_view Name(Backbone backbone) {
  return kBackbones[static_cast<std::size_t>(backbone)];
}
std::string_view Name(RefineMode mode) {
  return kModes[static_cast<std::size_t>(mode)];
}

std::vector<std::string> OutputNames(const MattingConfig& config) {
  if (config.type == MattingType::kBase) return {"pha", "fgr", "err", "hid"};
  return {"pha", "fgr", "pha_sm", "fgr_sm", "err_sm", "ref_sm"};
}

Status CheckConfig(const MattingConfig& config) {
  if (config.type == MattingType::kBase) return {};
  if (!(config.backbone_scale > 0 && config.backbone_scale <= 0.5)) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("backbone_scale {} is outside (0, 0.5]",
                            config.backbone_scale));
  }
  if (config.refine_sample_pixels < 0) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("refine_sample_pixels {} is negative",
                            config.refine_sample_pixels));
  }
  if (config.refine_kernel_size != 1 && config.refine_kernel_size != 3) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("refine_kernel_size {} is neither 1 nor 3",
                            config.refine_kernel_size));
  }
  if (!(config.refine_threshold >= 0 && config.refine_threshold <= 1)) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("refine_threshold {} is outside [0, 1]",
                            config.refine_threshold));
  }
  return {};
}

std::map<std::string, std::string> ToAttributes(const MattingConfig& config) {
  std::map<std::string, std::string> attributes;
  attributes["type"] = Name(config.type);
  attributes["backbone"] = Name(config.backbone);
  if (config.type == MattingType::kBase) return attributes;
  attributes["backbone_scale"] = std::format("{}", config.backbone_scale);
  attributes["refine_mode"] = Name(config.refine_mode);
  attributes["refine_sample_pixels"] =
      std::to_string(config.refine_sample_pixels);
  attributes["refine_threshold"] = std::format("{}", config.refine_threshold);
  attributes["refine_kernel_size"] = std::to_string(config.refine_kernel_size);
  attributes["refine_prevent_oversampling"] =
      config.refine_prevent_oversampling ? "true" : "false";
  return attributes;
}

Result<MattingConfig> ConfigFromAttributes(
    const std::map<std::string, std::string>& attributes) {
  MattingConfig config;
  for (const auto& [key, text] : attributes) {
    PARITY_RETURN_IF_ERROR(ReadAttribute(key, text, config));
  }
  PARITY_RETURN_IF_ERROR(CheckConfig(config));
  return config;
}

}  // namespace parity
