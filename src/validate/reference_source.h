// Decides from the options and the ONNX file's metadata what the reference is,
// and reads what it needs.
#ifndef PARITY_VALIDATE_REFERENCE_SOURCE_H_
#define PARITY_VALIDATE_REFERENCE_SOURCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "networks/matting_config.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "validate/contract.h"
#include "validate/recorded_backend.h"

namespace parity {

enum class ReferenceKind : std::uint8_t { kNetwork, kTorchScript, kRecorded };

// Cheap decisions, made before anything is read.
struct ReferencePlan {
  ReferenceKind kind = ReferenceKind::kNetwork;
  std::optional<MattingConfig> network;  // kNetwork
  std::uint64_t synthetic_seed = 0;      // kNetwork without a checkpoint
  std::optional<DType>
      floating_dtype;  // what the candidate's floating outputs should be;
                       // nothing: as the reference's
};

// Errors: kInvalidArgument when no reference is named and the metadata names
// none, or it contradicts the flags.
[[nodiscard]] Result<ReferencePlan> PlanReference(
    const ReferenceOptions& options, const Contract& contract);

// The functions below are for kNetwork and kTorchScript.

// "BackgroundMattingV2 mattingrefine mobilenetv2, sampling, SYNTHETIC weights
// (seed 0)", "model.pt".
[[nodiscard]] std::string DescribeReference(const ReferencePlan& plan,
                                            const ReferenceOptions& options);

// What a worker is asked to load, but for the weights.
[[nodiscard]] LoadRequest RequestWithoutWeights(
    const ReferencePlan& plan, const ValidationOptions& options);

struct ReferenceSource {
  LoadRequest request;
  std::string weights_sha256;      // of the built-in network
  std::vector<std::string> notes;  // of reading the weights
};

// Reads or generates the weights. Errors: those of reading the checkpoint.
[[nodiscard]] Result<ReferenceSource> PrepareReference(
    const ReferencePlan& plan, const ValidationOptions& options);

// Where the ONNX file says otherwise of what it was exported from.
[[nodiscard]] std::vector<std::string> ContradictionNotes(
    const ReferencePlan& plan, const Contract& contract,
    const std::string& weights_sha256);

}  // namespace parity

#endif  // PARITY_VALIDATE_REFERENCE_SOURCE_H_
