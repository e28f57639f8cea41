#include "formats/npy/npy_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <format>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "formats/testing/damage.h"
#include "formats/zip/zip_maker.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using std::string_literals::operator""s;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_damage::Copy;

// As numpy.save() lays it out: padded so that the elements start at 64.
std::string File(std::string_view literal, std::string_view elements,
                 char version = 1) {
  const std::size_t prefix = version == 1 ? 10 : 12;
  std::string header(literal);
  header.append((64 - (prefix + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string file = "\x93NUMPY" + std::string{version, '\0'};
  for (std::size_t i = 0; i < prefix - 8; ++i)
    file += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  return file + header + std::string(elements);
}

std::string Literal(std::string_view descr, std::string_view shape,
                    bool fortran = false) {
  return std::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}",
                     descr, fortran ? "True" : "False", shape);
}

template <class T>
std::string Elements(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()),
          values.size() * sizeof(T)};
}

Result<Tensor> Read(std::string_view file) {
  const Copy copy = testing_damage::CopyOf(AsBytes(file));
  return ReadNpy(copy.bytes, copy.block);
}

TEST(NpyReaderTest, HeadersOutsideTheGrammarAreRefused) {
  const std::string four(4, '\0');
  for (
      const std::string& literal : {
          ""s,
          "{}"s,
          "{'descr': '<f4', 'fortran_order': False}"s,
          "{'descr': '<f4', 'shape': (1,)}"s,
          "{'fortran_order': False, 'shape': (1,)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': 1}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (+1,)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1+0,)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904)}"s,
          "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)"s,
          "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"s,
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}"s,
          "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}"s,
          "{'descr': '<f4\", 'fortran_order': False, 'shape': (1,)}"s,
          "{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}"s,
          "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (1,)}"s,
      }) {
    const auto tensor = Read(File(literal, four));
    ASSERT_FALSE(tensor.has_value()) << literal;
    EXPECT_EQ(tensor.error().code, ErrorCode::kCorrupt) << literal;
  }
}

