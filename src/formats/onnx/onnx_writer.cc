// A file is: fields of the model, the graph's header, nodes, initializers,
// other fields of the graph, other fields of the model. Where an initializer's
// raw_data starts depends on the number of bytes of the graph's length, which
// depends on the padding before them: LayOut() guesses that number, and guesses
// again when it was wrong.
#include "formats/onnx/onnx_writer.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <format>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "formats/onnx/message_writer.h"
#include "formats/onnx/model_encoder.h"
#include "formats/onnx/onnx_fields.h"
#include "graph/model.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using onnx::MessageWriter;
using onnx::VarintSize;

constexpr std::size_t kAlignment = 8;
constexpr std::size_t kExternalAlignment = 4096;
constexpr std::size_t kLargeWeightBytes = 1024;
constexpr std::size_t kProtobufLimit = 0x7FFF'FFFF;
constexpr std::string_view kSpaces = "                ";
static_assert(kSpaces.size() == 2 * kAlignment);

// Weights on their way to an external file.
struct ExternalBlock {
  std::size_t offset;
  std::span<const std::byte> bytes;
};
struct ExternalPlan {
  std::string location;  // empty: everything stays inside the model
  std::vector<ExternalBlock> blocks;
};

bool IsLarge(const Initializer& initializer) {
  return !initializer.encoded.has_value() &&
         initializer.tensor.bytes().size() >= kLargeWeightBytes;
}

// A TensorProto whose raw_data starts at a multiple of 8 when the message is a
// field of its graph at `position`.
MessageWriter EncodeAligned(const Initializer& initializer,
                            std::size_t position) {
  const MessageWriter head =
      onnx::EncodeTensorHead(initializer.name, initializer.tensor);
  const std::span<const std::byte> bytes = initializer.tensor.bytes();
  const std::size_t raw_header = 1 + VarintSize(bytes.size());
  // A doc_string takes 2 bytes and its spaces: gaps of 0 and 2 to 9 bytes give
  // every remainder of 8. Where the message's length grows by a byte within
  // these, the next 8 do.
  std::size_t gap = 0;
  while (gap < kSpaces.size() + 2) {
    const std::size_t size = head.size() + gap + raw_header + bytes.size();
    if ((position + 1 + VarintSize(size) + size - bytes.size()) % kAlignment ==
        0)
      break;
    gap = gap == 0 ? 2 : gap + 1;
  }
  MessageWriter message = head;
  if (gap >= 2)
    message.AddText(onnx::kTensorDocString, kSpaces.substr(0, gap - 2));
  message.AddBytes(onnx::kTensorRawData, bytes);
  return message;
}

MessageWriter EncodeExternal(const Initializer& initializer,
                             ExternalPlan& plan) {
  std::size_t offset = 0;
  if (!plan.blocks.empty()) {
    const std::size_t end =
        plan.blocks.back().offset + plan.blocks.back().bytes.size();
    offset = (end + kExternalAlignment - 1) / kExternalAlignment *
             kExternalAlignment;
  }
  const std::span<const std::byte> bytes = initializer.tensor.bytes();
  plan.blocks.push_back({.offset = offset, .bytes = bytes});
  MessageWriter message =
      onnx::EncodeTensorHead(initializer.name, initializer.tensor);
  const std::array<std::pair<std::string_view, std::string>, 3> entries = {
      {{"location", plan.location},
       {"offset", std::to_string(offset)},
       {"length", std::to_string(bytes.size())}}};
  for (const auto& [key, value] : entries) {
    MessageWriter entry;
    entry.AddText(onnx::kEntryKey, key);
    entry.AddText(onnx::kEntryValue, value);
    message.AddMessage(onnx::kTensorExternalData, entry);
  }
  message.AddInteger(onnx::kTensorDataLocation, 1);
  return message;
}

