// Does oneDNN compute convolutions right on this machine?
#ifndef PARITY_BACKEND_TORCH_CONVOLUTION_PROBE_H_
#define PARITY_BACKEND_TORCH_CONVOLUTION_PROBE_H_

namespace parity {

struct ProbeResult {
  bool agrees = true;
  double max_error = 0;  // largest |at::conv2d − exact|; infinity for NaN
};

// Computes a few small convolutions by at::conv2d, as libtorch is set up in
// this process, and by plain loops in double. About 10 ms. Throws what libtorch
// throws.
[[nodiscard]] ProbeResult ProbeConvolutions();

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_CONVOLUTION_PROBE_H_
