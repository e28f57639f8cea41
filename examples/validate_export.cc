// Validates an ONNX file against a TorchScript archive: validate_export
// MODEL.onnx MODEL.pt
#include <parity/validation.h>

#include <cstdio>
#include <print>
#include <string>

#include "parity/error.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::println(stderr, "usage: validate_export MODEL.onnx MODEL.pt");
    return 2;
  }
  parity::ValidationOptions options;
  options.model = argv[1];
  options.reference.torchscript = argv[2];
  const parity::Result<parity::ValidationResult> result =
      parity::Validate(options);
  if (!result) {
    std::println(stderr, "could not tell: {}", result.error().message);
    return 2;
  }
  for (const std::string& reason : result->Reasons())
    std::println("{}", reason);
  const bool passed = result->verdict() == parity::Verdict::kPassed;
  std::println("{}", passed ? "passed" : "did not pass");
  return passed ? 0 : 1;
}
