#include "backend/torch/onnx/operator_table.h"

namespace parity {

void AddLogicOperators(OperatorTable& /*table*/) {}

}  // namespace parity
