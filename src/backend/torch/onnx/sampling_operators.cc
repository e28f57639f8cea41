// RoiAlign, MaxRoiPool, GridSample, AffineGrid.
#include <ATen/core/Tensor.h>
#include <ATen/ops/affine_grid_generator.h>

#include <vector>

#include "backend/torch/onnx/grid_sampling.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"
#include "backend/torch/onnx/region_pooling.h"

namespace parity {
namespace {

std::vector<at::Tensor> AffineGrid(const OperatorContext& context) {
  return {at::affine_grid_generator(context.Input(0), context.IntegersInput(1),
                                    context.Integer("align_corners", 0) != 0)};
}

}  // namespace

void AddSamplingOperators(OperatorTable& table) {
  table["RoiAlign"] = RoiAlign;
  table["MaxRoiPool"] = MaxRoiPool;
  table["GridSample"] = GridSample;
  table["AffineGrid"] = AffineGrid;
}

}  // namespace parity
