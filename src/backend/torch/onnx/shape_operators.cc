#include "backend/torch/onnx/operator_table.h"

namespace parity {

void AddShapeOperators(OperatorTable& /*table*/) {}

}  // namespace parity
