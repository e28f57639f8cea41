#include "networks/matting_base_graph.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <format>
#include <string>
#include <vector>

#include "graph/graph_builder.h"
#include "graph/operators.h"
#include "networks/layer_graph.h"
#include "networks/matting_config.h"
#include "networks/matting_layers.h"

namespace parity {
namespace {

// The input x0 (1/1), the shortcuts x1 (1/2), x2 (1/4), x3 (1/8) and the
// encoder's result x4 (1/16).
using Pyramid = std::array<Value, 5>;

Value BottleneckBlock(LayerGraph& graph, const Bottleneck& block, Value x) {
  const std::string path =
      std::format("backbone.layer{}.{}", block.layer, block.block);
  const Operators relu = graph.In(path + ".relu");
  Value y = relu.Relu(graph.ConvBn(path + ".conv1", path + ".bn1", x));
  y = relu.Relu(graph.ConvBn(path + ".conv2", path + ".bn2", y,
                             {.stride = block.stride,
                              .padding = block.dilation,
                              .dilation = block.dilation}));
  y = graph.ConvBn(path + ".conv3", path + ".bn3", y);
  if (block.downsample) {
    x = graph.ConvBn(path + ".downsample.0", path + ".downsample.1", x,
                     {.stride = block.stride});
  }
  return relu.Relu(graph.In(path).Add(y, x));
}

Pyramid ResNet(LayerGraph& graph, Backbone backbone, Value src_bgr) {
  Pyramid pyramid = {src_bgr};
  Value x = graph.ConvBn("backbone.conv1", "backbone.bn1", src_bgr,
                         {.stride = 2, .padding = 3});
  x = graph.In("backbone.relu").Relu(x);
  pyramid[1] = x;
  x = graph.In("backbone.maxpool").MaxPool(x, 3, {.stride = 2, .padding = 1});
  for (const Bottleneck& block : ResNetBlocks(backbone)) {
    x = BottleneckBlock(graph, block, x);
    // The last block of a layer stays; layer3 alone has no shortcut of its own.
    if (block.layer <= 2)
      pyramid[static_cast<std::size_t>(block.layer) + 1] = x;
  }
  pyramid[4] = x;
  return pyramid;
}

Value ConvBnRelu6(LayerGraph& graph, const std::string& path, Value x,
                  const Window& window = {}) {
  x = graph.ConvBn(path + ".0", path + ".1", x, window);
  return graph.Clip(path + ".2", x, 0, 6);
}

Value InvertedResidualBlock(LayerGraph& graph, const InvertedResidual& block,
                            Value x) {
  const std::string path = std::format("backbone.features.{}", block.index);
  const int depthwise = block.expansion == 1 ? 0 : 1;  // index in .conv
  const auto step = [&](int number) {
    return std::format("{}.conv.{}", path, number);
  };
  Value y = x;
  if (block.expansion != 1) y = ConvBnRelu6(graph, step(0), y);
  y = ConvBnRelu6(graph, step(depthwise), y,
                  {.stride = block.stride,
                   .padding = block.dilation,
                   .dilation = block.dilation,
                   .groups = block.hidden_channels()});
  y = graph.ConvBn(step(depthwise + 1), step(depthwise + 2), y);
  return block.residual ? graph.In(path).Add(x, y) : y;
}

Pyramid MobileNetV2(LayerGraph& graph, Value src_bgr) {
  Pyramid pyramid = {src_bgr};
  Value x = ConvBnRelu6(graph, "backbone.features.0", src_bgr,
                        {.stride = 2, .padding = 1});
  for (const InvertedResidual& block : MobileNetV2Blocks()) {
    x = InvertedResidualBlock(graph, block, x);
    if (block.index == 1) pyramid[1] = x;
    if (block.index == 3) pyramid[2] = x;
    if (block.index == 6) pyramid[3] = x;
  }
  pyramid[4] = x;
  return pyramid;
}

// Height and width of `x` (N,C,H,W).
Value SizeOf(const Operators& module, Value x) {
  return module.SliceVector(module.Shape(x), 2, 4);
}

Value Aspp(LayerGraph& graph, Value x) {
  const Operators aspp = graph.In("aspp");
  std::vector<Value> branches;
  branches.push_back(
      graph.In("aspp.convs.0.2")
          .Relu(graph.ConvBn("aspp.convs.0.0", "aspp.convs.0.1", x)));
  for (std::size_t i = 0; i < kAsppRates.size(); ++i) {
    const std::string path = std::format("aspp.convs.{}", i + 1);
    const int rate = kAsppRates[i];
    branches.push_back(
        graph.In(path + ".2")
            .Relu(graph.ConvBn(path + ".0", path + ".1", x,
                               {.padding = rate, .dilation = rate})));
  }

  const Operators pooling = graph.In("aspp.convs.4");
  Value pooled = graph.In("aspp.convs.4.0").GlobalAveragePool(x);
  pooled = graph.In("aspp.convs.4.3")
               .Relu(graph.ConvBn("aspp.convs.4.1", "aspp.convs.4.2", pooled));
  // Bilinear resizing of a single pixel repeats it.
  const Value ones =
      graph.builder().Integers(std::array<std::int64_t, 2>{1, 1});
  branches.push_back(
      pooling.Expand(pooled, pooling.Concat({ones, SizeOf(pooling, x)}, 0)));

  x = aspp.Concat(branches, 1);
  x = graph.ConvBn("aspp.project.0", "aspp.project.1", x);
  return graph.In("aspp.project.2").Relu(x);
}

Value Decoder(LayerGraph& graph, const Pyramid& pyramid, Value size, Value x) {
  const Operators decoder = graph.In("decoder");
  int channels = kAsppChannels;
  for (std::size_t i = 1; i <= 3; ++i) {
    const Value shortcut = pyramid[4 - i];
    x = graph.Up("decoder", x, channels, SizeOf(decoder, shortcut));
    x = decoder.Concat({x, shortcut}, 1);
    x = graph.ConvBn(std::format("decoder.conv{}", i),
                     std::format("decoder.bn{}", i), x, {.padding = 1});
    x = graph.In("decoder.relu").Relu(x);
    channels = kDecoderChannels[i - 1];
  }
  x = graph.Up("decoder", x, channels, size);
  x = decoder.Concat({x, pyramid[0]}, 1);
  return graph.Conv("decoder.conv4", x, {.padding = 1});
}

}  // namespace

BaseOutputs BaseNetwork(LayerGraph& graph, Backbone backbone, Value src_bgr,
                        Value size) {
  const Pyramid pyramid = backbone == Backbone::kMobileNetV2
                              ? MobileNetV2(graph, src_bgr)
                              : ResNet(graph, backbone, src_bgr);
  Value x = Aspp(graph, pyramid[4]);
  x = Decoder(graph, pyramid, size, x);
  const Operators heads = graph.In("");
  const std::vector<Value> parts =
      heads.Split(x, {1, 3, 1, kHiddenChannels}, 1);
  return {.pha = graph.Clip("", parts[0], 0, 1),
          .fgr_residual = parts[1],
          .err = graph.Clip("", parts[2], 0, 1),
          .hid = heads.Relu(parts[3])};
}

}  // namespace parity
