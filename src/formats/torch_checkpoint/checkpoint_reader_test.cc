#include "formats/torch_checkpoint/checkpoint_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_mapping.h"
#include "formats/safetensors/safetensors_reader.h"
#include "formats/testing/damage.h"
#include "formats/torch_checkpoint/pickle_maker.h"
#include "formats/zip/zip_maker.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using std::string_literals::operator""s;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing_damage::Copy;

std::string Path(std::string_view name) {
  return PARITY_TEST_DATA "/checkpoints/" + std::string(name);
}

void ExpectSame(const NamedTensors& actual, const NamedTensors& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    SCOPED_TRACE(expected[i].name);
    EXPECT_EQ(actual[i].name, expected[i].name);
    EXPECT_EQ(actual[i].tensor.dtype(), expected[i].tensor.dtype());
    EXPECT_EQ(actual[i].tensor.shape(), expected[i].tensor.shape());
    EXPECT_TRUE(std::ranges::equal(actual[i].tensor.bytes(),
                                   expected[i].tensor.bytes()));
  }
}

TEST(CheckpointReaderTest, FilesOfPyTorchAreReadExactly) {
  struct Case {
    std::string_view name;
    std::string_view expected;
    std::vector<std::string> notes;
  };
  for (const Case& c : {
           Case{"dtypes_zip.pth", "dtypes", {}},
           Case{"plain_dict_zip.pth", "dtypes", {}},
           Case{"dtypes_legacy.pth", "dtypes", {}},
           Case{"module_state_dict.pth", "module_state_dict", {}},
           Case{"nested_state_dict.pth",
                "module_state_dict",
                {"tensors found under 'state_dict'"}},
           Case{"dataparallel_prefix.pth",
                "module_state_dict",
                {"tensors found under 'model'",
                 "stripped the common prefix 'module.'"}},
       }) {
    SCOPED_TRACE(c.name);
    const auto checkpoint = ReadCheckpoint(Path(c.name));
    ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
    const auto expected = ReadSafetensorsFile(
        Path(std::string(c.expected) + ".expected.safetensors"));
    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    ExpectSame(checkpoint->tensors, expected->tensors);
    EXPECT_EQ(checkpoint->notes, c.notes);
  }
}

TEST(CheckpointReaderTest, FilesThatAreNoStateDictsSayWhatTheyAre) {
  struct Case {
    std::string_view name;
    ErrorCode code;
    std::vector<std::string_view> messages;
  };
  for (const Case& c : {
           Case{"whole_module.pth",
                ErrorCode::kUnsupported,
                {"pickled module", "torch.nn.modules.container.Sequential",
                 "torch.save(model.state_dict(), FILE)"}},
           Case{"torchscript_named_pth.pth",
                ErrorCode::kUnsupported,
                {"a TorchScript archive, not a PyTorch checkpoint",
                 "--torchscript"}},
           Case{"malicious_reduce.pth",
                ErrorCode::kUnsupported,
                {"malicious_reduce/data.pkl",
                 "names the global 'posix.system', which this reader never "
                 "calls"}},
           Case{"malicious_eval_legacy.pth",
                ErrorCode::kUnsupported,
                {"names the global '__builtin__.eval', which this reader never "
                 "calls"}},
           Case{
               "truncated.pth",
               ErrorCode::kCorrupt,
               {"begins like a zip archive but has no zip directory at its end",
                "truncated"}},
           Case{"flipped_bit.pth",
                ErrorCode::kCorrupt,
                {"dtypes_zip/data/0: CRC-32"}},
           Case{"empty.pth",
                ErrorCode::kCorrupt,
                {"is an empty file (0 bytes), not a PyTorch checkpoint"}},
           Case{"not_a_checkpoint.pth",
                ErrorCode::kCorrupt,
                {"begins like a zip archive but has no zip directory"}},
           Case{"dtypes.expected.safetensors",
                ErrorCode::kCorrupt,
                {"is a safetensors file, not a PyTorch checkpoint"}},
       }) {
    const auto checkpoint = ReadCheckpoint(Path(c.name));
    ASSERT_FALSE(checkpoint.has_value()) << c.name;
    EXPECT_EQ(checkpoint.error().code, c.code) << c.name;
    EXPECT_THAT(checkpoint.error().message, HasSubstr(Path(c.name) + ": "));
    for (const std::string_view message : c.messages)
      EXPECT_THAT(checkpoint.error().message, HasSubstr(message));
  }
  EXPECT_EQ(ReadCheckpoint(Path("missing.pth")).error().code,
            ErrorCode::kNotFound);
}

TEST(CheckpointReaderTest, MaliciousFilesExecuteNothing) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "checkpoint_reader_test";
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  for (const std::string_view name :
       {"malicious_reduce.pth", "malicious_eval_legacy.pth"}) {
    EXPECT_FALSE(ReadCheckpoint(Path(name)).has_value());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  std::filesystem::current_path(before);
  std::filesystem::remove(folder);
}

