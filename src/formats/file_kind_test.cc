#include "formats/file_kind.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {
namespace {

using std::string_literals::operator""s;

FileKind Sniff(std::string_view text) {
  return SniffFileKind(std::as_bytes(std::span(text)));
}

TEST(FileKindTest, KindsAreToldByContent) {
  struct Case {
    FileKind kind;
    std::string content;
  };
  for (const Case& c : {
           Case{FileKind::kEmpty, ""},
           Case{FileKind::kUnknown, "\x00"s},
           Case{FileKind::kUnknown, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
           Case{FileKind::kPng, "\x89PNG\r\n\x1a\n"},
           Case{FileKind::kJpeg, "\xff\xd8\xff\xe0"},
           Case{FileKind::kNpy, "\x93NUMPY\x01"},
           Case{FileKind::kDamagedZip, "PK\x03\x04 and no directory"},
           Case{FileKind::kZip, "PK\x05\x06"s + std::string(18, '\0')},
           Case{FileKind::kSafetensors, "\x02\0\0\0\0\0\0\0{}"s},
           Case{FileKind::kPickle, "\x80\x02}."},
           Case{FileKind::kTar, std::string(257, 'n') + "ustar"},
           Case{FileKind::kText, "Hello,\nwörld\n"},
           Case{FileKind::kHtml, "\n<!DOCTYPE html><html>"},
           Case{FileKind::kGitLfsPointer,
                "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"},
           // ir_version 8, producer "p", empty graph, opset import
           Case{FileKind::kOnnx, "\x08\x08\x12\x01p\x3a\x00\x42\x02\x10\x11"s},
           // the same with a graph cut short
           Case{FileKind::kOnnx, "\x08\x08\x12\x01p\x3a\x7f\x00"s},
           // dims 2, float, name "x", raw_data
           Case{FileKind::kOnnxTensor,
                "\x08\x02\x10\x01\x42\x01x\x4a\x04\x00\x00\x00\x00"s},
           Case{FileKind::kLegacyTorchCheckpoint,
                "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."},
           Case{FileKind::kLegacyTorchCheckpoint,
                "L119547037146038801333356L\n."},
       }) {
    EXPECT_EQ(Sniff(c.content), c.kind)
        << Describe(c.kind) << " taken for " << Describe(Sniff(c.content));
  }
}

TEST(FileKindTest, FilesOfPyTorchAreToldApart) {
  struct Case {
    FileKind kind;
    std::string name;
  };
  for (const Case& c :
       {Case{FileKind::kTorchCheckpoint, "dtypes_zip.pth"},
        Case{FileKind::kLegacyTorchCheckpoint, "dtypes_legacy.pth"},
        Case{FileKind::kTorchScript, "torchscript_named_pth.pth"},
        Case{FileKind::kSafetensors, "dtypes.expected.safetensors"},
        Case{FileKind::kDamagedZip, "truncated.pth"},
        Case{FileKind::kEmpty, "empty.pth"}}) {
    const auto file =
        FileMapping::Open(PARITY_TEST_DATA "/checkpoints/" + c.name);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ(SniffFileKind((*file)->bytes()), c.kind) << c.name;
  }
}

TEST(FileKindTest, WrongKindsAreExplainedAndRightOnesLeftAlone) {
  const Error error{.code = ErrorCode::kCorrupt, .message = "bad header"};
  const std::string_view png = "\x89PNG\r\n\x1a\n";
  const auto bytes = std::as_bytes(std::span(png));
  EXPECT_EQ(ExplainWrongKind(error, bytes, FileKind::kSafetensors).message,
            "is a PNG image, not a safetensors file");
  EXPECT_EQ(ExplainWrongKind(error, bytes, FileKind::kPng).message,
            "bad header");
}

}  // namespace
}  // namespace parity
