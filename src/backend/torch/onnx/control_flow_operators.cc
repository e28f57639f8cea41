#include "backend/torch/onnx/operator_table.h"

namespace parity {

void AddControlFlowOperators(OperatorTable& /*table*/) {}

}  // namespace parity