TEST(CheckpointReaderTest, ARealNetworkIsReadWithoutCopies) {
  const auto file =
      FileMapping::Open(Path("mattingrefine-mobilenetv2-synthetic0.pth"));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const std::span<const std::byte> bytes = (*file)->bytes();
  const auto checkpoint = ReadCheckpointBytes(bytes, *file);
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  EXPECT_EQ(checkpoint->tensors.size(), 382U);
  EXPECT_THAT(checkpoint->notes, IsEmpty());
  for (const NamedTensor& entry : checkpoint->tensors) {
    EXPECT_TRUE(entry.tensor.bytes().data() >= bytes.data() &&
                entry.tensor.bytes().data() < bytes.data() + bytes.size())
        << entry.name << " was copied";
  }
}

// Reads a damaged file: an error, or tensors that can be read to the end.
void ReadDamaged(const Copy& copy) {
  const auto checkpoint = ReadCheckpointBytes(copy.bytes, copy.block);
  if (checkpoint) testing_damage::ExpectReadable(checkpoint->tensors);
}

TEST(CheckpointReaderTest, EveryTruncationIsRefused) {
  for (const std::string_view name :
       {"module_state_dict.pth", "dtypes_legacy.pth"}) {
    const auto file = FileMapping::Open(Path(name));
    ASSERT_TRUE(file.has_value());
    testing_damage::ForEachTruncation((*file)->bytes(), [](const Copy& copy) {
      EXPECT_FALSE(ReadCheckpointBytes(copy.bytes, copy.block).has_value());
    });
  }
}

TEST(CheckpointReaderTest, NoBitFlipReadsOutsideTheFile) {
  for (const std::string_view name :
       {"module_state_dict.pth", "dtypes_legacy.pth"}) {
    const auto file = FileMapping::Open(Path(name));
    ASSERT_TRUE(file.has_value());
    testing_damage::ForEachBitFlip((*file)->bytes(), ReadDamaged);
  }
}

// A zip archive's CRC hides a damaged pickle from the machine: this one has its
// CRC set right again after the damage.
TEST(CheckpointReaderTest, NoBitFlipInsideThePickleReadsOutsideTheFile) {
  const std::string object = pickle::File(pickle::Dict(
      {{"a", pickle::Tensor(pickle::Storage("FloatStorage", "0", 6), 0, {2, 3},
                            {1, 2})},
       {"b", pickle::Tensor(pickle::Storage("FloatStorage", "0", 6), 2, {4},
                            {1})}}));
  testing_damage::ForEachBitFlip(AsBytes(object), [](const Copy& copy) {
    const std::string_view damaged(
        reinterpret_cast<const char*>(copy.bytes.data()), copy.bytes.size());
    const std::string archive = ZipMaker()
                                    .Add("archive/data.pkl", damaged)
                                    .Add("archive/data/0", std::string(24, 'x'))
                                    .Finish();
    ReadDamaged(testing_damage::CopyOf(AsBytes(archive)));
  });
}

std::string Floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(float)};
}

Result<Checkpoint> ReadZip(const std::string& tensor,
                           const std::vector<std::string>& storages,
                           std::string_view byte_order = "little") {
  const std::string file =
      pickle::Zip(pickle::Dict({{"t", tensor}}), storages, byte_order);
  const Copy copy = testing_damage::CopyOf(AsBytes(file));
  return ReadCheckpointBytes(copy.bytes, copy.block);
}

