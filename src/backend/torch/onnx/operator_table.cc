#include "backend/torch/onnx/operator_table.h"

namespace parity {

const OperatorTable& Operators() {
  static const OperatorTable table = [] {
    OperatorTable all;
    AddElementwiseOperators(all);
    AddActivationOperators(all);
    AddLogicOperators(all);
    AddReductionOperators(all);
    AddShapeOperators(all);
    AddPaddingOperators(all);
    AddIndexOperators(all);
    AddSelectionOperators(all);
    AddConstantOperators(all);
    AddControlFlowOperators(all);
    // Matrices, layers of networks and signals.
    return all;
  }();
  return table;
}

}  // namespace parity
