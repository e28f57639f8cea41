// The smallest model found that shows what a finding says, with inputs and what
// it should give for them.
#ifndef PARITY_DIAGNOSE_CULPRIT_H_
#define PARITY_DIAGNOSE_CULPRIT_H_

#include <filesystem>
#include <string>
#include <vector>

#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct Culprit {
  // Nodes that were cut out, in order, without constants. Empty: the whole
  // model, since `why_whole`.
  std::vector<std::string> nodes;
  std::string why_whole;
  NamedTensors inputs;
  NamedTensors expected;
  bool expected_is_float64 = false;  // the ONNX graph in float64, rounded;
                                     // otherwise the reference's
  NamedTensors actual;  // what the candidate gave when it ran just this model
};

struct CulpritQuestion {
  const Finding& finding;
  const Subject& subject;  // its case
  const Model& model;
  Laboratory& lab;
};

// Writes the model to `path`. What the runtime does wrong is shown by the node
// that the finding names, alone where that shows it, else with nodes before it;
// everything else by the whole model. The candidate has run the written model,
// and its outputs are beyond noise. Errors: of writing; kUnsupported when the
// finding cannot be shown by a model with its inputs and outputs.
[[nodiscard]] Result<Culprit> WriteCulprit(const CulpritQuestion& question,
                                           const std::filesystem::path& path);

// How far the outputs of a replay are from what they should be.
struct ReplayError {
  double max_error = 0;  // over what could be subtracted
  bool broken = false;   // what no tolerance excuses: shape, dtype, NaN
  bool beyond_noise = false;
};
[[nodiscard]] ReplayError MeasureReplay(const NamedTensors& expected,
                                        const NamedTensors& actual,
                                        double roundoff);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_CULPRIT_H_
