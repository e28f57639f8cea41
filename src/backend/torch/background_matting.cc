#include "backend/torch/background_matting.h"

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <format>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/torch/layers.h"
#include "backend/torch/matting_base.h"
#include "backend/torch/matting_refiner.h"
#include "backend/torch/run_trace.h"
#include "base/status_macros.h"
#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

std::string ShapeText(const at::Tensor& tensor) {
  return ToString(std::span(tensor.sizes().data(), tensor.sizes().size()));
}

Status CheckImage(std::string_view name, const at::Tensor& image) {
  if (image.dim() != 4 || image.size(1) != 3 || image.numel() == 0) {
    return Fail(ErrorCode::kIncompatible,
                std::format("input '{}' is {}, but the network takes images "
                            "Bx3xHxW that are not empty",
                            name, ShapeText(image)));
  }
  if (!image.is_floating_point()) {
    return Fail(ErrorCode::kIncompatible,
                std::format("input '{}' has dtype {}, but the network takes "
                            "floating images in [0,1]",
                            name, c10::toString(image.scalar_type())));
  }
  return {};
}

}  // namespace

Status BackgroundMatting::CheckInputs(const at::Tensor& src,
                                      const at::Tensor& bgr) const {
  PARITY_RETURN_IF_ERROR(CheckImage("src", src));
  PARITY_RETURN_IF_ERROR(CheckImage("bgr", bgr));
  if (src.sizes() != bgr.sizes()) {
    return Fail(ErrorCode::kIncompatible,
                std::format("inputs 'src' ({}) and 'bgr' ({}) must have the "
                            "same shape",
                            ShapeText(src), ShapeText(bgr)));
  }
  if (config_.type == MattingType::kBase) return {};
  if (src.size(2) % 4 != 0 || src.size(3) % 4 != 0) {
    return Fail(ErrorCode::kIncompatible,
                std::format("input 'src' is {}: MattingRefine needs a height "
                            "and width divisible by 4",
                            ShapeText(src)));
  }
  const auto shorter = static_cast<double>(std::min(src.size(2), src.size(3)));
  if (shorter * config_.backbone_scale < 1) {
    return Fail(ErrorCode::kIncompatible,
                std::format("input 'src' is {}: nothing is left of it at "
                            "backbone scale {}",
                            ShapeText(src), config_.backbone_scale));
  }
  return {};
}

Result<std::vector<at::Tensor>> BackgroundMatting::Forward(
    const at::Tensor& src, const at::Tensor& bgr) const {
  PARITY_RETURN_IF_ERROR(CheckInputs(src, bgr));
  const auto converted = [this](const at::Tensor& image) {
    const TracePause pause;
    return image.to(precision_);
  };
  const at::Tensor source = converted(src);
  const at::Tensor background = converted(bgr);
  return config_.type == MattingType::kBase ? ForwardBase(source, background)
                                            : ForwardRefine(source, background);
}

std::vector<at::Tensor> BackgroundMatting::ForwardBase(
    const at::Tensor& src, const at::Tensor& bgr) const {
  const at::Tensor x =
      RunMattingBase(Layers(parameters_, runner_), config_.backbone, src, bgr);
  return {x.narrow(1, 0, 1).clamp(0, 1),
          x.narrow(1, 1, 3).add(src).clamp_(0, 1),
          x.narrow(1, 4, 1).clamp(0, 1), x.narrow(1, 5, 32).relu()};
}

std::vector<at::Tensor> BackgroundMatting::ForwardRefine(
    const at::Tensor& src, const at::Tensor& bgr) const {
  const Layers layers(parameters_, runner_);
  const auto scaled = [this](std::int64_t size) {
    return static_cast<std::int64_t>(
        std::floor(static_cast<double>(size) * config_.backbone_scale));
  };
  const at::Tensor src_sm =
      Resize(src, scaled(src.size(2)), scaled(src.size(3)));
  at::Tensor x = RunMattingBase(layers, config_.backbone, src_sm,
                                Resize(bgr, src_sm.size(2), src_sm.size(3)));
  CoarseMatte coarse = {.alpha = x.narrow(1, 0, 1).clamp(0, 1),
                        .foreground = x.narrow(1, 1, 3).clone(),
                        .error = x.narrow(1, 4, 1).clamp(0, 1),
                        .hidden = x.narrow(1, 5, 32).relu()};
  x.reset();
  const at::Tensor alpha_sm = coarse.alpha;
  const at::Tensor residual_sm = coarse.foreground;
  const at::Tensor error_sm = coarse.error;
  const RefinedMatte refined =
      RunMattingRefiner(layers, config_, src, bgr, std::move(coarse));
  return {refined.canvas.narrow(1, 0, 1).clamp_(0, 1),
          refined.canvas.narrow(1, 1, 3).add_(src).clamp_(0, 1),
          alpha_sm,
          residual_sm.add(src_sm).clamp_(0, 1),
          error_sm,
          refined.cells};
}

}  // namespace parity
