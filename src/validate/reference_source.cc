#include "validate/reference_source.h"

#include <charconv>
#include <cstdint>
#include <format>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "networks/matting_config.h"
#include "networks/synthetic_weights.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "validate/contract.h"
#include "validate/network_weights.h"

namespace parity {
namespace {

constexpr std::string_view kSyntheticPrefix = "synthetic seed ";

std::string MetadataValue(const Contract& contract, const std::string& key) {
  const auto found = contract.metadata.find(key);
  return found == contract.metadata.end() ? std::string() : found->second;
}

// The seed of the synthetic weights an export was made from, if it was.
std::optional<std::uint64_t> SyntheticSeedOf(const Contract& contract) {
  const std::string source = MetadataValue(contract, "weights");
  if (!source.starts_with(kSyntheticPrefix)) return std::nullopt;
  std::uint64_t seed = 0;
  const char* const begin = source.data() + kSyntheticPrefix.size();
  const auto [end, error] =
      std::from_chars(begin, source.data() + source.size(), seed);
  if (error != std::errc() || end != source.data() + source.size())
    return std::nullopt;
  return seed;
}

// The metadata's configuration with the flags' on top. Only an export of this
// tool carries one.
Result<MattingConfig> NetworkConfig(const ReferenceOptions& options,
                                    const Contract& contract) {
  std::map<std::string, std::string> attributes;
  if (MetadataValue(contract, "network") == "BackgroundMattingV2")
    attributes = contract.metadata;
  for (const auto& [key, text] : options.network_config) attributes[key] = text;
  return ConfigFromAttributes(attributes);
}

std::string Describe(const MattingConfig& config, std::string_view source) {
  std::string text = std::format("BackgroundMattingV2 {} {}", Name(config.type),
                                 Name(config.backbone));
  if (config.type == MattingType::kRefine)
    text += std::format(", {}", Name(config.refine_mode));
  const bool synthetic = source.starts_with(kSyntheticPrefix);
  return std::format(
      "{}, {}", text,
      synthetic ? std::format("SYNTHETIC weights ({})", source.substr(10))
                : std::string(source));
}

}  // namespace

Result<ReferencePlan> PlanReference(const ReferenceOptions& options,
                                    const Contract& contract) {
  ReferencePlan plan;
  const bool is_network =
      options.recorded.empty() && options.torchscript.empty();
  if (!is_network && !options.network_config.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "--model-… flags configure the built-in network; they have no "
                "meaning with --torchscript or --recorded");
  }
  if (!options.recorded.empty()) {
    plan.kind = ReferenceKind::kRecorded;
    return plan;
  }
  if (!options.torchscript.empty()) {
    plan.kind = ReferenceKind::kTorchScript;
    return plan;
  }
  const std::optional<std::uint64_t> exported_seed = SyntheticSeedOf(contract);
  if (options.checkpoint.empty() && !options.synthetic_seed && !exported_seed) {
    return Fail(ErrorCode::kInvalidArgument,
                "no reference: give --checkpoint FILE (a state_dict of "
                "BackgroundMattingV2), --torchscript FILE, or --recorded FILE");
  }
  plan.synthetic_seed = options.synthetic_seed ? *options.synthetic_seed
                                               : exported_seed.value_or(0);
  PARITY_ASSIGN_OR_RETURN(plan.network, NetworkConfig(options, contract));
  if (MetadataValue(contract, "precision") == "float16")
    plan.floating_dtype = DType::kFloat16;
  return plan;
}

std::string DescribeReference(const ReferencePlan& plan,
                              const ReferenceOptions& options) {
  if (plan.kind == ReferenceKind::kTorchScript)
    return options.torchscript.filename().string();
  return Describe(*plan.network, options.checkpoint.empty()
                                     ? std::format("{}{}", kSyntheticPrefix,
                                                   plan.synthetic_seed)
                                     : options.checkpoint.filename().string());
}

LoadRequest RequestWithoutWeights(const ReferencePlan& plan,
                                  const ValidationOptions& options) {
  LoadRequest request;
  request.threads = options.runtime.threads;
  request.reference_kernels = options.reference.kernels;
  if (plan.kind == ReferenceKind::kTorchScript) {
    request.kind = ModelKind::kTorchScript;
    request.path = options.reference.torchscript.string();
    request.attributes = options.reference.attributes;
    request.output_names = options.reference.output_names;
    return request;
  }
  request.kind = ModelKind::kNetwork;
  request.attributes = ToAttributes(*plan.network);
  request.precision = "float32";
  return request;
}

Result<ReferenceSource> PrepareReference(const ReferencePlan& plan,
                                         const ValidationOptions& options) {
  ReferenceSource source;
  source.request = RequestWithoutWeights(plan, options);
  if (plan.kind == ReferenceKind::kTorchScript) return source;
  PARITY_ASSIGN_OR_RETURN(
      NetworkWeights weights,
      LoadNetworkWeights(
          {.config = *plan.network,
           .checkpoint = options.reference.checkpoint,
           .synthetic_seed = plan.synthetic_seed,
           .allow_missing_keys = options.reference.allow_missing_keys}));
  source.weights_sha256 = WeightsDigest(weights.tensors);
  source.notes = std::move(weights.notes);
  source.request.weights = std::move(weights.tensors);
  return source;
}

std::vector<std::string> ContradictionNotes(const ReferencePlan& plan,
                                            const Contract& contract,
                                            const std::string& weights_sha256) {
  std::vector<std::string> notes;
  if (!plan.network) return notes;
  for (const auto& [key, text] : ToAttributes(*plan.network)) {
    const std::string exported = MetadataValue(contract, key);
    if (exported.empty() || exported == text) continue;
    notes.push_back(
        std::format("the reference has {} {}; the ONNX file says that it was "
                    "exported with {}",
                    key, text, exported));
  }
  const std::string exported = MetadataValue(contract, "weights_sha256");
  if (!exported.empty() && exported != weights_sha256) {
    notes.push_back(
        std::format("the ONNX file says that it was exported from other "
                    "weights than these ({})",
                    MetadataValue(contract, "weights")));
  }
  return notes;
}

}  // namespace parity
