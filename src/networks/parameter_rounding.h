// Turns the parameters of a checkpoint into those of an export: each number is
// computed in double and rounded once.
#ifndef PARITY_NETWORKS_PARAMETER_ROUNDING_H_
#define PARITY_NETWORKS_PARAMETER_ROUNDING_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// What rounding to float16 destroyed; nothing is counted for float32.
struct RoundingLoss {
  std::int64_t overflowed = 0;  // finite numbers that became infinite
  std::int64_t vanished = 0;    // numbers that became zero

  // "conv1.weight: 3 values overflow float16, 17 vanish"; empty without loss.
  [[nodiscard]] std::string Note(std::string_view name) const;
};

struct RoundedTensor {
  Tensor tensor;
  RoundingLoss loss;
};

// `parameter` (float32) as `dtype` (float16 or float32). Shares the bytes when
// it already is.
[[nodiscard]] Result<RoundedTensor> Round(const Tensor& parameter, DType dtype);

// A convolution's `weight` (out,in,k,k) for `count` more input channels, which
// it ignores.
[[nodiscard]] Result<Tensor> AppendZeroInputs(const Tensor& weight,
                                              std::int64_t count);

// The parameters of a convolution without bias and of the batch normalisation
// after it, all float32. Borrowed.
struct ConvAndBatchNorm {
  const Tensor* weight;  // (out, in, k, k)
  const Tensor* gamma;   // (out), as all below
  const Tensor* beta;
  const Tensor* mean;
  const Tensor* variance;
};

// One convolution that does the work of both:
//   weight' = weight · gamma/sqrt(variance + ε),
//   bias' = beta − mean · gamma/sqrt(variance + ε).
struct FoldedConv {
  RoundedTensor weight;
  RoundedTensor bias;
};
[[nodiscard]] Result<FoldedConv> FoldBatchNorm(const ConvAndBatchNorm& layer,
                                               DType dtype);

}  // namespace parity

#endif  // PARITY_NETWORKS_PARAMETER_ROUNDING_H_
