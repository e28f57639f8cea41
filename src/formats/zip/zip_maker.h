// Makes zip archives for tests.
#ifndef PARITY_FORMATS_ZIP_ZIP_MAKER_H_
#define PARITY_FORMATS_ZIP_ZIP_MAKER_H_

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace parity {

class ZipMaker {
 public:
  enum class Packing : std::uint8_t { kStored, kDeflated };

  // `zip64` saturates the 32-bit fields and puts the sizes into extra fields.
  explicit ZipMaker(bool zip64 = false) : zip64_(zip64) {}

  ZipMaker& Add(std::string_view name, std::string_view content,
                Packing packing = Packing::kStored) {
    const std::string packed =
        packing == Packing::kStored ? std::string(content) : Deflate(content);
    const std::uint64_t offset = bytes_.size();
    const auto crc = static_cast<std::uint32_t>(crc32_z(
        0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
    const std::uint16_t method = packing == Packing::kStored ? 0 : 8;
    std::string common;
    Put<std::uint16_t>(common, 20);      // version needed
    Put<std::uint16_t>(common, 0x0800);  // names are UTF-8
    Put<std::uint16_t>(common, method);
    Put<std::uint32_t>(common, 0);  // time and date
    Put<std::uint32_t>(common, crc);
    Put<std::uint32_t>(common, zip64_ ? kSaturated : Short(packed.size()));
    Put<std::uint32_t>(common, zip64_ ? kSaturated : Short(content.size()));
    Put<std::uint16_t>(common, static_cast<std::uint16_t>(name.size()));
    bytes_ += "PK\x03\x04" + common;
    Put<std::uint16_t>(bytes_, 0);
    bytes_ += name;
    bytes_ += packed;

    std::string extra;
    if (zip64_) {
      Put<std::uint16_t>(extra, 1);
      Put<std::uint16_t>(extra, 24);
      Put<std::uint64_t>(extra, content.size());
      Put<std::uint64_t>(extra, packed.size());
      Put<std::uint64_t>(extra, offset);
    }
    directory_ += "PK\x01\x02";
    Put<std::uint16_t>(directory_, 20);  // version made by
    directory_ += common;
    Put<std::uint16_t>(directory_, static_cast<std::uint16_t>(extra.size()));
    Put<std::uint16_t>(directory_, 0);  // comment
    Put<std::uint16_t>(directory_, 0);  // disk
    Put<std::uint16_t>(directory_, 0);  // internal attributes
    Put<std::uint32_t>(directory_, 0);  // external attributes
    Put<std::uint32_t>(directory_, zip64_ ? kSaturated : Short(offset));
    directory_ += name;
    directory_ += extra;
    ++count_;
    return *this;
  }

  [[nodiscard]] std::string Finish(std::string_view comment = "") const {
    std::string file = bytes_ + directory_;
    if (zip64_) AppendZip64End(file);
    file += "PK\x05\x06";
    Put<std::uint32_t>(file, 0);  // disks
    Put<std::uint16_t>(file, count_);
    Put<std::uint16_t>(file, count_);
    Put<std::uint32_t>(file, Short(directory_.size()));
    Put<std::uint32_t>(file, zip64_ ? kSaturated : Short(bytes_.size()));
    Put<std::uint16_t>(file, static_cast<std::uint16_t>(comment.size()));
    return file += comment;
  }

 private:
  static constexpr std::uint32_t kSaturated = 0xFFFFFFFF;

  template <class T>
  static void Put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  static std::uint32_t Short(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
  }

  void AppendZip64End(std::string& file) const {
    const std::uint64_t at = file.size();
    file += "PK\x06\x06";
    Put<std::uint64_t>(file, 44);
    Put<std::uint32_t>(file, 0);  // versions
    Put<std::uint64_t>(file, 0);  // disks
    Put<std::uint64_t>(file, count_);
    Put<std::uint64_t>(file, count_);
    Put<std::uint64_t>(file, directory_.size());
    Put<std::uint64_t>(file, bytes_.size());
    file += "PK\x06\x07";
    Put<std::uint32_t>(file, 0);
    Put<std::uint64_t>(file, at);
    Put<std::uint32_t>(file, 1);
  }

  static std::string Deflate(std::string_view content) {
    z_stream stream{};
    EXPECT_EQ(
        deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY),
        Z_OK);
    std::string packed(deflateBound(&stream, content.size()), '\0');
    stream.next_in =
        const_cast<Bytef*>(reinterpret_cast<const Bytef*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
  }

  bool zip64_;
  std::uint16_t count_ = 0;
  std::string bytes_;
  std::string directory_;
};

inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace parity

#endif  // PARITY_FORMATS_ZIP_ZIP_MAKER_H_
