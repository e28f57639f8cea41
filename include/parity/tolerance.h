// How far two elements may be apart.
#ifndef PARITY_TOLERANCE_H_
#define PARITY_TOLERANCE_H_

namespace parity {

// An element matches when |actual - expected| < atol + rtol·|expected|, or both
// are equal. A NaN matches a NaN and an infinity the same infinity when
// equal_nonfinite holds; any other pair with a non-finite value is a mismatch.
// With atol = rtol = 0 only equal elements match.
// Source: the strict "<" and 0.005 are the published export script's; names are
// those of numpy.isclose and torch.testing.
struct Tolerance {
  double atol = 0.005;
  double rtol = 0;
  bool equal_nonfinite = true;
};

// The one predicate that decides closeness. Everything that counts mismatches
// calls it or is tested against it.
[[nodiscard]] bool IsClose(double expected, double actual,
                           const Tolerance& tolerance);

}  // namespace parity

#endif  // PARITY_TOLERANCE_H_
