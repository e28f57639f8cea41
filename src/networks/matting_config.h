// The configuration of a BackgroundMattingV2 network: what its published
// command lines set.
#ifndef PARITY_NETWORKS_MATTING_CONFIG_H_
#define PARITY_NETWORKS_MATTING_CONFIG_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

enum class MattingType : std::uint8_t { kBase, kRefine };
enum class Backbone : std::uint8_t { kResNet50, kResNet101, kMobileNetV2 };
enum class RefineMode : std::uint8_t { kFull, kSampling, kThresholding };

struct MattingConfig {
  MattingType type = MattingType::kRefine;
  Backbone backbone = Backbone::kMobileNetV2;
  double backbone_scale =
      0.25;  // in (0, 1/2]; MattingRefine only, as all below
  RefineMode refine_mode = RefineMode::kSampling;
  std::int64_t refine_sample_pixels =
      80'000;  // per image; one cell is 16 pixels
  double refine_threshold = 0.1;
  int refine_kernel_size = 3;  // 1 or 3
  bool refine_prevent_oversampling = true;

  bool operator==(const MattingConfig&) const = default;
};

[[nodiscard]] std::string_view Name(
    MattingType type);  // "mattingbase", "mattingrefine"
[[nodiscard]] std::string_view Name(
    Backbone backbone);  // "resnet50", "resnet101", "mobilenetv2"
[[nodiscard]] std::string_view Name(
    RefineMode mode);  // "full", "sampling", "thresholding"

// "pha, fgr, …" in the order forward() returns them.
[[nodiscard]] std::vector<std::string> OutputNames(const MattingConfig& config);

// Errors: kInvalidArgument naming the first value out of range.
[[nodiscard]] Status CheckConfig(const MattingConfig& config);

// The configuration as text, key by key (type, backbone, backbone_scale,
// refine_mode, refine_sample_pixels, refine_threshold, refine_kernel_size,
// refine_prevent_oversampling; MattingBase has only the first two). What the
// metadata of an export holds and what the reference worker is given. Doubles
// are written so that they read back exactly.
[[nodiscard]] std::map<std::string, std::string> ToAttributes(
    const MattingConfig& config);

// The inverse; keys it does not know are ignored, missing ones keep their
// default. Errors: kInvalidArgument naming the key and value.
[[nodiscard]] Result<MattingConfig> ConfigFromAttributes(
    const std::map<std::string, std::string>& attributes);

}  // namespace parity

#endif  // PARITY_NETWORKS_MATTING_CONFIG_H_
