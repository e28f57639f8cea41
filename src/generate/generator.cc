#include "generate/generator.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/parallel.h"
#include "base/splitmix.h"
#include "base/status_macros.h"
#include "generate/element_writer.h"
#include "generate/image_waves.h"
#include "generate/normal_quantile.h"
#include "generate/picture.h"
#include "generate/scene.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::array<std::string_view, 6> kNames = {
    "normal", "uniform", "scene", "image", "constant", "saturated"};

// Elements computed together: the doubles stay in the nearest cache.
constexpr std::size_t kPiece = 2048;

// Fills a tensor with value(stream, i).
template <class Value>
void FillEach(const InputSpec& spec, std::uint64_t seed, int threads,
              Tensor& tensor, const Value& value) {
  const SplitMixStream stream(spec.name, seed);
  const std::span<std::byte> bytes = tensor.mutable_bytes();
  const auto count = static_cast<std::size_t>(tensor.element_count());
  const auto pieces = static_cast<std::int64_t>((count + kPiece - 1) / kPiece);
  ParallelFor(pieces, threads, [&](std::int64_t piece) {
    std::array<double, kPiece> values;
    const std::size_t begin = static_cast<std::size_t>(piece) * kPiece;
    const auto out = std::span(values).first(std::min(kPiece, count - begin));
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = value(stream, begin + i);
    WriteElements(spec.dtype, bytes, begin, out);
  });
}

double Normal(const SplitMixStream& stream, std::size_t i) {
  // The middle of one of 2^52 equal parts of (0, 1): never 0 or 1.
  return NormalQuantile((static_cast<double>(stream.Bits(i) >> 12) + 0.5) *
                        0x1p-52);
}

// Uniform over the integers 0 … values - 1.
auto UniformInteger(int values) {
  return [values](const SplitMixStream& stream, std::size_t i) {
    return static_cast<double>(static_cast<int>(stream.Uniform(i) * values));
  };
}

bool IsPictureOfBytes(const InputSpec& spec) {
  return spec.dtype == DType::kUInt8 && spec.shape.size() >= 3;
}

bool IsPicture(const InputSpec& spec) {
  const bool drawn = spec.generator == GeneratorKind::kScene ||
                     spec.generator == GeneratorKind::kImage;
  return drawn && (IsPictureOfBytes(spec) ||
                   (IsFloating(spec.dtype) && spec.shape.size() >= 2));
}

bool IsConstant(const InputSpec& spec) {
  return spec.generator == GeneratorKind::kConstant ||
         spec.generator == GeneratorKind::kSaturated;
}

void FillNumbers(const InputSpec& spec, std::uint64_t seed, int threads,
                 Tensor& tensor) {
  if (IsConstant(spec)) {
    FillEach(spec, seed, threads, tensor,
             [&](const SplitMixStream&, std::size_t) { return spec.value; });
  } else if (spec.dtype == DType::kBool) {
    FillEach(spec, seed, threads, tensor, UniformInteger(2));
  } else if (!IsFloating(spec.dtype)) {
    FillEach(spec, seed, threads, tensor,
             UniformInteger(IsPictureOfBytes(spec) ? 256 : 10));
  } else if (spec.generator == GeneratorKind::kNormal) {
    FillEach(spec, seed, threads, tensor, Normal);
  } else {
    FillEach(spec, seed, threads, tensor,
             [](const SplitMixStream& stream, std::size_t i) {
               return stream.Uniform(i);
             });
  }
}

Result<Tensor> Generate(const InputSpec& spec, std::uint64_t seed, int threads,
                        const SceneView& view) {
  if (spec.dtype == DType::kComplex64 || spec.dtype == DType::kComplex128)
    return Fail(ErrorCode::kUnsupported,
                std::format("input {}: {} tensors cannot be generated; give "
                            "them in a file",
                            spec.name, Name(spec.dtype)));
  auto tensor = Tensor::Allocate(spec.dtype, spec.shape);
  if (!tensor)
    return std::unexpected(
        std::move(tensor).error().In(std::format("input {}", spec.name)));
  if (!IsPicture(spec)) {
    FillNumbers(spec, seed, threads, *tensor);
    return tensor;
  }
  const PictureWriter writer(*tensor);
  if (spec.generator == GeneratorKind::kScene) {
    DrawScene(view, spec.name, seed, threads, writer);
  } else {
    DrawWaves(spec.name, seed, threads, writer);
  }
  return tensor;
}

const InputSpec* FindScene(std::span<const InputSpec> specs,
                           std::string_view name) {
  const auto found = std::ranges::find_if(specs, [&](const InputSpec& spec) {
    return spec.name == name && spec.generator == GeneratorKind::kScene &&
           spec.shape.size() >= 3 && IsPicture(spec);
  });
  return found == specs.end() ? nullptr : &*found;
}

}  // namespace

std::string_view Name(GeneratorKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<GeneratorKind> GeneratorFromName(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<GeneratorKind>(found - kNames.begin());
}

std::string GeneratorNames() {
  std::string names;
  for (const std::string_view name : kNames) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

Result<Tensor> GenerateInput(const InputSpec& spec, std::uint64_t seed,
                             int threads) {
  return Generate(spec, seed, threads, {.room = spec.name});
}

Result<NamedTensors> GenerateInputs(std::span<const InputSpec> specs,
                                    std::uint64_t seed, int threads) {
  const InputSpec* const source = FindScene(specs, "src");
  const InputSpec* const background = FindScene(specs, "bgr");
  const bool paired = source != nullptr && background != nullptr &&
                      source->shape == background->shape;
  NamedTensors tensors;
  for (const InputSpec& spec : specs) {
    SceneView view{.room = spec.name};
    if (paired && (&spec == source || &spec == background))
      view = {.room = "scene", .with_person = &spec == source};
    PARITY_ASSIGN_OR_RETURN(Tensor tensor, Generate(spec, seed, threads, view));
    tensors.push_back({.name = spec.name, .tensor = std::move(tensor)});
  }
  return tensors;
}

}  // namespace parity
