#include "parity/inference_session.h"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/runtime_worker.h"
#include "worker/worker_client.h"

namespace parity {

struct InferenceSession::State {
  std::unique_ptr<WorkerClient> worker;
  LoadResult loaded;
};

Result<InferenceSession> InferenceSession::Open(
    const std::filesystem::path& model, const SessionOptions& options) {
  auto state = std::make_unique<State>();
  PARITY_ASSIGN_OR_RETURN(state->worker, MakeWorker("session", kRuntimeWorker,
                                                    options.limits, nullptr));
  PARITY_ASSIGN_OR_RETURN(state->loaded, state->worker->Load(RuntimeRequest(
                                             model, options.runtime)));
  return InferenceSession(std::move(state));
}

InferenceSession::InferenceSession(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
InferenceSession::InferenceSession(InferenceSession&&) noexcept = default;
InferenceSession& InferenceSession::operator=(InferenceSession&&) noexcept =
    default;
InferenceSession::~InferenceSession() = default;

const std::vector<std::string>& InferenceSession::input_names() const {
  return state_->loaded.input_names;
}
const std::vector<std::string>& InferenceSession::output_names() const {
  return state_->loaded.output_names;
}
const std::string& InferenceSession::runtime_version() const {
  return state_->loaded.version;
}

Result<NamedTensors> InferenceSession::Run(
    const std::vector<std::string>& output_names, const NamedTensors& inputs) {
  PARITY_ASSIGN_OR_RETURN(
      RunResult result,
      state_->worker->Run({.inputs = inputs, .output_names = output_names}));
  return std::move(result.outputs);
}

}  // namespace parity
