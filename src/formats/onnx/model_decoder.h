// Decodes ModelProto, GraphProto, NodeProto and what they contain into
// graph/model.h.
#ifndef PARITY_FORMATS_ONNX_MODEL_DECODER_H_
#define PARITY_FORMATS_ONNX_MODEL_DECODER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/tensor_proto.h"
#include "graph/model.h"
#include "parity/error.h"

namespace parity::onnx {

// What a decoded model does not say about its bytes.
struct ModelPresence {
  bool ir_version = false;
  bool opset_import = false;
  bool graph = false;
};

// One use decodes one model. All functions throw protozero's exceptions for
// bytes that are no protobuf message.
class ModelDecoder {
 public:
  explicit ModelDecoder(TensorSource source) : source_(std::move(source)) {}

  // Errors, naming node or tensor: kCorrupt; kUnsupported for graphs nested
  // more than 64 deep or more than a million parts; those of DecodeTensor().
  [[nodiscard]] Result<Model> DecodeModel(std::string_view message,
                                          ModelPresence* presence);

 private:
  // The values of an AttributeProto before its type decides which one counts.
  struct AttributeFields;

  [[nodiscard]] Status DecodeGraph(std::string_view message, int depth,
                                   Graph* graph);
  [[nodiscard]] Result<Function> DecodeFunction(std::string_view message);
  [[nodiscard]] Result<Node> DecodeNode(std::string_view message, int depth);
  [[nodiscard]] Result<Attribute> DecodeAttribute(std::string_view message,
                                                  int depth);
  [[nodiscard]] Result<AttributeValue> DecodeValue(
      AttributeType type, const AttributeFields& fields, int depth);
  [[nodiscard]] Result<AttributeValue> DecodeTensorValue(
      const AttributeFields& fields);
  [[nodiscard]] Result<AttributeValue> DecodeTensorList(
      const AttributeFields& fields);
  [[nodiscard]] Result<AttributeValue> DecodeGraphValue(
      const AttributeFields& fields, int depth);
  [[nodiscard]] Result<AttributeValue> DecodeGraphList(
      const AttributeFields& fields, int depth);
  [[nodiscard]] AttributeValue KeepEncoded(std::string kind,
                                           const AttributeFields& fields,
                                           bool external = false);
  static AttributeFields ReadAttributeFields(std::string_view message);

  [[nodiscard]] Status AddInitializer(Result<DecodedTensor> tensor,
                                      Graph* graph);
  [[nodiscard]] Status AddValueInfo(std::string_view message,
                                    std::vector<ValueInfo>* infos);

  // An empty message takes 2 bytes of a file and hundreds here, so hostile
  // files are stopped by number.
  [[nodiscard]] Status CountPart();

  TensorSource source_;
  std::vector<std::string> warnings_;
  std::int64_t part_count_ = 0;
};

// Of a StringStringEntryProto; of an OperatorSetIdProto.
void DecodeEntry(std::string_view message,
                 std::map<std::string, std::string>* entries);
[[nodiscard]] OpsetImport DecodeOpset(std::string_view message);

}  // namespace parity::onnx

#endif  // PARITY_FORMATS_ONNX_MODEL_DECODER_H_
