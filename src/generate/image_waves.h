// Pictures of smooth waves and noise.
#ifndef PARITY_GENERATE_IMAGE_WAVES_H_
#define PARITY_GENERATE_IMAGE_WAVES_H_

#include <cstdint>
#include <string_view>

#include "generate/picture.h"

namespace parity {

// With u uniform (stream `name`), p0 p1 p2 uniform for each image and channel
// (stream `name`.phase), and x, y the pixel's middle in [0, 1]:
//     0.9·(0.5 + 0.25·(sin 2π(2y + p0)·cos 2π(3x + p1) + sin 2π(x + y + p2)))
//     + 0.1·u
void DrawWaves(std::string_view name, std::uint64_t seed, int threads,
               const PictureWriter& writer);

}  // namespace parity

#endif  // PARITY_GENERATE_IMAGE_WAVES_H_
