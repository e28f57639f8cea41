#include "graph/model.h"

#include <cstdint>
#include <format>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/printable.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

const AttributeValue* Node::FindAttribute(std::string_view attribute) const {
  for (const Attribute& candidate : attributes) {
    if (candidate.name == attribute) return &candidate.value;
  }
  return nullptr;
}

Result<Tensor> Initializer::Values() const {
  if (!encoded.has_value()) return tensor;
  return Fail(ErrorCode::kUnsupported,
              Printable(std::format(
                  "initializer '{}' ({} of shape {}) has no values: {}", name,
                  encoded->dtype, ToString(encoded->shape), encoded->reason)));
}

std::vector<ValueInfo> Graph::RequiredInputs() const {
  std::unordered_set<std::string_view> constants;
  for (const Initializer& initializer : initializers)
    constants.insert(initializer.name);
  std::vector<ValueInfo> required;
  for (const ValueInfo& input : inputs) {
    if (!constants.contains(input.name)) required.push_back(input);
  }
  return required;
}

std::int64_t Model::opset_version() const {
  for (const OpsetImport& import : opset_imports) {
    if (import.domain.empty() || import.domain == "ai.onnx")
      return import.version;
  }
  return 0;
}

}  // namespace parity
