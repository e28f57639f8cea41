#include "networks/matting_layers.h"

#include <array>
#include <cstddef>
#include <format>
#include <string>
#include <utility>
#include <vector>

#include "networks/matting_config.h"
#include "parity/dtype.h"

namespace parity {
namespace {

class TableWriter {
 public:
  void Conv(std::string name, int out_channels, int in_channels, int kernel) {
    Add(std::move(name) + ".weight",
        {out_channels, in_channels, kernel, kernel});
  }
  void Bias(std::string name, int channels) {
    Add(std::move(name) + ".bias", {channels});
  }
  void BatchNorm(const std::string& name, int channels) {
    for (const char* leaf :
         {".weight", ".bias", ".running_mean", ".running_var"})
      Add(name + leaf, {channels});
    table_.push_back({.name = name + ".num_batches_tracked",
                      .shape = {},
                      .dtype = DType::kInt64});
  }
  [[nodiscard]] std::vector<Parameter> Take() && { return std::move(table_); }

 private:
  void Add(std::string name, Shape shape) {
    table_.push_back({.name = std::move(name),
                      .shape = std::move(shape),
                      .dtype = DType::kFloat32});
  }
  std::vector<Parameter> table_;
};

void MobileNetV2(TableWriter& table) {
  table.Conv("backbone.features.0.0", 32, 6, 3);
  table.BatchNorm("backbone.features.0.1", 32);
  for (const InvertedResidual& block : MobileNetV2Blocks()) {
    const std::string prefix =
        std::format("backbone.features.{}.conv.", block.index);
    int step = 0;
    if (block.expansion != 1) {
      table.Conv(prefix + "0.0", block.hidden_channels(), block.in_channels, 1);
      table.BatchNorm(prefix + "0.1", block.hidden_channels());
      step = 1;
    }
    table.Conv(std::format("{}{}.0", prefix, step), block.hidden_channels(), 1,
               3);
    table.BatchNorm(std::format("{}{}.1", prefix, step),
                    block.hidden_channels());
    table.Conv(std::format("{}{}", prefix, step + 1), block.out_channels,
               block.hidden_channels(), 1);
    table.BatchNorm(std::format("{}{}", prefix, step + 2), block.out_channels);
  }
}

void ResNet(TableWriter& table, Backbone backbone) {
  table.Conv("backbone.conv1", 64, 6, 7);
  table.BatchNorm("backbone.bn1", 64);
  for (const Bottleneck& block : ResNetBlocks(backbone)) {
    const std::string prefix =
        std::format("backbone.layer{}.{}.", block.layer, block.block);
    table.Conv(prefix + "conv1", block.planes, block.in_channels, 1);
    table.BatchNorm(prefix + "bn1", block.planes);
    table.Conv(prefix + "conv2", block.planes, block.planes, 3);
    table.BatchNorm(prefix + "bn2", block.planes);
    table.Conv(prefix + "conv3", block.out_channels(), block.planes, 1);
    table.BatchNorm(prefix + "bn3", block.out_channels());
    if (block.downsample) {
      table.Conv(prefix + "downsample.0", block.out_channels(),
                 block.in_channels, 1);
      table.BatchNorm(prefix + "downsample.1", block.out_channels());
    }
  }
}

void Aspp(TableWriter& table, int in_channels) {
  for (int branch = 0; branch < 4; ++branch) {
    table.Conv(std::format("aspp.convs.{}.0", branch), kAsppChannels,
               in_channels, branch == 0 ? 1 : 3);
    table.BatchNorm(std::format("aspp.convs.{}.1", branch), kAsppChannels);
  }
  table.Conv("aspp.convs.4.1", kAsppChannels, in_channels, 1);
  table.BatchNorm("aspp.convs.4.2", kAsppChannels);
  table.Conv("aspp.project.0", kAsppChannels, 5 * kAsppChannels, 1);
  table.BatchNorm("aspp.project.1", kAsppChannels);
}

void Decoder(TableWriter& table, const std::array<int, 5>& shortcuts) {
  int channels = kAsppChannels;
  for (std::size_t i = 0; i < kDecoderChannels.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    table.Conv("decoder.conv" + number, kDecoderChannels[i],
               channels + shortcuts[3 - i], 3);
    if (i + 1 < kDecoderChannels.size()) {
      table.BatchNorm("decoder.bn" + number, kDecoderChannels[i]);
    } else {
      table.Bias("decoder.conv" + number, kDecoderChannels[i]);
    }
    channels = kDecoderChannels[i];
  }
}

void Refiner(TableWriter& table, int kernel) {
  for (std::size_t i = 0; i < kRefinerLayers.size(); ++i) {
    const auto [in_channels, out_channels] = kRefinerLayers[i];
    const std::string number = std::to_string(i + 1);
    table.Conv("refiner.conv" + number, out_channels, in_channels, kernel);
    if (i + 1 < kRefinerLayers.size()) {
      table.BatchNorm("refiner.bn" + number, out_channels);
    } else {
      table.Bias("refiner.conv" + number, out_channels);
    }
  }
}

}  // namespace

std::vector<InvertedResidual> MobileNetV2Blocks() {
  struct Group {
    int expansion, channels, blocks, stride;
  };
  constexpr std::array<Group, 7> kGroups = {{{1, 16, 1, 1},
                                             {6, 24, 2, 2},
                                             {6, 32, 3, 2},
                                             {6, 64, 4, 2},
                                             {6, 96, 3, 1},
                                             {6, 160, 3, 2},
                                             {6, 320, 1, 1}}};
  std::vector<InvertedResidual> blocks;
  int index = 1;
  int channels = 32;
  for (const Group& group : kGroups) {
    for (int i = 0; i < group.blocks; ++i, ++index) {
      const int stride = i == 0 ? group.stride : 1;
      blocks.push_back({.index = index,
                        .in_channels = channels,
                        .expansion = group.expansion,
                        .out_channels = group.channels,
                        // The last stride is traded for dilation, so that the
                        // result stays at 1/16.
                        .stride = index == 14 ? 1 : stride,
                        .dilation = index >= 15 ? 2 : 1,
                        .residual = stride == 1 && channels == group.channels});
      channels = group.channels;
    }
  }
  return blocks;
}

std::vector<Bottleneck> ResNetBlocks(Backbone backbone) {
  const std::array<int, 4> counts = {
      3, 4, backbone == Backbone::kResNet101 ? 23 : 6, 3};
  constexpr std::array<int, 4> kStrides = {1, 2, 2, 1};
  std::vector<Bottleneck> blocks;
  int channels = 64;
  for (int layer = 1; layer <= 4; ++layer) {
    const auto i = static_cast<std::size_t>(layer - 1);
    for (int block = 0; block < counts[i]; ++block) {
      blocks.push_back({.layer = layer,
                        .block = block,
                        .in_channels = channels,
                        .planes = 64 << i,
                        .stride = block == 0 ? kStrides[i] : 1,
                        .dilation = layer == 4 && block > 0 ? 2 : 1,
                        .downsample = block == 0});
      channels = blocks.back().out_channels();
    }
  }
  return blocks;
}

std::array<int, 5> ShortcutChannels(Backbone backbone) {
  if (backbone == Backbone::kMobileNetV2) return {6, 16, 24, 32, 320};
  return {6, 64, 256, 512, 2048};
}

std::vector<Parameter> ParameterTable(const MattingConfig& config) {
  TableWriter table;
  if (config.backbone == Backbone::kMobileNetV2) {
    MobileNetV2(table);
  } else {
    ResNet(table, config.backbone);
  }
  const std::array<int, 5> shortcuts = ShortcutChannels(config.backbone);
  Aspp(table, shortcuts[4]);
  Decoder(table, shortcuts);
  if (config.type == MattingType::kRefine)
    Refiner(table, config.refine_kernel_size);
  return std::move(table).Take();
}

}  // namespace parity
