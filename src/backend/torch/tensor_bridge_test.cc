#include "backend/torch/tensor_bridge.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/complex.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/quantize_per_tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TensorBridgeTest, EveryDTypeGoesThereAndBack) {
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const auto dtype = static_cast<DType>(i);
    SCOPED_TRACE(Name(dtype));
    const Tensor tensor = *Tensor::Allocate(dtype, {2, 3});
    const Result<at::Tensor> torch = TorchFromParity(tensor);
    ASSERT_TRUE(torch.has_value());
    EXPECT_EQ(static_cast<std::int64_t>(torch->element_size()),
              ByteSize(dtype));
    const Result<Tensor> back = ParityFromTorch(*torch, "x");
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->dtype(), dtype);
    EXPECT_EQ(back->shape(), (Shape{2, 3}));
    EXPECT_EQ(back->bytes().data(), tensor.bytes().data()) << "copied";
  }
}

TEST(TensorBridgeTest, TheBytesLiveAsLongAsTheTensor) {
  std::optional<Tensor> tensor =
      Tensor::From<float>(DType::kFloat32, {3}, std::vector<float>{1, 2, 3})
          .value();
  at::Tensor torch = *TorchFromParity(*tensor);
  tensor.reset();
  EXPECT_EQ(torch.sum().item<float>(), 6);
  const Tensor back = *ParityFromTorch(torch, "x");
  torch.reset();
  EXPECT_THAT(back.As<float>(), ElementsAre(1, 2, 3));
}

TEST(TensorBridgeTest, StridesAndLazyBitsAreResolved) {
  const at::Tensor matrix =
      at::arange(6, at::TensorOptions().dtype(at::kInt)).view({2, 3});
  const Tensor transposed = *ParityFromTorch(matrix.t(), "x");
  EXPECT_EQ(transposed.shape(), (Shape{3, 2}));
  EXPECT_THAT(transposed.As<std::int32_t>(), ElementsAre(0, 3, 1, 4, 2, 5));
  const Tensor expanded = *ParityFromTorch(at::ones({1}).expand({3}), "x");
  EXPECT_THAT(expanded.As<float>(), ElementsAre(1, 1, 1));
  const at::Tensor complex = at::complex(at::zeros({1}), at::ones({1}));
  const Tensor conjugate = *ParityFromTorch(complex.conj(), "x");
  EXPECT_EQ(conjugate.As<float>()[1], -1);
  // The imaginary part of a conjugate is a negative view.
  const Tensor negative = *ParityFromTorch(at::imag(complex.conj()), "x");
  EXPECT_THAT(negative.As<float>(), ElementsAre(-1));
}

TEST(TensorBridgeTest, EmptyAndScalarTensorsKeepTheirShape) {
  EXPECT_EQ(ParityFromTorch(at::empty({0, 4}), "x")->shape(), (Shape{0, 4}));
  EXPECT_EQ(ParityFromTorch(at::ones({}), "x")->shape(), Shape{});
  const Tensor empty = *Tensor::Allocate(DType::kFloat32, {3, 0});
  EXPECT_EQ(TorchFromParity(empty)->sizes(), (std::vector<std::int64_t>{3, 0}));
}

TEST(TensorBridgeTest, TensorsThatCannotBeComparedAreNamed) {
  const Result<Tensor> quantized = ParityFromTorch(
      at::quantize_per_tensor(at::ones({2}), 0.1, 0, at::kQInt8), "labels");
  ASSERT_FALSE(quantized.has_value());
  EXPECT_EQ(quantized.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(quantized.error().message, HasSubstr("'labels' is a QInt8"));
  const Result<Tensor> sparse =
      ParityFromTorch(at::ones({2, 2}).to_sparse(), "graph");
  ASSERT_FALSE(sparse.has_value());
  EXPECT_THAT(sparse.error().message, HasSubstr("layout sparse"));
}

}  // namespace
}  // namespace parity