TEST(CheckpointReaderTest, ViewsOutsideTheirStorageAreRefused) {
  const std::string storage = pickle::Storage("FloatStorage", "0", 6);
  const std::string six = Floats({1, 2, 3, 4, 5, 6});
  struct Case {
    std::string tensor;
    std::string_view message;
  };
  for (const Case& c : {
           Case{pickle::Tensor(storage, 0, {7}, {1}),
                "reaches element 7 of a storage of 6"},
           Case{pickle::Tensor(storage, 1, {6}, {1}), "reaches element 7"},
           Case{pickle::Tensor(storage, 0, {2, 3}, {4, 1}),
                "reaches element 7"},
           Case{pickle::Tensor(storage, -1, {1}, {1}), "starts at element -1"},
           Case{pickle::Tensor(storage, 5, {2}, {-1}), "stride -1"},
           Case{pickle::Tensor(storage, 0, {-1}, {1}), "negative"},
           Case{pickle::Tensor(storage, 0, {2, 3}, {1}),
                "2 axes and 1 strides"},
           Case{pickle::Tensor(storage, 0, {0x7fffffff, 0x7fffffff},
                               {0x7fffffff, 0x7fffffff}),
                ""},
           Case{pickle::Tensor(pickle::Storage("FloatStorage", "0", 5), 0, {5},
                               {1}),
                "has 24 bytes where the pickle says 20"},
           Case{pickle::Tensor(pickle::Storage("FloatStorage", "0", -1), 0, {5},
                               {1}),
                "element count"},
           Case{pickle::Tensor(pickle::Storage("FloatStorage", "9", 6), 0, {5},
                               {1}),
                "no entry archive/data/9"},
           Case{pickle::Tensor(pickle::Storage("BoolStorage", "0", 24), 0, {24},
                               {1}),
                "no bool"},
       }) {
    const auto checkpoint = ReadZip(c.tensor, {six});
    ASSERT_FALSE(checkpoint.has_value()) << c.message;
    EXPECT_EQ(checkpoint.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(checkpoint.error().message, HasSubstr(c.message));
  }
}

TEST(CheckpointReaderTest, ExpansionsBeyondAllProportionAreRefused) {
  const auto checkpoint =
      ReadZip(pickle::Tensor(pickle::Storage("FloatStorage", "0", 1), 0,
                             {1 << 20, 1 << 20}, {0, 0}),
              {Floats({1})});
  ASSERT_FALSE(checkpoint.has_value());
  EXPECT_EQ(checkpoint.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(checkpoint.error().message,
              AllOf(HasSubstr("tensor 't'"), HasSubstr("1048576x1048576")));
}

TEST(CheckpointReaderTest, ViewsAreMadeContiguous) {
  const std::string storage = pickle::Storage("FloatStorage", "0", 6);
  struct Case {
    std::string tensor;
    std::vector<float> expected;
  };
  for (const Case& c :
       {Case{pickle::Tensor(storage, 0, {3, 2}, {1, 3}), {1, 4, 2, 5, 3, 6}},
        Case{pickle::Tensor(storage, 1, {2}, {3}), {2, 5}},
        Case{pickle::Tensor(storage, 5, {3}, {0}), {6, 6, 6}},
        Case{pickle::Tensor(storage, 4, {}, {}), {5}},
        Case{pickle::Tensor(storage, 6, {0}, {1}), {}}}) {
    const auto checkpoint = ReadZip(c.tensor, {Floats({1, 2, 3, 4, 5, 6})});
    ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
    EXPECT_THAT(checkpoint->tensors[0].tensor.As<float>(),
                ::testing::ElementsAreArray(c.expected));
  }
}

TEST(CheckpointReaderTest, BigEndianStoragesAreReversed) {
  const auto checkpoint = ReadZip(
      pickle::Tensor(pickle::Storage("FloatStorage", "0", 2), 0, {2}, {1}),
      {"\x3f\x80\0\0\xc0\0\0\0"s}, "big");
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  EXPECT_THAT(checkpoint->tensors[0].tensor.As<float>(),
              ElementsAre(1.0F, -2.0F));
  const auto unknown = ReadZip(pickle::SmallTensor(), {Floats({1})}, "middle");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, HasSubstr("archive/byteorder"));
}

TEST(CheckpointReaderTest, LegacyViewsOfStoragesAreFollowed) {
  const std::string head =
      pickle::File("\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19") +
      pickle::File("M\xe9\x03") + pickle::File("}");
  const auto file = [&](std::int32_t first, std::int32_t count) {
    const std::string storage =
        pickle::Tuple({pickle::Text("storage"),
                       pickle::Global("torch", "FloatStorage"),
                       pickle::Text("k"), pickle::Text("cpu"), pickle::Int(4),
                       pickle::Tuple({pickle::Text("v"), pickle::Int(first),
                                      pickle::Int(count)})}) +
        "Q";
    return head +
           pickle::File(
               pickle::Dict({{"t", pickle::Tensor(storage, 1, {1}, {1})}})) +
           pickle::File("]" + pickle::Text("k") + "a") +
           pickle::Raw(std::int64_t{4}) + Floats({1, 2, 3, 4});
  };
  const std::string good = file(2, 2);
  const auto checkpoint = ReadCheckpointBytes(AsBytes(good), nullptr);
  ASSERT_TRUE(checkpoint.has_value()) << checkpoint.error().message;
  EXPECT_THAT(checkpoint->tensors[0].tensor.As<float>(), ElementsAre(4.0F));
  for (const std::string& bad : {file(3, 2), file(-1, 2), file(2, 1)})
    EXPECT_FALSE(ReadCheckpointBytes(AsBytes(bad), nullptr).has_value());
}

TEST(CheckpointReaderTest, TarCheckpointsGetAdvice) {
  const std::string tar =
      std::string(257, '\0') + "ustar" + std::string(250, '\0');
  const auto checkpoint = ReadCheckpointBytes(AsBytes(tar), nullptr);
  ASSERT_FALSE(checkpoint.has_value());
  EXPECT_EQ(checkpoint.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(checkpoint.error().message, HasSubstr("save it again"));
}

}  // namespace
}  // namespace parity
