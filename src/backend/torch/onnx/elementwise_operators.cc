#include "backend/torch/onnx/operator_table.h"

namespace parity {

void AddElementwiseOperators(OperatorTable& /*table*/) {}

}  // namespace parity
