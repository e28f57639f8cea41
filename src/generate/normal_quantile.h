// The normal distribution's quantile function.
#ifndef PARITY_GENERATE_NORMAL_QUANTILE_H_
#define PARITY_GENERATE_NORMAL_QUANTILE_H_

namespace parity {

// The z with P(Z < z) = p for standard normal Z and 0 < p < 1, to about 1 part
// in 10^16; the same bits on every machine.
// Source: Wichura, "Algorithm AS 241: The Percentage Points of the Normal
// Distribution", Applied Statistics 37 (1988), routine PPND16.
[[nodiscard]] double NormalQuantile(double p);

}  // namespace parity

#endif  // PARITY_GENERATE_NORMAL_QUANTILE_H_
