// The tables BackgroundMattingV2 is built from. The parameter table, the ONNX
// builder and the libtorch network all read them, so the three cannot disagree
// about a channel count, a stride or a dilation.
#ifndef PARITY_NETWORKS_MATTING_LAYERS_H_
#define PARITY_NETWORKS_MATTING_LAYERS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "networks/matting_config.h"

namespace parity {

// Added to the variance in every batch normalisation.
inline constexpr double kBatchNormEpsilon = 1e-5;

inline constexpr int kAsppChannels = 256;
inline constexpr std::array<int, 3> kAsppRates = {3, 6, 9};
inline constexpr std::array<int, 4> kDecoderChannels = {128, 64, 48, 37};
inline constexpr int kHiddenChannels =
    32;  // channels 5–36 of the base network's output

// MobileNetV2: backbone.features.<index>, index 1…17 (feature 0 is a 3×3
// convolution, 6→32 channels, stride 2, with ReLU6). 1×1 expansion (none when
// expansion = 1), 3×3 depthwise (padding = dilation), 1×1 projection without
// activation.
struct InvertedResidual {
  int index;
  int in_channels;
  int expansion;
  int out_channels;
  int stride;
  int dilation;
  bool residual;  // adds its input
  [[nodiscard]] int hidden_channels() const { return in_channels * expansion; }
};
[[nodiscard]] std::vector<InvertedResidual> MobileNetV2Blocks();

// ResNet: backbone.layer<layer>.<block>. 1×1 to `planes`, 3×3 (stride,
// dilation, padding = dilation), 1×1 to 4·planes.
struct Bottleneck {
  int layer;  // 1…4
  int block;
  int in_channels;
  int planes;
  int stride;
  int dilation;
  bool downsample;  // a strided 1×1 convolution on the shortcut
  [[nodiscard]] int out_channels() const { return planes * 4; }
};
[[nodiscard]] std::vector<Bottleneck> ResNetBlocks(Backbone backbone);

// Channels of the shortcuts x0 (1/1), x1 (1/2), x2 (1/4), x3 (1/8) and of the
// encoder's result x4 (1/16).
[[nodiscard]] std::array<int, 5> ShortcutChannels(Backbone backbone);

// The refiner's four convolutions.
struct RefinerLayer {
  int in_channels;
  int out_channels;
};
inline constexpr std::array<RefinerLayer, 4> kRefinerLayers = {
    {{42, 24}, {24, 16}, {22, 12}, {12, 4}}};

// One entry of the network's state_dict.
struct Parameter {
  std::string name;
  Shape shape;
  DType dtype;  // float32, or int64 for num_batches_tracked
};

// Every parameter and buffer, in the order PyTorch lists them: exactly the keys
// of a published checkpoint.
[[nodiscard]] std::vector<Parameter> ParameterTable(
    const MattingConfig& config);

}  // namespace parity

#endif  // PARITY_NETWORKS_MATTING_LAYERS_H_
