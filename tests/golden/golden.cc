#include "golden.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <format>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/half.h"
#include "base/status_macros.h"
#include "formats/safetensors/safetensors_reader.h"
#include "networks/matting_config.h"
#include "networks/synthetic_weights.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

std::string Lookup(const std::map<std::string, std::string>& metadata,
                   const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string() : found->second;
}

// Applies "decoder.conv4.weight[4]*=8": multiplies one output channel.
Status ChangeWeights(const std::string& change, NamedTensors& weights) {
  const std::size_t bracket = change.find('[');
  const std::size_t close = change.find("]*=");
  for (NamedTensor& entry : weights) {
    if (close == std::string::npos || entry.name != change.substr(0, bracket))
      continue;
    const std::size_t channel =
        std::stoul(change.substr(bracket + 1, close - bracket - 1));
    const float factor = std::stof(change.substr(close + 3));
    const auto size = static_cast<std::size_t>(entry.tensor.element_count() /
                                               entry.tensor.shape()[0]);
    for (float& value :
         entry.tensor.MutableAs<float>().subspan(channel * size, size))
      value *= factor;
    return {};
  }
  return Fail(ErrorCode::kCorrupt, std::format("no weight for '{}'", change));
}

double ValueAt(const Tensor& tensor, std::size_t i) {
  switch (tensor.dtype()) {
    case DType::kFloat16:
      return FloatFromHalf(tensor.As<std::uint16_t>()[i]);
    case DType::kFloat64:
      return tensor.As<double>()[i];
    default:
      return tensor.As<float>()[i];
  }
}

}  // namespace

std::vector<std::string> GoldenNames() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(PARITY_TEST_DATA "/goldens"))
    names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

Result<Golden> LoadGolden(const std::string& name) {
  PARITY_ASSIGN_OR_RETURN(SafetensorsFile file,
                          ReadSafetensorsFile(PARITY_TEST_DATA "/goldens/" +
                                              name + ".safetensors"));
  Golden golden;
  PARITY_ASSIGN_OR_RETURN(golden.config, ConfigFromAttributes(file.metadata));
  // A configuration that was not understood would be the default one.
  if (!name.starts_with(std::format("{}-{}-", Name(golden.config.type),
                                    Name(golden.config.backbone)))) {
    return Fail(ErrorCode::kCorrupt,
                std::format("{}: the metadata are of another model", name));
  }
  PARITY_ASSIGN_OR_RETURN(
      golden.weights,
      SyntheticWeights(golden.config,
                       std::stoull(Lookup(file.metadata, "seed"))));
  const std::string change = Lookup(file.metadata, "weights");
  if (change != "synthetic")
    PARITY_RETURN_IF_ERROR(ChangeWeights(change, golden.weights));
  for (NamedTensor& entry : file.tensors) {
    const bool is_input = entry.name == "src" || entry.name == "bgr";
    (is_input ? golden.inputs : golden.outputs).push_back(std::move(entry));
  }
  return golden;
}

std::string TestName(std::string name) {
  std::ranges::replace_if(
      name,
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
      '_');
  return name;
}

double MaxDifference(const Tensor& expected, const Tensor& actual) {
  double largest = 0;
  const auto count = static_cast<std::size_t>(expected.element_count());
  for (std::size_t i = 0; i < count; ++i) {
    const double difference =
        std::abs(ValueAt(actual, i) - ValueAt(expected, i));
    // A NaN must not pass.
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

double MaxMagnitude(const Tensor& tensor) {
  double largest = 0;
  for (const float value : tensor.As<float>())
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

}  // namespace parity
