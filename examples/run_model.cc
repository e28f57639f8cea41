// Runs an ONNX file on zeros and prints the shapes of its outputs: run_model
// MODEL.onnx INPUT=1x3x64x64 …
#include <parity/dtype.h>
#include <parity/error.h>
#include <parity/inference_session.h>
#include <parity/tensor.h>

#include <cstdio>
#include <expected>
#include <print>
#include <string>
#include <utility>

#include "parity/dtype.h"
#include "parity/error.h"

namespace {

parity::Result<parity::NamedTensor> Zeros(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) {
    return parity::Fail(parity::ErrorCode::kInvalidArgument,
                        "'" + argument + "' is not of the form INPUT=SHAPE");
  }
  parity::Result<parity::Shape> shape =
      parity::ParseShape(argument.substr(equals + 1));
  if (!shape) return std::unexpected(std::move(shape).error());
  parity::Result<parity::Tensor> tensor =
      parity::Tensor::Allocate(parity::DType::kFloat32, *shape);
  if (!tensor) return std::unexpected(std::move(tensor).error());
  return parity::NamedTensor{.name = argument.substr(0, equals),
                             .tensor = *tensor};
}

parity::Status Run(int argc, char** argv) {
  parity::Result<parity::InferenceSession> session =
      parity::InferenceSession::Open(argv[1]);
  if (!session) return std::unexpected(std::move(session).error());
  parity::NamedTensors inputs;
  for (int i = 2; i < argc; ++i) {
    parity::Result<parity::NamedTensor> input = Zeros(argv[i]);
    if (!input) return std::unexpected(std::move(input).error());
    inputs.push_back(*std::move(input));
  }
  // No names: every output.
  const parity::Result<parity::NamedTensors> outputs = session->Run({}, inputs);
  if (!outputs) return std::unexpected(outputs.error());
  for (const parity::NamedTensor& output : *outputs) {
    std::println("{}: {} {}", output.name, parity::Name(output.tensor.dtype()),
                 parity::ToString(output.tensor.shape()));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::println(stderr, "usage: run_model MODEL.onnx INPUT=SHAPE …");
    return 2;
  }
  if (const parity::Status status = Run(argc, argv); !status) {
    std::println(stderr, "run_model: {}", status.error().message);
    return 2;
  }
  return 0;
}
