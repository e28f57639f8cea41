#include "networks/synthetic_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "base/splitmix.h"
#include "base/status_macros.h"
#include "networks/matting_config.h"
#include "networks/matting_layers.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

std::string_view Leaf(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

// The value of an element is offset + factor·u, or for symmetric ones (2u −
// 1)·factor.
struct Rule {
  double offset = 0;
  double factor = 1;
  bool symmetric = false;
};

Rule RuleFor(const Parameter& parameter) {
  const std::string_view name = parameter.name;
  const std::string_view leaf = Leaf(name);
  if (leaf == "weight" && parameter.shape.size() == 4) {
    const auto fan_in = static_cast<double>(
        parameter.shape[1] * parameter.shape[2] * parameter.shape[3]);
    return {.factor = std::sqrt(6.0 / fan_in), .symmetric = true};
  }
  if (name.starts_with("backbone.") && name.ends_with("bn3.weight"))
    return {.offset = 0.2, .factor = 0.1};
  if (leaf == "weight" || leaf == "running_var")
    return {.offset = 0.75, .factor = 0.5};
  return {.factor = 0.1, .symmetric = true};
}

bool IsHeadWeight(std::string_view name) {
  return name == "decoder.conv4.weight" || name == "refiner.conv4.weight";
}

void Fill(const Parameter& parameter, std::uint64_t seed,
          std::span<float> values) {
  const SplitMixStream stream(parameter.name, seed);
  const Rule rule = RuleFor(parameter);
  const double gain = IsHeadWeight(parameter.name) ? 0.15 : 1.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double u = stream.Uniform(i);
    const double value = rule.symmetric ? (2 * u - 1) * rule.factor * gain
                                        : rule.offset + rule.factor * u;
    values[i] = static_cast<float>(value);
  }
  constexpr std::array<float, 5> kDecoderBias = {0.5F, 0, 0, 0, 0.4F};
  constexpr std::array<float, 4> kRefinerBias = {0.5F, 0, 0, 0};
  if (parameter.name == "decoder.conv4.bias")
    std::ranges::copy(kDecoderBias, values.begin());
  if (parameter.name == "refiner.conv4.bias")
    std::ranges::copy(kRefinerBias, values.begin());
}

}  // namespace

Result<NamedTensors> SyntheticWeights(const MattingConfig& config,
                                      std::uint64_t seed) {
  const std::vector<Parameter> table = ParameterTable(config);
  NamedTensors weights;
  weights.reserve(table.size());
  for (const Parameter& parameter : table) {
    PARITY_ASSIGN_OR_RETURN(Tensor tensor,
                            Tensor::Allocate(parameter.dtype, parameter.shape));
    if (parameter.dtype == DType::kInt64)
      tensor.MutableAs<std::int64_t>()[0] = 1;
    weights.push_back({.name = parameter.name, .tensor = std::move(tensor)});
  }
  // Every element depends on its name and index alone, so any division of the
  // work gives the same bits.
  const auto fill = [&](std::size_t start) {
    for (std::size_t i = start; i < table.size(); i += 2) {
      if (table[i].dtype == DType::kFloat32)
        Fill(table[i], seed, weights[i].tensor.MutableAs<float>());
    }
  };
  std::thread other(fill, 1);
  fill(0);
  other.join();
  return weights;
}

std::string WeightsDigest(const NamedTensors& weights) {
  std::vector<const NamedTensor*> sorted;
  sorted.reserve(weights.size());
  for (const NamedTensor& entry : weights) sorted.push_back(&entry);
  std::ranges::sort(sorted, {}, &NamedTensor::name);
  Sha256 sha;
  for (const NamedTensor* entry : sorted) {
    sha.Update(entry->name);
    sha.Update(" ");
    sha.Update(Name(entry->tensor.dtype()));
    sha.Update(" ");
    sha.Update(ToString(entry->tensor.shape()));
    sha.Update("\n");
    sha.Update(entry->tensor.bytes());
  }
  return sha.Finish();
}

}  // namespace parity
