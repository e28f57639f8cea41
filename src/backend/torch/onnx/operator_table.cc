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
    AddMatrixOperators(all);
    AddConvolutionOperators(all);
    AddPoolingOperators(all);
    AddResizeOperators(all);
    AddSamplingOperators(all);
    AddNormalizationOperators(all);
    AddRecurrentOperators(all);
    AddQuantizationOperators(all);
    AddLossOperators(all);
    AddSignalOperators(all);
    return all;
  }();
  return table;
}

}  // namespace parity
