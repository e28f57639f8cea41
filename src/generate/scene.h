// Pictures of rooms, empty or with a person in front.
#ifndef PARITY_GENERATE_SCENE_H_
#define PARITY_GENERATE_SCENE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "generate/picture.h"

namespace parity {

struct SceneView {
  std::string room;  // the same name and seed show the same rooms
  bool with_person = false;
};

// One room for each image. `noise` names the stream of the picture's own noise,
// uniform in ±0.01.
void DrawScene(const SceneView& view, std::string_view noise,
               std::uint64_t seed, int threads, const PictureWriter& writer);

}  // namespace parity

#endif  // PARITY_GENERATE_SCENE_H_