// The initializers as fields of the graph; the first field stands at `position`
// of the file.
MessageWriter EncodeInitializers(const Graph& graph, std::size_t position,
                                 ExternalPlan& plan) {
  MessageWriter fields;
  plan.blocks.clear();
  for (const Initializer& initializer : graph.initializers) {
    if (initializer.encoded.has_value() && initializer.encoded->sparse)
      continue;  // a field after these
    if (!IsLarge(initializer)) {
      onnx::AddInitializer(initializer, &fields);
    } else if (plan.location.empty()) {
      fields.AddMessage(onnx::kGraphInitializer,
                        EncodeAligned(initializer, position + fields.size()));
    } else {
      fields.AddMessage(onnx::kGraphInitializer,
                        EncodeExternal(initializer, plan));
    }
  }
  return fields;
}

MessageWriter LayOut(const Model& model, ExternalPlan& plan) {
  const MessageWriter before_initializers =
      onnx::EncodeGraphBeforeInitializers(model.graph);
  const MessageWriter after_initializers =
      onnx::EncodeGraphAfterInitializers(model.graph);
  MessageWriter file = onnx::EncodeModelBeforeGraph(model);
  MessageWriter initializers;
  std::size_t graph_size = 0;
  // Weights are aligned after the second guess; the third is for a size on the
  // border between two lengths.
  for (int guess = 0; guess < 3; ++guess) {
    const std::size_t length_size = VarintSize(graph_size);
    const std::size_t graph_start = file.size() + 1 + length_size;
    initializers = EncodeInitializers(
        model.graph, graph_start + before_initializers.size(), plan);
    graph_size = before_initializers.size() + initializers.size() +
                 after_initializers.size();
    if (VarintSize(graph_size) == length_size) break;
  }
  file.AddHeader(onnx::kModelGraph, graph_size);
  file.AddFields(before_initializers);
  file.AddFields(initializers);
  file.AddFields(after_initializers);
  file.AddFields(onnx::EncodeModelAfterGraph(model));
  return file;
}

Status WriteBlocks(const std::vector<ExternalBlock>& blocks, AtomicFile& file) {
  const std::string zeros(kExternalAlignment, '\0');
  std::size_t position = 0;
  for (const ExternalBlock& block : blocks) {
    PARITY_RETURN_IF_ERROR(
        file.Write(std::string_view(zeros).substr(0, block.offset - position)));
    PARITY_RETURN_IF_ERROR(file.Write(block.bytes));
    position = block.offset + block.bytes.size();
  }
  return {};
}

Status WriteInside(const MessageWriter& message,
                   const std::filesystem::path& path) {
  PARITY_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  PARITY_RETURN_IF_ERROR(message.WriteTo(file));
  return file.Commit();
}

Status WriteWithExternalData(const MessageWriter& message,
                             const ExternalPlan& plan,
                             const std::filesystem::path& path) {
  PARITY_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  PARITY_ASSIGN_OR_RETURN(
      AtomicFile data, AtomicFile::Create(path.parent_path() / plan.location));
  PARITY_RETURN_IF_ERROR(WriteBlocks(plan.blocks, data));
  PARITY_RETURN_IF_ERROR(message.WriteTo(file));
  PARITY_RETURN_IF_ERROR(data.Commit());
  return file.Commit();
}

}  // namespace

Status WriteOnnxModel(const Model& model, const std::filesystem::path& path,
                      const WriteOptions& options) {
  if (const std::string name = onnx::FirstUnloadedTensor(model);
      !name.empty()) {
    return Fail(ErrorCode::kUnsupported,
                std::format("cannot write {}: the values of '{}' stand in "
                            "another file and were not loaded",
                            path.string(), name));
  }
  ExternalPlan plan;
  MessageWriter message = LayOut(model, plan);
  if (std::cmp_less_equal(message.size(),
                          options.external_data_threshold_bytes))
    return WriteInside(message, path);
  plan.location = path.filename().string() + ".data";
  message = LayOut(model, plan);
  if (message.size() > kProtobufLimit) {
    return Fail(ErrorCode::kUnsupported,
                std::format("cannot write {}: it has {} bytes without its "
                            "large weights, and ONNX allows 2 GiB",
                            path.string(), message.size()));
  }
  if (plan.blocks.empty()) return WriteInside(message, path);
  return WriteWithExternalData(message, plan, path);
}

std::string SerializeModel(const Model& model) {
  ExternalPlan plan;
  return LayOut(model, plan).ToString();
}

}  // namespace parity
