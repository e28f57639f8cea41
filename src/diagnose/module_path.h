// Which module of the original network a node of an export belongs to, as far
// as its name says.
#ifndef PARITY_DIAGNOSE_MODULE_PATH_H_
#define PARITY_DIAGNOSE_MODULE_PATH_H_

#include <string>
#include <string_view>

namespace parity {

// "/layer1/layer1.0/conv1/Conv" and "/layer1/0/conv1/Conv_1" →
// "layer1.0.conv1": torch.onnx names a node after the modules around it and its
// operator, and repeats the name of a container in those of its numbered
// children. Empty for nodes of the network itself ("/Mul") and for names of
// another form. The names of a node's values give the same.
[[nodiscard]] std::string ModulePathOf(std::string_view node_name);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_MODULE_PATH_H_
