// Correct models that faults are planted into, each with the reference it is
// an export of.
#ifndef PARITY_TESTS_MUTATION_MUTATION_SUBJECT_H_
#define PARITY_TESTS_MUTATION_MUTATION_SUBJECT_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "graph/model.h"
#include "parity/error.h"
#include "parity/validation.h"

namespace parity {

// The same function, written or run in another way.
struct BenignForm {
  std::string name;  // "opset 17", "reshape pair 1"
  std::function<Result<Model>()> make;
  std::string optimization = "all";
};

struct MutationSubject {
  std::string name;
  Model model;
  ReferenceOptions reference;
  std::vector<std::filesystem::path> inputs;  // of its cases
  std::vector<BenignForm> benign;
};

// "matting-sampling", …, then the folders of labelled cases.
[[nodiscard]] std::vector<std::string> SubjectNames();

// Files it needs are written to `folder`, which must outlive it. Errors:
// kNotFound for an unknown name.
[[nodiscard]] Result<MutationSubject> MakeSubject(
    const std::string& name, const std::filesystem::path& folder);

}  // namespace parity

#endif  // PARITY_TESTS_MUTATION_MUTATION_SUBJECT_H_
