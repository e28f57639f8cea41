// Tensors in every encoding ONNX has, read through whole models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/message_writer.h"
#include "formats/onnx/onnx_dtype.h"
#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/sample_models.h"
#include "graph/encoded.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

using ::testing::HasSubstr;

template <class T>
std::string Raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(std::data(values)),
          values.size() * sizeof(T)};
}

std::string Varints(const std::vector<std::int64_t>& values) {
  std::string packed;
  for (const std::int64_t value : values) {
    auto rest = static_cast<std::uint64_t>(value);
    for (; rest >= 0x80; rest >>= 7) packed += static_cast<char>(rest | 0x80);
    packed += static_cast<char>(rest);
  }
  return packed;
}

std::string ErrorOf(const MessageWriter& tensor) {
  const auto model = ReadBytes(ModelBytesWithInitializer(tensor));
  return model.has_value() ? "read without error" : model.error().message;
}

std::string BytesOf(const MessageWriter& message) {
  const auto model = ReadBytes(ModelBytesWithInitializer(message));
  if (!model.has_value()) return model.error().message;
  const auto bytes = model->graph.initializers.front().tensor.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct VarintCase {
  DType dtype;
  TensorField field;
  std::vector<std::int64_t> values;
  std::string expected;
};

const std::vector<VarintCase>& VarintCases() {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  static const std::vector<VarintCase> cases = {
      {DType::kInt8,
       kTensorInt32Data,
       {-128, 127},
       Raw<std::int8_t>({-128, 127})},
      {DType::kUInt8, kTensorInt32Data, {0, 255}, Raw<std::uint8_t>({0, 255})},
      {DType::kBool, kTensorInt32Data, {0, 256}, Raw<std::uint8_t>({0, 1})},
      {DType::kInt16,
       kTensorInt32Data,
       {-32768, 32767},
       Raw<std::int16_t>({-32768, 32767})},
      {DType::kUInt16,
       kTensorInt32Data,
       {1, 65535},
       Raw<std::uint16_t>({1, 65535})},
      {DType::kFloat16,
       kTensorInt32Data,
       {0x3C00, 0xBC00},
       Raw<std::uint16_t>({0x3C00, 0xBC00})},
      {DType::kBFloat16,
       kTensorInt32Data,
       {0x3F80, 0x7FC0},
       Raw<std::uint16_t>({0x3F80, 0x7FC0})},
      {DType::kInt32,
       kTensorInt32Data,
       {-1, 1 << 30},
       Raw<std::int32_t>({-1, 1 << 30})},
      {DType::kInt64,
       kTensorInt64Data,
       {kMin, 5},
       Raw<std::int64_t>({kMin, 5})},
      {DType::kUInt32,
       kTensorUint64Data,
       {0xFFFFFFFF, 1},
       Raw<std::uint32_t>({0xFFFFFFFF, 1})},
      {DType::kUInt64,
       kTensorUint64Data,
       {-1, 7},
       Raw<std::uint64_t>({~std::uint64_t{0}, 7})},
  };
  return cases;
}

TEST(TensorProtoTest, IntegersAndHalvesAreDecodedFromVarints) {
  for (const VarintCase& c : VarintCases()) {
    SCOPED_TRACE(Name(c.dtype));
    MessageWriter packed = TensorMessage(NumberFromDType(c.dtype), {2});
    packed.AddText(c.field, Varints(c.values));
    EXPECT_EQ(BytesOf(packed), c.expected);
    MessageWriter unpacked = TensorMessage(NumberFromDType(c.dtype), {2});
    for (const std::int64_t value : c.values)
      unpacked.AddInteger(c.field, value);
    EXPECT_EQ(BytesOf(unpacked), c.expected);
  }
}

TEST(TensorProtoTest, FloatsAreReadFromPackedUnpackedAndSplitFields) {
  const std::string values = Raw<float>({1.5F, -2, 3, 4});
  MessageWriter packed = TensorMessage(1, {4});
  packed.AddText(kTensorFloatData, values);
  EXPECT_EQ(BytesOf(packed), values);
  MessageWriter unpacked = TensorMessage(1, {4});
  for (const float value : {1.5F, -2.F, 3.F, 4.F})
    unpacked.AddFloat(kTensorFloatData, value);
  EXPECT_EQ(BytesOf(unpacked), values);
  MessageWriter split = TensorMessage(1, {4});
  split.AddText(kTensorFloatData, values.substr(0, 4));
  split.AddFloat(kTensorFloatData, -2);
  split.AddText(kTensorFloatData, values.substr(8));
  EXPECT_EQ(BytesOf(split), values);
}

TEST(TensorProtoTest, DoublesAndComplexNumbersUseTheirFields) {
  const std::string floats = Raw<float>({1, 2, 3, 4});
  MessageWriter complex64 =
      TensorMessage(NumberFromDType(DType::kComplex64), {2});
  complex64.AddText(kTensorFloatData, floats);
  EXPECT_EQ(BytesOf(complex64), floats);
  const std::string doubles = Raw<double>({1, 2, 3, 4});
  MessageWriter float64 = TensorMessage(NumberFromDType(DType::kFloat64), {4});
  float64.AddText(kTensorDoubleData, doubles);
  EXPECT_EQ(BytesOf(float64), doubles);
  MessageWriter complex128 =
      TensorMessage(NumberFromDType(DType::kComplex128), {2, 1});
  complex128.AddText(kTensorDoubleData, doubles);
  EXPECT_EQ(BytesOf(complex128), doubles);
}

TEST(TensorProtoTest, RawDataIsReadForEveryDType) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const Tensor tensor = CountingTensor(static_cast<DType>(i), {2, 3});
    MessageWriter message =
        TensorMessage(NumberFromDType(tensor.dtype()), tensor.shape());
    message.AddBytes(kTensorRawData, tensor.bytes());
    const std::string_view expected(
        reinterpret_cast<const char*>(tensor.bytes().data()),
        tensor.bytes().size());
    EXPECT_EQ(BytesOf(message), expected) << Name(tensor.dtype());
  }
}

