// Random numbers that are the same on every machine and can be asked for in any
// order: element i of a stream depends only on the stream's name, the seed and
// i.
#ifndef PARITY_BASE_SPLITMIX_H_
#define PARITY_BASE_SPLITMIX_H_

#include <cstdint>
#include <string_view>

namespace parity {

// FNV-1a, 64 bits.
[[nodiscard]] constexpr std::uint64_t Fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  return hash;
}

// SplitMix64 (Steele, Lea, Flood 2014) read by index.
class SplitMixStream {
 public:
  constexpr SplitMixStream(std::string_view name, std::uint64_t seed)
      : state_(Fnv1a64(name) ^ seed) {}

  [[nodiscard]] constexpr std::uint64_t Bits(std::uint64_t index) const {
    std::uint64_t z = state_ + (index + 1) * 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  // In [0, 1), a multiple of 2^-53.
  [[nodiscard]] constexpr double Uniform(std::uint64_t index) const {
    return static_cast<double>(Bits(index) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

}  // namespace parity

#endif  // PARITY_BASE_SPLITMIX_H_
