#include "generate/image_waves.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "base/splitmix.h"
#include "generate/picture.h"
#include "generate/portable_math.h"

namespace parity {
namespace {

// The middle of pixel i of `count`, in [0, 1].
double Middle(std::size_t i, std::size_t count) {
  return (static_cast<double>(i) + 0.5) / static_cast<double>(count);
}

class Waves {
 public:
  Waves(std::string_view name, std::uint64_t seed, const PictureWriter& writer)
      : noise_(name, seed),
        phases_(std::string(name) + ".phase", seed),
        writer_(writer) {}

  void DrawRows(std::size_t plane, std::size_t begin, std::size_t end) const {
    const double p0 = phases_.Uniform(3 * plane);
    const double p1 = phases_.Uniform(3 * plane + 1);
    const double p2 = phases_.Uniform(3 * plane + 2);
    const std::size_t width = writer_.width();
    const std::size_t image = plane / writer_.channels();
    const std::size_t channel = plane % writer_.channels();
    std::vector<double> columns(width);
    std::vector<double> row(width);
    for (std::size_t j = 0; j < width; ++j)
      columns[j] = CosTurns(3 * Middle(j, width) + p1);
    for (std::size_t i = begin; i < end; ++i) {
      const double y = Middle(i, writer_.height());
      const double vertical = SinTurns(2 * y + p0);
      const std::size_t start = writer_.RowStart(image, channel, i);
      for (std::size_t j = 0; j < width; ++j) {
        const double wave =
            vertical * columns[j] + SinTurns(Middle(j, width) + y + p2);
        row[j] = 0.9 * (0.5 + 0.25 * wave) + 0.1 * noise_.Uniform(start + j);
      }
      writer_.WriteRow(image, channel, i, row);
    }
  }

 private:
  SplitMixStream noise_;
  SplitMixStream phases_;
  const PictureWriter& writer_;
};

}  // namespace

void DrawWaves(std::string_view name, std::uint64_t seed, int threads,
               const PictureWriter& writer) {
  constexpr std::size_t kRows = 64;
  const Waves waves(name, seed, writer);
  const std::size_t planes = writer.images() * writer.channels();
  const std::size_t bands = (writer.height() + kRows - 1) / kRows;
  ParallelFor(static_cast<std::int64_t>(planes * bands), threads,
              [&](std::int64_t index) {
                const auto i = static_cast<std::size_t>(index);
                const std::size_t begin = i % bands * kRows;
                waves.DrawRows(i / bands, begin,
                               std::min(begin + kRows, writer.height()));
              });
}

}  // namespace parity
