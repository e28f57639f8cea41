#include "cli/network_flags.h"

#include <CLI/CLI.hpp>
#include <array>
#include <map>
#include <string>

namespace parity {

void AddNetworkFlags(CLI::App& command,
                     std::map<std::string, std::string>& config) {
  struct Flag {
    const char* name;
    const char* key;
    const char* help;
    const char* type;
  };
  constexpr std::array<Flag, 8> kFlags = {{
      {"--model-type", "type", "mattingbase or mattingrefine (default)",
       "TYPE"},
      {"--model-backbone", "backbone",
       "resnet101, resnet50 or mobilenetv2 (default)", "NAME"},
      {"--model-backbone-scale", "backbone_scale",
       "Scale of the coarse pass, up to 0.5 (default 0.25)", "X"},
      {"--model-refine-mode", "refine_mode",
       "full, sampling (default) or thresholding", "MODE"},
      {"--model-refine-sample-pixels", "refine_sample_pixels",
       "Pixels to refine in each image, sampling mode (default 80000)", "N"},
      {"--model-refine-threshold", "refine_threshold",
       "Least error to refine, thresholding mode (default 0.1)", "X"},
      {"--model-refine-kernel-size", "refine_kernel_size",
       "Kernel of the refiner's convolutions: 3 (default) or 1", "N"},
      {"--model-refine-prevent-oversampling", "refine_prevent_oversampling",
       "Leave cells without error alone: true (default) or false", "BOOL"},
  }};
  for (const Flag& flag : kFlags) {
    command
        .add_option_function<std::string>(
            flag.name,
            [&config, key = flag.key](const std::string& text) {
              config[key] = text;
            },
            flag.help)
        ->group("Network")
        ->type_name(flag.type);
  }
}

}  // namespace parity