TEST(NpyReaderTest, ElementTypesThatAreNoNumbersAreNamed) {
  for (const std::string descr :
       {"|O", "<U5", "|S3", "<M8[ns]", "<f16", "|V2", "<c32", "", "f"}) {
    const auto tensor = Read(File(Literal(descr, "(1,)"), ""));
    ASSERT_FALSE(tensor.has_value()) << descr;
    EXPECT_EQ(tensor.error().code, ErrorCode::kUnsupported) << descr;
    EXPECT_THAT(tensor.error().message,
                HasSubstr(descr == "|O" ? "'O'" : descr));
  }
  const auto records = Read(File(
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", ""));
  ASSERT_FALSE(records.has_value());
  EXPECT_THAT(records.error().message, HasSubstr("records"));
}

TEST(NpyReaderTest, ElementsMissingOrLeftOverAreRefused) {
  for (const std::size_t size : {0U, 7U, 9U, 16U}) {
    const auto tensor =
        Read(File(Literal("<f4", "(2,)"), std::string(size, '\0')));
    ASSERT_FALSE(tensor.has_value()) << size;
    EXPECT_THAT(tensor.error().message, HasSubstr("float32 array of shape 2 "));
  }
}

TEST(NpyReaderTest, EveryTruncationIsRefused) {
  for (const char version : {'\1', '\2', '\3'}) {
    const std::string file = File(Literal("<i2", "(3,)"), "123456", version);
    testing_damage::ForEachTruncation(AsBytes(file), [](const Copy& copy) {
      EXPECT_FALSE(ReadNpy(copy.bytes, copy.block).has_value());
    });
  }
}

TEST(NpyReaderTest, NoBitFlipReadsOutsideTheFile) {
  const std::string file = File(Literal(">i2", "(2, 3)", true), "123456123456");
  testing_damage::ForEachBitFlip(AsBytes(file), [](const Copy& copy) {
    const auto tensor = ReadNpy(copy.bytes, copy.block);
    if (tensor)
      testing_damage::ExpectReadable({{.name = "", .tensor = *tensor}});
  });
}

TEST(NpyReaderTest, FortranOrderIsTransposed) {
  const auto tensor = Read(File(Literal("<i4", "(2, 3)", true),
                                Elements<std::int32_t>({1, 4, 2, 5, 3, 6})));
  ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
  EXPECT_EQ(tensor->shape(), (Shape{2, 3}));
  EXPECT_THAT(tensor->As<std::int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(NpyReaderTest, BigEndianElementsAreReversed) {
  const auto reals =
      Read(File(Literal(">f4", "(2,)"), "\x3f\x80\0\0\xc0\0\0\0"s));
  EXPECT_THAT(reals->As<float>(), ElementsAre(1.0F, -2.0F));
  const auto fortran =
      Read(File(Literal(">i2", "(2, 2)", true), "\0\x01\0\x03\0\x02\0\x04"s));
  EXPECT_THAT(fortran->As<std::int16_t>(), ElementsAre(1, 2, 3, 4));
  const auto complex =
      Read(File(Literal(">c8", "(1,)"), "\x3f\x80\0\0\xc0\0\0\0"s));
  EXPECT_EQ(complex->As<std::complex<float>>()[0],
            (std::complex<float>{1, -2}));
}

TEST(NpyReaderTest, EveryDTypeAndVersionIsRead) {
  struct Case {
    std::string_view descr;
    DType dtype;
  };
  for (const Case& c :
       {Case{"<f2", DType::kFloat16}, Case{"<f4", DType::kFloat32},
        Case{"<f8", DType::kFloat64}, Case{"|i1", DType::kInt8},
        Case{"<i2", DType::kInt16}, Case{"<i4", DType::kInt32},
        Case{"<i8", DType::kInt64}, Case{"|u1", DType::kUInt8},
        Case{"<u2", DType::kUInt16}, Case{"<u4", DType::kUInt32},
        Case{"=u8", DType::kUInt64}, Case{"|b1", DType::kBool},
        Case{"<c8", DType::kComplex64}, Case{"<c16", DType::kComplex128}}) {
    for (const char version : {'\1', '\2', '\3'}) {
      const std::string elements(
          static_cast<std::size_t>(2 * ByteSize(c.dtype)), '\1');
      const auto tensor =
          Read(File(Literal(c.descr, "(1, 2)"), elements, version));
      ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
      EXPECT_EQ(tensor->dtype(), c.dtype);
      EXPECT_TRUE(std::ranges::equal(tensor->bytes(), AsBytes(elements)));
    }
  }
}

TEST(NpyReaderTest, ScalarsEmptyArraysAndOddSpellingsAreRead) {
  EXPECT_EQ(Read(File(Literal("<f4", "()"), std::string(4, '\0')))->shape(),
            Shape{});
  EXPECT_EQ(Read(File(Literal("<f4", "(3, 0)", true), ""))->shape(),
            (Shape{3, 0}));
  const auto python2 = Read(File(
      "{\"shape\":(2L,1L),\"fortran_order\":False,\"descr\":\"|u1\"}", "AB"));
  ASSERT_TRUE(python2.has_value()) << python2.error().message;
  EXPECT_EQ(python2->shape(), (Shape{2, 1}));
}

TEST(NpyReaderTest, AlignedElementsAreBorrowed) {
  const std::string file = File(Literal("|u1", "(2,)"), "AB");
  const auto tensor = ReadNpy(AsBytes(file), nullptr);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(static_cast<const void*>(tensor->bytes().data()),
            file.data() + file.size() - 2);
}

TEST(NpyReaderTest, BytesThatAreNoBoolAreRefused) {
  EXPECT_FALSE(Read(File(Literal("|b1", "(2,)"), "\0\2"s)).has_value());
}

std::string SmallArchive() {
  return ZipMaker()
      .Add("src.npy", File(Literal("<f4", "(1,)"), Elements({2.5F})))
      .Add("mask.npy", File(Literal("|b1", "(2,)"), "\0\1"s),
           ZipMaker::Packing::kDeflated)
      .Finish();
}

TEST(NpzReaderTest, StoredAndDeflatedArraysAreNamedWithoutExtension) {
  const std::string archive = SmallArchive();
  const auto tensors = ReadNpz(AsBytes(archive), nullptr);
  ASSERT_TRUE(tensors.has_value()) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 2U);
  EXPECT_EQ((*tensors)[0].name, "src");
  EXPECT_THAT((*tensors)[0].tensor.As<float>(), ElementsAre(2.5F));
  EXPECT_EQ((*tensors)[1].name, "mask");
  EXPECT_EQ((*tensors)[1].tensor.bytes()[1], std::byte{1});
}

TEST(NpzReaderTest, DamageIsAnErrorOrHarmless) {
  const std::string archive = SmallArchive();
  testing_damage::ForEachTruncation(AsBytes(archive), [](const Copy& copy) {
    EXPECT_FALSE(ReadNpz(copy.bytes, copy.block).has_value());
  });
  testing_damage::ForEachBitFlip(AsBytes(archive), [](const Copy& copy) {
    const auto tensors = ReadNpz(copy.bytes, copy.block);
    if (tensors) testing_damage::ExpectReadable(*tensors);
  });
}

TEST(NpzReaderTest, EntriesThatAreNoArraysAreNamed) {
  const std::string archive = ZipMaker().Add("readme.txt", "text").Finish();
  const auto tensors = ReadNpz(AsBytes(archive), nullptr);
  ASSERT_FALSE(tensors.has_value());
  EXPECT_THAT(tensors.error().message, HasSubstr("readme.txt: is no .npy"));
}

TEST(NpyReaderTest, OtherFilesAreNamed) {
  const std::string path = PARITY_TEST_DATA "/checkpoints/empty.pth";
  EXPECT_EQ(ReadNpyFile(path).error().message,
            path + ": is an empty file (0 bytes), not a NumPy .npy array");
  EXPECT_EQ(ReadNpzFile(path).error().message,
            path + ": is an empty file (0 bytes), not a NumPy .npz archive");
}

}  // namespace
}  // namespace parity
