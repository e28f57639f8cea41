#include "backend/torch/onnx/operator_table.h"

namespace parity {

void AddConstantOperators(OperatorTable& /*table*/) {}

}  // namespace parity