TEST(TensorProtoTest, DimensionsMayBePacked) {
  MessageWriter message;
  message.AddText(kTensorDims, Varints({1, 2}));
  message.AddInteger(kTensorDataType, 1);
  message.AddText(kTensorRawData, Raw<float>({1, 2}));
  const auto model = ReadBytes(ModelBytesWithInitializer(message));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->graph.initializers.front().tensor.shape(), (Shape{1, 2}));
}

TEST(TensorProtoTest, TensorsWithoutElementsNeedNoData) {
  EXPECT_EQ(BytesOf(TensorMessage(1, {0, 7})), "");
  EXPECT_EQ(BytesOf(TensorMessage(7, {0})), "");
}

TEST(TensorProtoTest,
     HugeShapesAreComparedWithTheDataBeforeAnythingIsAllocated) {
  for (const std::int32_t type : {1, 2, 7, 11, 13}) {
    MessageWriter message = TensorMessage(type, {1 << 30, 1 << 30});
    EXPECT_THAT(ErrorOf(message),
                HasSubstr("tensor 'w': shape 1073741824x1073741824 has"))
        << type;
    message.AddText(kTensorRawData, "few");
    EXPECT_THAT(ErrorOf(message), HasSubstr("tensor 'w': ")) << type;
  }
  EXPECT_THAT(ErrorOf(TensorMessage(1, {1 << 30, 1 << 30, 1 << 30})),
              HasSubstr("more than 2^62"));
  EXPECT_THAT(ErrorOf(TensorMessage(1, {0, -1})), HasSubstr("negative axis"));
}

TEST(TensorProtoTest, DataThatDoNotFitNameTheTensorAndBothNumbers) {
  MessageWriter raw = TensorMessage(1, {3, 4});
  raw.AddText(kTensorRawData, "12345678");
  EXPECT_THAT(
      ErrorOf(raw),
      HasSubstr(
          "tensor 'w': a float32 tensor of shape 3x4 needs 48 bytes, not 8"));
  MessageWriter typed = TensorMessage(7, {3});
  typed.AddInteger(kTensorInt64Data, 1);
  EXPECT_THAT(
      ErrorOf(typed),
      HasSubstr(
          "tensor 'w': shape 3 has 3 elements, but int64_data has 1 values"));
  MessageWriter odd = TensorMessage(1, {1});
  odd.AddText(kTensorFloatData, "12345");
  EXPECT_THAT(ErrorOf(odd), HasSubstr("needs 4 bytes, not 5"));
  MessageWriter wrong_field = TensorMessage(1, {1});
  wrong_field.AddInteger(kTensorInt64Data, 1);
  EXPECT_THAT(ErrorOf(wrong_field), HasSubstr("float_data has 0 values"));
}

TEST(TensorProtoTest, ATensorWithoutDTypeIsAnError) {
  MessageWriter message;
  message.AddText(kTensorName, "w");
  EXPECT_THAT(ErrorOf(message), HasSubstr("tensor 'w': has no dtype"));
}

TEST(TensorProtoTest, UnsupportedTensorsAreListedWithoutValues) {
  struct Case {
    std::int32_t number;
    std::string dtype;
  };
  for (const Case& c : {Case{8, "string"}, Case{17, "float8e4m3fn"},
                        Case{22, "int4"}, Case{99, "type 99"}}) {
    SCOPED_TRACE(c.dtype);
    MessageWriter message = TensorMessage(c.number, {5});
    message.AddText(kTensorRawData, "12345");
    const auto model = ReadBytes(ModelBytesWithInitializer(message));
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const Initializer& initializer = model->graph.initializers.front();
    EXPECT_EQ(initializer.name, "w");
    const EncodedTensor encoded = initializer.encoded.value_or(EncodedTensor());
    EXPECT_EQ(encoded.dtype, c.dtype);
    EXPECT_EQ(encoded.shape, Shape{5});
    EXPECT_EQ(initializer.Values().error().code, ErrorCode::kUnsupported);
    ASSERT_EQ(model->warnings.size(), 1U);
    EXPECT_THAT(model->warnings.front(),
                HasSubstr("'w' (" + c.dtype + " of shape 5)"));
  }
}

TEST(TensorProtoTest, TensorsInSegmentsAreNotMistakenForWholeOnes) {
  MessageWriter message = TensorMessage(1, {1});
  message.AddText(kTensorRawData, "1234");
  message.AddMessage(kTensorSegment, MessageWriter());
  const auto model = ReadBytes(ModelBytesWithInitializer(message));
  ASSERT_TRUE(model.has_value());
  EXPECT_THAT(model->graph.initializers.front().Values().error().message,
              HasSubstr("segments"));
}

}  // namespace
}  // namespace parity::onnx
