// Input tensors made from a seed: the same bits on any machine, for any number
// of threads.
//
// Element i of a tensor comes from element i of the SplitMix64 stream of the
// tensor's name and the seed (base/splitmix.h).
#ifndef PARITY_GENERATE_GENERATOR_H_
#define PARITY_GENERATE_GENERATOR_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

enum class GeneratorKind : std::uint8_t {
  kNormal,     // standard normal
  kUniform,    // uniform in [0, 1)
  kScene,      // pictures in [0, 1]: see GenerateInputs()
  kImage,      // in [0, 1]: smooth waves and 10 % noise
  kConstant,   // InputSpec::value everywhere
  kSaturated,  // the same; InputSpec::value is an end of the inputs' range
};

// "normal", "uniform", "scene", "image", "constant", "saturated".
[[nodiscard]] std::string_view Name(GeneratorKind kind);

// The inverse of Name(); nothing for an unknown name.
[[nodiscard]] std::optional<GeneratorKind> GeneratorFromName(
    std::string_view name);

// All names, in the order of the enumeration: "normal, uniform, …".
[[nodiscard]] std::string GeneratorNames();

struct InputSpec {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape = {};
  GeneratorKind generator = GeneratorKind::kNormal;
  double value = 0;  // of kConstant and kSaturated
};

// One tensor. Floating dtypes are rounded once from double. Of other dtypes,
// - bool is 0 or 1 and integers are 0 … 9, uniformly, from every generator but
//   these;
// - kConstant and kSaturated round to the nearest integer in range;
// - uint8 tensors of rank 3 and more are pictures of 0 … 255: kScene and kImage
//   scale by 255, kNormal and kUniform are uniform.
// kScene and kImage take the last two axes for height and width and the one
// before for channels; below rank 2 they are kUniform. `threads`: 0 is one per
// core.
// Errors: kUnsupported for complex dtypes, kCorrupt for an impossible shape,
// both naming the tensor.
[[nodiscard]] Result<Tensor> GenerateInput(const InputSpec& spec,
                                           std::uint64_t seed, int threads = 0);

// All inputs of a model, in order. Where two kScene inputs named `src` and
// `bgr` have the same shape, of rank 3 or more, they show the same rooms: `bgr`
// empty, `src` with a person in front, another one in each room of the batch,
// whose outline is soft. Both carry slight noise of their own. Any other kScene
// input is a picture of an empty room. Errors: those of GenerateInput().
[[nodiscard]] Result<NamedTensors> GenerateInputs(
    std::span<const InputSpec> specs, std::uint64_t seed, int threads = 0);

}  // namespace parity

#endif  // PARITY_GENERATE_GENERATOR_H_
