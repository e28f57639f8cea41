// Compares two small tensors and prints what differs.
#include <parity/compare.h>
#include <parity/tensor.h>
#include <parity/tolerance.h>

#include <array>
#include <print>

#include "parity/dtype.h"

int main() {
  const std::array<float, 4> expected{0.0F, 0.5F, 1.0F, -2.0F};
  const std::array<float, 4> actual{0.0F, 0.5F, 1.25F, -2.0F};
  const auto a =
      parity::Tensor::From<float>(parity::DType::kFloat32, {2, 2}, expected);
  const auto b =
      parity::Tensor::From<float>(parity::DType::kFloat32, {2, 2}, actual);
  if (!a || !b) return 2;
  const auto comparison =
      parity::Compare(a->view(), b->view(), parity::Tolerance{.atol = 0.005});
  if (!comparison) {
    std::println("cannot be compared: {}", comparison.error().message);
    return 2;
  }
  std::println("{} of {} elements differ, most at {} by {}",
               comparison->mismatch_count, comparison->element_count,
               parity::ToString(
                   parity::UnravelIndex(comparison->max_abs_index, a->shape())),
               comparison->max_abs_error);
  return comparison->matches() ? 0 : 1;
}
