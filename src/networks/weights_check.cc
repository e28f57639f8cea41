#include "networks/weights_check.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/half.h"
#include "base/status_macros.h"
#include "networks/matting_config.h"
#include "networks/matting_layers.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using Index = std::map<std::string_view, const Tensor*>;

// Where the keys and shapes of a state_dict part from a network's.
struct Differences {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> misshapen;  // "name is 1x2, should be 3x4"

  [[nodiscard]] bool none() const {
    return missing.empty() && unexpected.empty() && misshapen.empty();
  }
};

bool CanConvert(DType from, DType to) {
  return IsFloating(to) ? IsFloating(from) : IsInteger(from);
}

Differences Compare(const std::vector<Parameter>& table, const Index& index) {
  Differences differences;
  std::size_t known = 0;
  for (const Parameter& parameter : table) {
    const auto found = index.find(parameter.name);
    if (found == index.end()) {
      differences.missing.push_back(parameter.name);
      continue;
    }
    ++known;
    const Tensor& tensor = *found->second;
    if (tensor.shape() != parameter.shape) {
      differences.misshapen.push_back(
          std::format("{} is {}, should be {}", parameter.name,
                      ToString(tensor.shape()), ToString(parameter.shape)));
    } else if (!CanConvert(tensor.dtype(), parameter.dtype)) {
      differences.misshapen.push_back(
          std::format("{} is {}, should be {}", parameter.name,
                      Name(tensor.dtype()), Name(parameter.dtype)));
    }
  }
  if (known == index.size()) return differences;
  Index rest = index;
  for (const Parameter& parameter : table) rest.erase(parameter.name);
  for (const auto& [name, tensor] : rest)
    differences.unexpected.emplace_back(name);
  return differences;
}

void AppendList(std::string& text, std::string_view what,
                const std::vector<std::string>& entries) {
  if (entries.empty()) return;
  text +=
      std::format("{}{} {}: ", text.empty() ? "" : "; ", entries.size(), what);
  for (std::size_t i = 0; i < entries.size(); ++i)
    text += (i == 0 ? "" : ", ") + entries[i];
}

std::string Describe(const MattingConfig& config) {
  std::string text =
      std::format("{} with {}", Name(config.type), Name(config.backbone));
  if (config.type == MattingType::kRefine) {
    text +=
        std::format(" and refiner kernel size {}", config.refine_kernel_size);
  }
  return text;
}

// The other configuration these weights belong to.
std::optional<MattingConfig> FindFitting(const Index& index) {
  for (const MattingType type : {MattingType::kRefine, MattingType::kBase}) {
    for (const Backbone backbone :
         {Backbone::kMobileNetV2, Backbone::kResNet50, Backbone::kResNet101}) {
      for (const int kernel : {3, 1}) {
        const MattingConfig config = {
            .type = type, .backbone = backbone, .refine_kernel_size = kernel};
        if (Compare(ParameterTable(config), index).none()) return config;
      }
    }
  }
  return std::nullopt;
}

Error Explain(const MattingConfig& config, const Differences& differences,
              const Index& index) {
  std::string lists;
  AppendList(lists, "missing", differences.missing);
  AppendList(lists, "unexpected", differences.unexpected);
  AppendList(lists, "of another shape or dtype", differences.misshapen);
  std::string message =
      std::format("the weights do not fit {}", Describe(config));
  if (const std::optional<MattingConfig> other = FindFitting(index))
    message += std::format(" (they fit {})", Describe(*other));
  return {.code = ErrorCode::kIncompatible,
          .message = std::format("{}: {}", message, lists)};
}

template <class Source, class Convert>
Result<Tensor> ToFloat32(const Tensor& tensor, Convert convert) {
  PARITY_ASSIGN_OR_RETURN(Tensor result,
                          Tensor::Allocate(DType::kFloat32, tensor.shape()));
  std::ranges::transform(tensor.As<Source>(), result.MutableAs<float>().begin(),
                         convert);
  return result;
}

template <class Source>
Result<Tensor> ToInt64(const Tensor& tensor) {
  PARITY_ASSIGN_OR_RETURN(Tensor result,
                          Tensor::Allocate(DType::kInt64, tensor.shape()));
  std::ranges::transform(
      tensor.As<Source>(), result.MutableAs<std::int64_t>().begin(),
      [](Source value) { return static_cast<std::int64_t>(value); });
  return result;
}

// Requires CanConvert().
Result<Tensor> ConvertTo(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  switch (tensor.dtype()) {
    case DType::kFloat16:
      return ToFloat32<std::uint16_t>(tensor, FloatFromHalf);
    case DType::kBFloat16:
      return ToFloat32<std::uint16_t>(tensor, FloatFromBFloat16);
    case DType::kFloat64:
      return ToFloat32<double>(
          tensor, [](double value) { return static_cast<float>(value); });
    case DType::kInt8:
      return ToInt64<std::int8_t>(tensor);
    case DType::kInt16:
      return ToInt64<std::int16_t>(tensor);
    case DType::kInt32:
      return ToInt64<std::int32_t>(tensor);
    case DType::kUInt8:
      return ToInt64<std::uint8_t>(tensor);
    case DType::kUInt16:
      return ToInt64<std::uint16_t>(tensor);
    case DType::kUInt32:
      return ToInt64<std::uint32_t>(tensor);
    case DType::kUInt64:
      return ToInt64<std::uint64_t>(tensor);
    default:
      return Fail(ErrorCode::kIncompatible,
                  std::format("{} cannot become {}", Name(tensor.dtype()),
                              Name(dtype)));
  }
}

Result<Tensor> Neutral(const Parameter& parameter) {
  PARITY_ASSIGN_OR_RETURN(Tensor tensor,
                          Tensor::Allocate(parameter.dtype, parameter.shape));
  const bool is_scale =
      parameter.name.ends_with(".running_var") ||
      (parameter.name.ends_with(".weight") && parameter.shape.size() == 1);
  if (is_scale) std::ranges::fill(tensor.MutableAs<float>(), 1.0F);
  return tensor;
}

std::vector<std::string> Notes(const Differences& differences) {
  std::vector<std::string> notes;
  if (!differences.missing.empty()) {
    std::string text;
    AppendList(text, "missing in the weights and filled in",
               differences.missing);
    notes.push_back(std::move(text));
  }
  if (!differences.unexpected.empty()) {
    std::string text;
    AppendList(text, "unknown in the weights and left out",
               differences.unexpected);
    notes.push_back(std::move(text));
  }
  return notes;
}

}  // namespace

Result<CheckedWeights> CheckWeights(const MattingConfig& config,
                                    const NamedTensors& weights,
                                    bool allow_missing) {
  Index index;
  for (const NamedTensor& entry : weights)
    index.emplace(entry.name, &entry.tensor);
  const std::vector<Parameter> table = ParameterTable(config);
  const Differences differences = Compare(table, index);
  if (!differences.misshapen.empty() || (!allow_missing && !differences.none()))
    return std::unexpected(Explain(config, differences, index));

  CheckedWeights checked = {.weights = {}, .notes = Notes(differences)};
  checked.weights.reserve(table.size());
  for (const Parameter& parameter : table) {
    const auto found = index.find(parameter.name);
    PARITY_ASSIGN_OR_RETURN(Tensor tensor,
                            found == index.end()
                                ? Neutral(parameter)
                                : ConvertTo(*found->second, parameter.dtype));
    checked.weights.push_back(
        {.name = parameter.name, .tensor = std::move(tensor)});
  }
  return checked;
}

}  // namespace parity
