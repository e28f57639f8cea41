#include <turbojpeg.h>

#include <cstddef>
#include <cstdint>
#include <format>
#include <memory>
#include <span>
#include <type_traits>

#include "base/status_macros.h"
#include "formats/image/samples.h"
#include "parity/error.h"

namespace parity {
namespace {

struct Destroy {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Handle = std::unique_ptr<std::remove_pointer_t<tjhandle>, Destroy>;

// Huffman coding spends at least a bit on each block of 8×8; twice that is
// allowed for arithmetic coding.
constexpr std::uint64_t kPixelsPerByte = std::uint64_t{8} * 64 * 2;

}  // namespace

Result<Samples> DecodeJpeg(std::span<const std::byte> file) {
  const Handle handle(tjInitDecompress());
  if (handle == nullptr)
    return Fail(ErrorCode::kIo, "no memory to decode a JPEG image");
  const auto* const data = reinterpret_cast<const unsigned char*>(file.data());
  int width = 0;
  int height = 0;
  int subsampling = 0;
  int colorspace = 0;
  if (tjDecompressHeader3(handle.get(), data, file.size(), &width, &height,
                          &subsampling, &colorspace) != 0 ||
      width <= 0 || height <= 0) {
    return Fail(ErrorCode::kCorrupt,
                std::format("cannot decode the JPEG header: {}",
                            tjGetErrorStr2(handle.get())));
  }
  if (colorspace == TJCS_CMYK || colorspace == TJCS_YCCK) {
    return Fail(ErrorCode::kUnsupported,
                "is a CMYK JPEG image; convert it to RGB");
  }
  PARITY_ASSIGN_OR_RETURN(Samples samples,
                          AllocateSamples(static_cast<std::uint32_t>(width),
                                          static_cast<std::uint32_t>(height), 8,
                                          file.size(), kPixelsPerByte));
  // A warning means that samples were guessed.
  if (tjDecompress2(
          handle.get(), data, file.size(),
          reinterpret_cast<unsigned char*>(samples.bytes.get()), width, 0,
          height, TJPF_RGB,
          TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) != 0) {
    return Fail(ErrorCode::kCorrupt, std::format("cannot decode the JPEG: {}",
                                                 tjGetErrorStr2(handle.get())));
  }
  return samples;
}

}  // namespace parity
