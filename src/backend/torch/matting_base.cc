#include "backend/torch/matting_base.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/max_pool2d.h>

#include <array>
#include <cstddef>
#include <format>
#include <string>
#include <utility>
#include <vector>

#include "backend/torch/layers.h"
#include "backend/torch/run_trace.h"
#include "networks/matting_config.h"
#include "networks/matting_layers.h"

namespace parity {
namespace {

// x0 (1/1), x1 (1/2), x2 (1/4), x3 (1/8) and the encoder's result x4 (1/16).
using Features = std::array<at::Tensor, 5>;

at::Tensor RunInvertedResidual(const Layers& layers,
                               const InvertedResidual& block,
                               const at::Tensor& input) {
  const std::string name = std::format("backbone.features.{}", block.index);
  const std::string prefix = name + ".conv.";
  const ModuleScope scope(name);
  at::Tensor x = input;
  int step = 0;
  if (block.expansion != 1) {
    x = layers.ConvBn(x, prefix + "0.0", prefix + "0.1", Activation::kRelu6);
    step = 1;
  }
  x = layers.ConvBn(x, std::format("{}{}.0", prefix, step),
                    std::format("{}{}.1", prefix, step), Activation::kRelu6,
                    {.stride = block.stride,
                     .padding = block.dilation,
                     .dilation = block.dilation,
                     .groups = block.hidden_channels()});
  x = layers.ConvBn(x, std::format("{}{}", prefix, step + 1),
                    std::format("{}{}", prefix, step + 2), Activation::kNone);
  return block.residual ? x.add_(input) : x;
}

Features RunMobileNetV2(const Layers& layers, const at::Tensor& input) {
  Features features = {input};
  at::Tensor x =
      layers.ConvBn(input, "backbone.features.0.0", "backbone.features.0.1",
                    Activation::kRelu6, {.stride = 2, .padding = 1});
  for (const InvertedResidual& block : MobileNetV2Blocks()) {
    x = RunInvertedResidual(layers, block, x);
    if (block.index == 1) features[1] = x;
    if (block.index == 3) features[2] = x;
    if (block.index == 6) features[3] = x;
  }
  features[4] = x;
  return features;
}

at::Tensor RunBottleneck(const Layers& layers, const Bottleneck& block,
                         const at::Tensor& input) {
  const std::string name =
      std::format("backbone.layer{}.{}", block.layer, block.block);
  const std::string prefix = name + ".";
  const ModuleScope scope(name);
  at::Tensor x =
      layers.ConvBn(input, prefix + "conv1", prefix + "bn1", Activation::kRelu);
  x = layers.ConvBn(x, prefix + "conv2", prefix + "bn2", Activation::kRelu,
                    {.stride = block.stride,
                     .padding = block.dilation,
                     .dilation = block.dilation});
  x = layers.ConvBn(x, prefix + "conv3", prefix + "bn3", Activation::kNone);
  if (block.downsample) {
    x.add_(layers.ConvBn(input, prefix + "downsample.0",
                         prefix + "downsample.1", Activation::kNone,
                         {.stride = block.stride}));
  } else {
    x.add_(input);
  }
  return x.relu_();
}

Features RunResNet(const Layers& layers, Backbone backbone,
                   const at::Tensor& input) {
  const ModuleScope scope("backbone");
  Features features = {input};
  features[1] = layers.ConvBn(input, "backbone.conv1", "backbone.bn1",
                              Activation::kRelu, {.stride = 2, .padding = 3});
  at::Tensor x = at::max_pool2d(features[1], /*kernel_size=*/{3, 3},
                                /*stride=*/{2, 2}, /*padding=*/{1, 1});
  for (const Bottleneck& block : ResNetBlocks(backbone)) {
    x = RunBottleneck(layers, block, x);
    if (block.layer == 1) features[2] = x;
    if (block.layer == 2) features[3] = x;
  }
  features[4] = x;
  return features;
}

at::Tensor RunAspp(const Layers& layers, const at::Tensor& x) {
  const ModuleScope scope("aspp");
  std::vector<at::Tensor> branches;
  branches.push_back(
      layers.ConvBn(x, "aspp.convs.0.0", "aspp.convs.0.1", Activation::kRelu));
  for (std::size_t i = 0; i < kAsppRates.size(); ++i) {
    const std::string name = std::format("aspp.convs.{}.", i + 1);
    branches.push_back(
        layers.ConvBn(x, name + "0", name + "1", Activation::kRelu,
                      {.padding = kAsppRates[i], .dilation = kAsppRates[i]}));
  }
  const at::Tensor pooled =
      layers.ConvBn(at::adaptive_avg_pool2d(x, {1, 1}), "aspp.convs.4.1",
                    "aspp.convs.4.2", Activation::kRelu);
  branches.push_back(ResizeLike(pooled, x));
  const at::Tensor joined = at::cat(branches, 1);
  branches.clear();
  return layers.ConvBn(joined, "aspp.project.0", "aspp.project.1",
                       Activation::kRelu);
}

// Takes the features so that each is freed after its use.
at::Tensor RunDecoder(const Layers& layers, at::Tensor x, Features features) {
  const ModuleScope scope("decoder");
  for (std::size_t i = 0; i < kDecoderChannels.size(); ++i) {
    at::Tensor shortcut = std::exchange(features[3 - i], {});
    x = at::cat({ResizeLike(x, shortcut), shortcut}, 1);
    shortcut.reset();
    const std::string number = std::to_string(i + 1);
    if (i + 1 < kDecoderChannels.size()) {
      x = layers.ConvBn(x, "decoder.conv" + number, "decoder.bn" + number,
                        Activation::kRelu, {.padding = 1});
    } else {
      x = layers.ConvWithBias(x, "decoder.conv" + number, {.padding = 1});
    }
  }
  return x;
}

}  // namespace

at::Tensor RunMattingBase(const Layers& layers, Backbone backbone,
                          const at::Tensor& src, const at::Tensor& bgr) {
  Features features = backbone == Backbone::kMobileNetV2
                          ? RunMobileNetV2(layers, at::cat({src, bgr}, 1))
                          : RunResNet(layers, backbone, at::cat({src, bgr}, 1));
  const at::Tensor x = RunAspp(layers, std::exchange(features[4], {}));
  return RunDecoder(layers, x, std::move(features));
}

}  // namespace parity
