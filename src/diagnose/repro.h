// A finding as something that can be handed on: its culprit as a standalone
// ONNX model with inputs and expected outputs in the ONNX project's layout, and
// a page that says what it is and how to see it fail.
//
//   model.onnx
//   test_data_set_0/input_0.pb … output_0.pb …
//   README.md
#ifndef PARITY_DIAGNOSE_REPRO_H_
#define PARITY_DIAGNOSE_REPRO_H_

#include <string>

#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/repro_folder.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/validation.h"

namespace parity {

struct ReproQuestion {
  const ValidationOptions& options;
  const ValidationResult& result;  // complete
  const Finding& finding;
  const Subject& subject;  // its case
  const Model& model;
  Laboratory& lab;
};

// Fills the folder and puts it in place. Gives what was written, in words: "the
// node /Resize". Errors: kUnsupported with why there is nothing to write; those
// of writing. The folder is not in place then.
[[nodiscard]] Result<std::string> WriteRepro(const ReproQuestion& question,
                                             ReproFolder& folder);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_REPRO_H_
