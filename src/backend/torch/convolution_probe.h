// Does oneDNN compute convolutions right on this machine?
#ifndef PARITY_BACKEND_TORCH_CONVOLUTION_PROBE_H_
#define PARITY_BACKEND_TORCH_CONVOLUTION_PROBE_H_

#include <string>

namespace parity {

struct ProbeResult {
  bool agrees = true;
  double max_error = 0;     // largest |oneDNN − float64|; infinity for NaN
  std::string convolution;  // the first one that was wrong
};

// Computes a few small convolutions with oneDNN in float32 and with native
// kernels in float64. Leaves oneDNN enabled. Throws what libtorch throws.
// Source: oneDNN 3.7.2 leaves padded channels unwritten when reordering inputs
// whose channel count is not a multiple of its block of 16
// (uxlfoundation/oneDNN#3280), and what the memory held before is multiplied
// by what the weights' padding held before. The probe therefore fills the
// memory it frees with large numbers.
[[nodiscard]] ProbeResult ProbeOneDnn();

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_CONVOLUTION_PROBE_H_
