#include "backend/torch/onnx/operator_table.h"

namespace parity {

void AddSelectionOperators(OperatorTable& /*table*/) {}

}  // namespace parity
