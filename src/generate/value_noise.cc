#include "generate/value_noise.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/splitmix.h"

namespace parity {
namespace {

double SmoothStep(double t) { return t * t * (3 - 2 * t); }

}  // namespace

void ValueNoise::Row(double x0, double step, double y,
                     std::span<double> out) const {
  std::ranges::fill(out, 0.0);
  double total = 0;
  double weight = 1;
  for (int octave = 0; octave < octaves_; ++octave, weight /= 2) {
    AddOctave(octave, weight, x0, step, y, out);
    total += weight;
  }
  for (double& value : out) value /= total;
}

void ValueNoise::AddOctave(int octave, double weight, double x0, double step,
                           double y, std::span<double> out) const {
  const double scale =
      frequency_ * static_cast<double>(std::uint64_t{1} << octave);
  const double grid_y = y * scale;
  const auto row = static_cast<std::uint64_t>(grid_y);
  const double weight_y = SmoothStep(grid_y - static_cast<double>(row));
  // Grid points get 2^24 indices a row and 2^24 rows an octave.
  const std::uint64_t origin =
      (field_ << 52) + (static_cast<std::uint64_t>(octave) << 48) + (row << 24);
  // The grid's values at this y: each is used for many pixels.
  const double last = (x0 + step * static_cast<double>(out.size())) * scale;
  std::vector<double> grid(static_cast<std::size_t>(last) + 2);
  for (std::size_t x = 0; x < grid.size(); ++x) {
    const double above = stream_.Uniform(origin + x);
    const double below = stream_.Uniform(origin + (std::uint64_t{1} << 24) + x);
    grid[x] = weight * (2 * (above + (below - above) * weight_y) - 1);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double grid_x = (x0 + step * static_cast<double>(i)) * scale;
    const auto x = static_cast<std::size_t>(grid_x);
    const double t = SmoothStep(grid_x - static_cast<double>(x));
    out[i] += grid[x] + (grid[x + 1] - grid[x]) * t;
  }
}

}  // namespace parity
