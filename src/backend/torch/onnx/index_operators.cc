#include "backend/torch/onnx/operator_table.h"

namespace parity {

void AddIndexOperators(OperatorTable& /*table*/) {}

}  // namespace parity
