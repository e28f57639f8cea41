#include "validate/case_inputs.h"

#include <format>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "formats/image/image_reader.h"
#include "generate/generator.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"
#include "validate/case_plan.h"
#include "validate/contract.h"
#include "validate/recorded_backend.h"

namespace parity {
namespace {

InputDescription Describe(const NamedTensor& entry, std::string origin) {
  return {.name = entry.name,
          .dtype = std::string(Name(entry.tensor.dtype())),
          .shape = entry.tensor.shape(),
          .origin = std::move(origin)};
}

std::string OriginOf(const PlannedCase& planned, const PlannedInput& input) {
  if (!input.image.empty()) return input.image.filename().string();
  if (input.generator == "constant")
    return std::format("constant {:g}", input.value);
  return std::format("{}, seed {}", input.generator, planned.seed);
}

Result<Tensor> ReadPicture(const PlannedInput& input) {
  PARITY_ASSIGN_OR_RETURN(Tensor picture, ReadImage(input.image));
  if (input.dtype != DType::kFloat32) {
    return Fail(
        ErrorCode::kUnsupported,
        std::format(
            "--image {}: the input is {}, pictures are given as float32",
            input.name, Name(input.dtype)));
  }
  return picture;
}

Result<InputSpec> SpecOf(const PlannedInput& input) {
  const std::optional<GeneratorKind> kind = GeneratorFromName(input.generator);
  if (!kind) {
    return Fail(
        ErrorCode::kInvalidArgument,
        std::format("--generator {}: there is no such generator; there are {}",
                    input.generator, GeneratorNames()));
  }
  return InputSpec{.name = input.name,
                   .dtype = input.dtype,
                   .shape = input.shape,
                   .generator = *kind,
                   .value = input.value};
}

}  // namespace

std::vector<InputDescription> DescribeInputs(const NamedTensors& tensors,
                                             const std::string& origin) {
  std::vector<InputDescription> descriptions;
  for (const NamedTensor& entry : tensors)
    descriptions.push_back(Describe(entry, origin));
  return descriptions;
}

Result<CaseInputs> MakeCaseInputs(const PlannedCase& planned,
                                  const Contract& contract) {
  CaseInputs inputs;
  if (!planned.inputs_file.empty()) {
    PARITY_ASSIGN_OR_RETURN(inputs.tensors,
                            ReadInputs(planned.inputs_file, contract));
    inputs.descriptions =
        DescribeInputs(inputs.tensors, planned.inputs_file.filename().string());
    return inputs;
  }
  std::vector<InputSpec> specs;
  for (const PlannedInput& input : planned.inputs) {
    if (!input.image.empty()) continue;
    PARITY_ASSIGN_OR_RETURN(InputSpec spec, SpecOf(input));
    specs.push_back(std::move(spec));
  }
  // All at once: a scene's background is the same in the inputs that show it.
  PARITY_ASSIGN_OR_RETURN(const NamedTensors generated,
                          GenerateInputs(specs, planned.seed));
  for (const PlannedInput& input : planned.inputs) {
    NamedTensor entry{.name = input.name, .tensor = {}};
    if (input.image.empty()) {
      entry.tensor = *FindTensor(generated, input.name);
    } else {
      PARITY_ASSIGN_OR_RETURN(entry.tensor, ReadPicture(input));
    }
    inputs.descriptions.push_back(Describe(entry, OriginOf(planned, input)));
    inputs.tensors.push_back(std::move(entry));
  }
  return inputs;
}

}  // namespace parity
