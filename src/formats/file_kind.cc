#include "formats/file_kind.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <format>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/text/utf8.h"
#include "formats/zip/zip_reader.h"
#include "parity/error.h"

namespace parity {
namespace {

using std::string_view_literals::operator""sv;

// Indexed by FileKind.
constexpr std::array kDescriptions = {
    "an empty file (0 bytes)"sv,
    "an ONNX model"sv,
    "an ONNX tensor (TensorProto)"sv,
    "a safetensors file"sv,
    "a NumPy .npy array"sv,
    "a NumPy .npz archive"sv,
    "a PyTorch checkpoint"sv,
    "a PyTorch checkpoint in the legacy format"sv,
    "a TorchScript archive"sv,
    "a PNG image"sv,
    "a JPEG image"sv,
    "a zip archive"sv,
    "a truncated or damaged zip archive"sv,
    "a tar archive"sv,
    "a Python pickle"sv,
    "a Git LFS pointer, not the file itself (run: git lfs pull)"sv,
    "a web page"sv,
    "a text file"sv,
    "a file of unknown kind"sv,
};
static_assert(kDescriptions.size() ==
              static_cast<std::size_t>(FileKind::kUnknown) + 1);

std::string_view Text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

FileKind SniffZip(std::span<const std::byte> bytes) {
  const auto zip = ZipReader::Open(bytes, nullptr);
  if (!zip) return FileKind::kDamagedZip;
  bool has_pickle = false;
  bool has_code = false;
  bool all_arrays = !zip->entries().empty();
  for (const ZipEntry& entry : zip->entries()) {
    const std::string_view name = entry.name;
    const std::size_t slash = name.find('/');
    const std::string_view inner =
        slash == std::string_view::npos ? "" : name.substr(slash + 1);
    has_pickle |= inner == "data.pkl";
    has_code |= inner == "constants.pkl" || inner.starts_with("code/");
    all_arrays &= name.ends_with(".npy");
  }
  if (has_code) return FileKind::kTorchScript;
  if (has_pickle) return FileKind::kTorchCheckpoint;
  return all_arrays ? FileKind::kNpz : FileKind::kZip;
}

bool IsSafetensors(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kMaxHeader = 100'000'000;
  if (bytes.size() < 9 || bytes[8] != std::byte{'{'}) return false;
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header >= 2 && header <= kMaxHeader;
}

// torch.save()'s legacy files begin with the pickled number
// 0x1950a86a20f9469cfc6c: in binary, or in decimal for pickle protocols 0, 1.
bool IsLegacyCheckpoint(std::string_view text) {
  const std::string_view start = text.substr(0, 40);
  return start.contains("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv) ||
         start.starts_with("L119547037146038801333356L");
}

bool IsPickle(std::string_view text) {
  return text.size() >= 3 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;
}

// The top-level fields of a protobuf message, with their wire types.
class ProtobufWalk {
 public:
  explicit ProtobufWalk(std::span<const std::byte> bytes) : bytes_(bytes) {}

  struct Field {
    std::uint64_t number;
    std::uint64_t wire;   // 0 varint, 2 length-delimited, 5 fixed32
    std::uint64_t value;  // of a varint
  };

  // Nothing at the end, and where the bytes are no protobuf (valid() tells).
  std::optional<Field> Next() {
    if (bytes_.empty()) return std::nullopt;
    const std::optional<std::uint64_t> tag = Varint();
    if (!tag || *tag >> 3 == 0) return Stop();
    Field field{.number = *tag >> 3, .wire = *tag & 7U, .value = 0};
    if (field.wire == 0) {
      const std::optional<std::uint64_t> value = Varint();
      if (!value) return Stop();
      field.value = *value;
      return field;
    }
    std::uint64_t size = 4;
    if (field.wire == 2) {
      const std::optional<std::uint64_t> length = Varint();
      if (!length) return Stop();
      size = *length;
    } else if (field.wire != 5) {
      return Stop();
    }
    // A length beyond the end: the file is truncated; its fields so far count.
    bytes_ = bytes_.subspan(
        static_cast<std::size_t>(std::min<std::uint64_t>(size, bytes_.size())));
    return field;
  }
  [[nodiscard]] bool valid() const { return valid_; }

 private:
  std::optional<std::uint64_t> Varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) return std::nullopt;
      const auto byte = std::to_integer<std::uint64_t>(bytes_.front());
      bytes_ = bytes_.subspan(1);
      value |= (byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }
  std::optional<Field> Stop() {
    valid_ = false;
    return std::nullopt;
  }

  std::span<const std::byte> bytes_;
  bool valid_ = true;
};

// Field numbers and wire types of onnx.proto's ModelProto: 1 ir_version, 2–4
// producer and domain, 5 model_version, 6 doc_string, 7 graph, 8 opset_import,
// 14 metadata_props, 20 training_info, 25 functions.
bool IsOnnxModel(std::span<const std::byte> bytes) {
  ProtobufWalk walk(bytes);
  bool has_version = false;
  bool has_graph = false;
  while (const auto field = walk.Next()) {
    const std::uint64_t number = field->number;
    const bool varint = number == 1 || number == 5;
    const bool block = (number >= 2 && number <= 8 && !varint) ||
                       number == 14 || number == 20 || number == 25;
    if (field->wire != (varint ? 0U : 2U) || !(varint || block)) return false;
    if (number == 1) {
      if (field->value == 0 || field->value > 1000) return false;
      has_version = true;
    }
    has_graph |= number == 7;
  }
  return walk.valid() && has_version && has_graph;
}

// TensorProto: 1 dims, 2 data_type, 4–7, 10, 11 the data by type, 8 name, 9
// raw_data, 12 doc_string, 13 external_data, 14 data_location.
bool IsOnnxTensor(std::span<const std::byte> bytes) {
  ProtobufWalk walk(bytes);
  bool has_type = false;
  while (const auto field = walk.Next()) {
    const std::uint64_t number = field->number;
    if (number > 16) return false;
    if (number == 2) {
      if (field->wire != 0 || field->value == 0 || field->value > 64)
        return false;
      has_type = true;
    }
    if (number >= 8 && number <= 13 && field->wire != 2 && number != 10 &&
        number != 11) {
      return false;
    }
  }
  return walk.valid() && has_type;
}

FileKind SniffText(std::string_view text) {
  constexpr std::size_t kLook = 4096;
  std::string_view start = text.substr(0, kLook);
  if (start.size() < text.size()) {
    // Not in the middle of a character.
    while (!start.empty() &&
           (static_cast<unsigned char>(start.back()) & 0x80U) != 0) {
      start.remove_suffix(1);
    }
  }
  const bool has_control = std::ranges::any_of(start, [](char c) {
    return (c >= 0 && c < ' ' && !"\t\n\r\f"sv.contains(c)) || c == '\x7f';
  });
  if (has_control || start.empty() || !IsUtf8(start)) return FileKind::kUnknown;
  if (start.starts_with("version https://git-lfs.github.com/spec/"))
    return FileKind::kGitLfsPointer;
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos) {
    std::string head(start.substr(first, 14));
    std::ranges::transform(head, head.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (head.starts_with("<!doctype html") || head.starts_with("<html"))
      return FileKind::kHtml;
  }
  return FileKind::kText;
}

}  // namespace

FileKind SniffFileKind(std::span<const std::byte> bytes) {
  const std::string_view text = Text(bytes);
  if (text.empty()) return FileKind::kEmpty;
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return FileKind::kPng;
  if (text.starts_with("\xff\xd8\xff")) return FileKind::kJpeg;
  if (text.starts_with("\x93NUMPY")) return FileKind::kNpy;
  if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06"))
    return SniffZip(bytes);
  if (IsLegacyCheckpoint(text)) return FileKind::kLegacyTorchCheckpoint;
  if (text.size() >= 262 && text.substr(257, 5) == "ustar")
    return FileKind::kTar;
  if (IsSafetensors(bytes)) return FileKind::kSafetensors;
  if (IsPickle(text)) return FileKind::kPickle;
  const FileKind as_text = SniffText(text);
  if (as_text != FileKind::kUnknown) return as_text;
  if (IsOnnxModel(bytes)) return FileKind::kOnnx;
  if (IsOnnxTensor(bytes)) return FileKind::kOnnxTensor;
  return FileKind::kUnknown;
}

std::string_view Describe(FileKind kind) {
  return kDescriptions[static_cast<std::size_t>(kind)];
}

Error ExplainWrongKind(Error error, std::span<const std::byte> bytes,
                       FileKind wanted) {
  const FileKind kind = SniffFileKind(bytes);
  if (kind == wanted || kind == FileKind::kUnknown) return error;
  error.code = ErrorCode::kCorrupt;
  error.message =
      std::format("is {}, not {}", Describe(kind), Describe(wanted));
  return error;
}

}  // namespace parity
