// A reference that was run before: recorded inputs with their recorded outputs.
#ifndef PARITY_VALIDATE_RECORDED_BACKEND_H_
#define PARITY_VALIDATE_RECORDED_BACKEND_H_

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/contract.h"

namespace parity {

struct Recording {
  std::string name;  // of the case
  NamedTensors inputs;
  NamedTensors outputs;
};

// Reads a .safetensors or .npz file whose tensors are named as the model's
// inputs and outputs, a test_data_set folder, or a folder of several
// test_data_set folders. Errors: those of reading; kIncompatible when an input
// of the model is not recorded.
[[nodiscard]] Result<std::vector<Recording>> ReadRecordings(
    const std::filesystem::path& path, const Contract& contract);

// The model's inputs, in its order, from a .safetensors or .npz file or a
// test_data_set folder; other tensors are left out. Errors: those of reading;
// kNotFound when an input is not there.
[[nodiscard]] Result<NamedTensors> ReadInputs(const std::filesystem::path& path,
                                              const Contract& contract);

// Answers a run with the outputs recorded for exactly these inputs. Errors:
// kNotFound for other inputs.
class RecordedBackend : public Backend {
 public:
  explicit RecordedBackend(std::vector<Recording> recordings)
      : recordings_(std::move(recordings)) {}
  [[nodiscard]] std::string name() const override { return "reference"; }
  [[nodiscard]] Result<LoadResult> Load(const LoadRequest& request) override;
  [[nodiscard]] Result<RunResult> Run(const RunRequest& request) override;

 private:
  std::vector<Recording> recordings_;
};

}  // namespace parity

#endif  // PARITY_VALIDATE_RECORDED_BACKEND_H_
