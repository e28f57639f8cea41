// Cloudy textures: random values on a grid, interpolated smoothly, in several
// octaves.
#ifndef PARITY_GENERATE_VALUE_NOISE_H_
#define PARITY_GENERATE_VALUE_NOISE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/splitmix.h"

namespace parity {

// A field over the plane; octave k has `frequency`·2^k grid cells per unit and
// half the weight of the one before.
class ValueNoise {
 public:
  // `field` tells fields of one stream apart.
  ValueNoise(const SplitMixStream& stream, std::uint64_t field,
             double frequency, int octaves)
      : stream_(stream),
        field_(field),
        frequency_(frequency),
        octaves_(octaves) {}

  // Values in (-1, 1) at the points (x0 + i·step, y), all coordinates ≥ 0.
  void Row(double x0, double step, double y, std::span<double> out) const;

 private:
  void AddOctave(int octave, double weight, double x0, double step, double y,
                 std::span<double> out) const;

  SplitMixStream stream_;
  std::uint64_t field_;
  double frequency_;
  int octaves_;
};

}  // namespace parity

#endif  // PARITY_GENERATE_VALUE_NOISE_H_
