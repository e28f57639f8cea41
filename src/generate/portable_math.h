// Transcendental functions that give the same bits on every machine: only
// additions, multiplications, divisions and integer operations, none of them
// fused. (A C library may round its own differently from one version to the
// next.)
#ifndef PARITY_GENERATE_PORTABLE_MATH_H_
#define PARITY_GENERATE_PORTABLE_MATH_H_

namespace parity {

// Natural logarithm of a positive, normal, finite number; within 2 units in the
// last place, but 2^-52 absolutely where the logarithm is nearly zero.
[[nodiscard]] double PortableLog(double x);

// sin(2π·turns) and cos(2π·turns) for |turns| < 2^51; within 4e-16 of the
// sine of the exact angle.
[[nodiscard]] double SinTurns(double turns);
[[nodiscard]] double CosTurns(double turns);

}  // namespace parity

#endif  // PARITY_GENERATE_PORTABLE_MATH_H_
