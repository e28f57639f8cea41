#include "backend/torch/onnx/recurrent_activations.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <format>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {
namespace {

struct Definition {
  at::Tensor (*function)(const at::Tensor& x, double alpha, double beta);
  std::optional<double> alpha = {};  // defaults; nothing: has no such parameter
  std::optional<double> beta = {};
};

// exp overflows for large arguments, for which the function is the identity.
at::Tensor Softplus(const at::Tensor& x) {
  return x.clamp_min(0) + x.abs().neg().exp().log1p();
}

// By name in lower case: exporters disagree about capitals.
const std::map<std::string, Definition>& Definitions() {
  static const std::map<std::string, Definition> definitions = {
      {"relu", {[](const at::Tensor& x, double, double) { return x.relu(); }}},
      {"tanh", {[](const at::Tensor& x, double, double) { return x.tanh(); }}},
      {"sigmoid",
       {[](const at::Tensor& x, double, double) { return x.sigmoid(); }}},
      {"softsign",
       {[](const at::Tensor& x, double, double) { return x / (x.abs() + 1); }}},
      {"softplus",
       {[](const at::Tensor& x, double, double) { return Softplus(x); }}},
      {"affine",
       {[](const at::Tensor& x, double a, double b) { return x * a + b; }, 1,
        0}},
      {"leakyrelu",
       {[](const at::Tensor& x, double a, double) {
          return at::where(x >= 0, x, x * a);
        },
        0.01F}},
      {"thresholdedrelu",
       {[](const at::Tensor& x, double a, double) {
          return x.masked_fill(x <= a, 0);
        },
        1}},
      {"scaledtanh",
       {[](const at::Tensor& x, double a, double b) {
          return (x * b).tanh() * a;
        },
        1, 1}},
      {"hardsigmoid",
       {[](const at::Tensor& x, double a, double b) {
          return (x * a + b).clamp(0, 1);
        },
        0.2F, 0.5}},
      {"elu",
       {[](const at::Tensor& x, double a, double) {
          return at::where(x >= 0, x, x.expm1() * a);
        },
        1}},
  };
  return definitions;
}

Definition Find(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  const auto found = Definitions().find(name);
  if (found == Definitions().end())
    throw OperatorError(std::format("unknown activation {}", name));
  return found->second;
}

double Take(const std::vector<double>& values, std::size_t& next,
            std::optional<double> otherwise) {
  if (!otherwise) return 0;
  return next < values.size() ? values[next++] : *otherwise;
}

}  // namespace

std::vector<Activation> ReadActivations(
    const OperatorContext& context, const std::vector<std::string>& defaults,
    std::size_t directions) {
  std::vector<std::string> names = context.Strings("activations");
  if (names.empty())
    for (std::size_t i = 0; i < directions; ++i)
      names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != directions * defaults.size())
    throw OperatorError(std::format("{} activations are named, not {}",
                                    names.size(),
                                    directions * defaults.size()));
  const std::vector<double> alphas = context.Floats("activation_alpha");
  const std::vector<double> betas = context.Floats("activation_beta");
  const bool clips = context.HasAttribute("clip");
  const double clip = context.Float("clip", 0);
  std::size_t next_alpha = 0;
  std::size_t next_beta = 0;
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    const Definition definition = Find(name);
    const double alpha = Take(alphas, next_alpha, definition.alpha);
    const double beta = Take(betas, next_beta, definition.beta);
    activations.emplace_back(
        [=, function = definition.function](const at::Tensor& x) {
          return function(clips ? x.clamp(-clip, clip) : x, alpha, beta);
        });
  }
  return activations;
}

}  // namespace parity
