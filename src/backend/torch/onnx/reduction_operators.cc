#include "backend/torch/onnx/operator_table.h"

namespace parity {

void AddReductionOperators(OperatorTable& /*table*/) {}

}  // namespace parity
