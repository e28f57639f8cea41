// How a BackgroundMattingV2 network is written as an ONNX graph: choices that
// change the operators, never the numbers.
#ifndef PARITY_NETWORKS_MATTING_EXPORT_OPTIONS_H_
#define PARITY_NETWORKS_MATTING_EXPORT_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "parity/dtype.h"
#include "parity/error.h"

namespace parity {

// How the patches around marked cells are cut out.
enum class CropMethod : std::uint8_t {
  kUnfold,    // sliding windows, put together from whole cells
  kRoiAlign,  // RoiAlign on boxes of whole pixels
  kGather,    // flat pixel indices
};

// How refined patches are put back.
enum class ReplaceMethod : std::uint8_t {
  kScatterNd,       // whole patches
  kScatterElement,  // flat pixel indices
};

enum class Precision : std::uint8_t { kFloat32, kFloat16 };

// The defaults are those of the published export script.
struct MattingExportOptions {
  CropMethod crop = CropMethod::kRoiAlign;
  ReplaceMethod replace = ReplaceMethod::kScatterElement;
  int opset_version = 12;        // 11…20
  bool constant_folding = true;  // batch normalisation into the convolutions
  // Of weights, inputs and outputs. Sizes, indices and the selection of cells
  // are never in float16.
  Precision precision = Precision::kFloat32;
  // For the metadata: where the weights are from ("checkpoint.pth", "synthetic
  // seed 0") and the version of this tool.
  std::string weights_source = {};
  std::string tool_version = {};
};

[[nodiscard]] std::string_view Name(
    CropMethod method);  // "unfold", "roi_align", "gather"
[[nodiscard]] std::string_view Name(
    ReplaceMethod method);  // "scatter_nd", "scatter_element"
[[nodiscard]] std::string_view Name(
    Precision precision);  // "float32", "float16"
[[nodiscard]] DType DTypeOf(Precision precision);

// Errors: kInvalidArgument naming the value out of range.
[[nodiscard]] Status CheckExportOptions(const MattingExportOptions& options);

}  // namespace parity

#endif  // PARITY_NETWORKS_MATTING_EXPORT_OPTIONS_H_
