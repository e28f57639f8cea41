#include "networks/matting_export_options.h"

#include <format>
#include <string_view>

#include "graph/operators.h"
#include "parity/dtype.h"
#include "parity/error.h"

namespace parity {

std::string_view Name(CropMethod method) {
  switch (method) {
    case CropMethod::kUnfold:
      return "unfold";
    case CropMethod::kRoiAlign:
      return "roi_align";
    case CropMethod::kGather:
      return "gather";
  }
  return "";
}

std::string_view Name(ReplaceMethod method) {
  return method == ReplaceMethod::kScatterNd ? "scatter_nd" : "scatter_element";
}

std::string_view Name(Precision precision) { return Name(DTypeOf(precision)); }

DType DTypeOf(Precision precision) {
  return precision == Precision::kFloat16 ? DType::kFloat16 : DType::kFloat32;
}

Status CheckExportOptions(const MattingExportOptions& options) {
  if (options.opset_version < kMinOpsetVersion ||
      options.opset_version > kMaxOpsetVersion) {
    return Fail(
        ErrorCode::kInvalidArgument,
        std::format("opset version {} is outside {}…{}", options.opset_version,
                    kMinOpsetVersion, kMaxOpsetVersion));
  }
  return {};
}

}  // namespace parity
