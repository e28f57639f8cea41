// Which operators of PyTorch do the work of an ONNX operator.
#ifndef PARITY_DIAGNOSE_OPERATOR_KINDS_H_
#define PARITY_DIAGNOSE_OPERATOR_KINDS_H_

#include <string_view>

namespace parity {

// Whether an exporter may write `torch_op` ("aten::relu_", "aten::mm",
// "aten::native_batch_norm.out") as one ONNX node of type `onnx_op` ("Relu",
// "MatMul", "BatchNormalization"). A Conv also stands for a batch
// normalisation: one that was folded into it.
[[nodiscard]] bool IsCounterpart(std::string_view onnx_op,
                                 std::string_view torch_op);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_OPERATOR_KINDS_H_
