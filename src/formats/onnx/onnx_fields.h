// Field numbers of the ONNX protobuf messages that are read or written here.
// Source: onnx/onnx.proto of the ONNX project (IR versions 1 to 13).
#ifndef PARITY_FORMATS_ONNX_ONNX_FIELDS_H_
#define PARITY_FORMATS_ONNX_ONNX_FIELDS_H_

#include <cstdint>

namespace parity::onnx {

// A field number with its wire type, as it stands before each field.
constexpr std::uint32_t Varint(std::uint32_t field) { return field << 3; }
constexpr std::uint32_t Fixed64(std::uint32_t field) { return field << 3 | 1; }
constexpr std::uint32_t Bytes(std::uint32_t field) { return field << 3 | 2; }
constexpr std::uint32_t Fixed32(std::uint32_t field) { return field << 3 | 5; }

enum ModelField : std::uint32_t {
  kModelIrVersion = 1,
  kModelProducerName = 2,
  kModelProducerVersion = 3,
  kModelDomain = 4,
  kModelVersion = 5,
  kModelDocString = 6,
  kModelGraph = 7,
  kModelOpsetImport = 8,
  kModelMetadata = 14,
  kModelTrainingInfo = 20,
  kModelFunctions = 25,
};

enum OpsetField : std::uint32_t { kOpsetDomain = 1, kOpsetVersion = 2 };
enum EntryField : std::uint32_t { kEntryKey = 1, kEntryValue = 2 };

enum GraphField : std::uint32_t {
  kGraphNode = 1,
  kGraphName = 2,
  kGraphInitializer = 5,
  kGraphDocString = 10,
  kGraphInput = 11,
  kGraphOutput = 12,
  kGraphValueInfo = 13,
  kGraphSparseInitializer = 15,
};

enum NodeField : std::uint32_t {
  kNodeInput = 1,
  kNodeOutput = 2,
  kNodeName = 3,
  kNodeOpType = 4,
  kNodeAttribute = 5,
  kNodeDocString = 6,
  kNodeDomain = 7,
  kNodeOverload = 8,
  kNodeMetadata = 9,
};

enum AttributeField : std::uint32_t {
  kAttributeName = 1,
  kAttributeFloat = 2,
  kAttributeInt = 3,
  kAttributeString = 4,
  kAttributeTensor = 5,
  kAttributeGraph = 6,
  kAttributeFloats = 7,
  kAttributeInts = 8,
  kAttributeStrings = 9,
  kAttributeTensors = 10,
  kAttributeGraphs = 11,
  kAttributeTypeProto = 14,
  kAttributeTypeProtos = 15,
  kAttributeType = 20,
  kAttributeReference = 21,
  kAttributeSparseTensor = 22,
  kAttributeSparseTensors = 23,
};

// Values of AttributeProto.type.
enum class AttributeType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

enum TensorField : std::uint32_t {
  kTensorDims = 1,
  kTensorDataType = 2,
  kTensorSegment = 3,
  kTensorFloatData = 4,
  kTensorInt32Data = 5,
  kTensorStringData = 6,
  kTensorInt64Data = 7,
  kTensorName = 8,
  kTensorRawData = 9,
  kTensorDoubleData = 10,
  kTensorUint64Data = 11,
  kTensorDocString = 12,
  kTensorExternalData = 13,
  kTensorDataLocation = 14,
};

enum SparseTensorField : std::uint32_t {
  kSparseValues = 1,
  kSparseIndices = 2,
  kSparseDims = 3
};

enum ValueInfoField : std::uint32_t { kValueInfoName = 1, kValueInfoType = 2 };

enum TypeField : std::uint32_t {
  kTypeTensor = 1,
  kTypeSequence = 4,
  kTypeMap = 5,
  kTypeOpaque = 7,
  kTypeSparseTensor = 8,
  kTypeOptional = 9,
};

enum TensorTypeField : std::uint32_t {
  kTensorTypeElement = 1,
  kTensorTypeShape = 2
};
enum ShapeField : std::uint32_t { kShapeDimension = 1 };
enum DimensionField : std::uint32_t { kDimensionValue = 1, kDimensionName = 2 };

enum FunctionField : std::uint32_t {
  kFunctionName = 1,
  kFunctionInput = 4,
  kFunctionOutput = 5,
  kFunctionAttribute = 6,
  kFunctionNode = 7,
  kFunctionDocString = 8,
  kFunctionOpsetImport = 9,
  kFunctionDomain = 10,
  kFunctionDefaultAttribute = 11,
  kFunctionValueInfo = 12,
  kFunctionOverload = 13,
};

}  // namespace parity::onnx

#endif  // PARITY_FORMATS_ONNX_ONNX_FIELDS_H_
