// Which CPU targets the kernels are compiled for. Included before any header
// of Highway.
#ifndef PARITY_KERNELS_CPU_TARGETS_H_
#define PARITY_KERNELS_CPU_TARGETS_H_

// SSSE3 and the AVX-512 variants add no instruction that is used here.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR)

#endif  // PARITY_KERNELS_CPU_TARGETS_H_
