// For tests of readers: damaged copies of a file, each in a block of exactly
// its size so that a sanitizer sees every read outside it.
#ifndef PARITY_FORMATS_TESTING_DAMAGE_H_
#define PARITY_FORMATS_TESTING_DAMAGE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity::testing_damage {

struct Copy {
  std::shared_ptr<std::byte[]> block;
  std::span<std::byte> bytes;
};

inline Copy CopyOf(std::span<const std::byte> bytes) {
  Copy copy{.block = std::make_shared<std::byte[]>(bytes.size()), .bytes = {}};
  copy.bytes = {copy.block.get(), bytes.size()};
  std::ranges::copy(bytes, copy.bytes.begin());
  return copy;
}

using Check = std::function<void(const Copy&)>;

// Every proper prefix of `file`.
inline void ForEachTruncation(std::span<const std::byte> file,
                              const Check& check) {
  for (std::size_t size = 0; size < file.size(); ++size) {
    SCOPED_TRACE(::testing::Message() << "cut to " << size << " bytes");
    check(CopyOf(file.first(size)));
  }
}

// `file` with one bit inverted, for every bit.
inline void ForEachBitFlip(std::span<const std::byte> file,
                           const Check& check) {
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    SCOPED_TRACE(::testing::Message()
                 << "bit " << bit % 8 << " of byte " << bit / 8 << " inverted");
    Copy copy = CopyOf(file);
    copy.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    check(copy);
  }
}

// Whatever a reader accepts can be read to its last byte and is as large as its
// shape says.
inline void ExpectReadable(const NamedTensors& tensors) {
  for (const NamedTensor& entry : tensors) {
    const auto count = ElementCount(entry.tensor.shape());
    ASSERT_TRUE(count.has_value()) << entry.name;
    EXPECT_EQ(
        static_cast<std::uint64_t>(*count * ByteSize(entry.tensor.dtype())),
        entry.tensor.bytes().size());
    volatile unsigned sink = 0;
    for (const std::byte byte : entry.tensor.bytes())
      sink = sink + std::to_integer<unsigned>(byte);
  }
}

}  // namespace parity::testing_damage

#endif  // PARITY_FORMATS_TESTING_DAMAGE_H_
