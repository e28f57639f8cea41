// What an ONNX file promises about its inputs and outputs, and whether a run
// kept it. Checked before any subtraction.
#ifndef PARITY_VALIDATE_CONTRACT_H_
#define PARITY_VALIDATE_CONTRACT_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.h"
#include "parity/tensor.h"

namespace parity {

struct Contract {
  std::vector<ValueInfo> inputs;  // what a caller must feed
  std::vector<ValueInfo> outputs;
  std::map<std::string, std::string> metadata;
  std::int64_t opset = 0;
};

[[nodiscard]] Contract ContractOf(const Model& model);

// "float32 batch x3x height x width": a declaration in words.
[[nodiscard]] std::string ToString(const ValueInfo& value);

// Sizes that named dimensions took in one run, and who gave them first.
class DimensionBindings {
 public:
  // Binds the named axes of `declared` to the sizes of `shape`. Returns one
  // line for each way in which `shape` breaks the declaration: rank, fixed
  // size, or a name that already has another size.
  [[nodiscard]] std::vector<std::string> Bind(const ValueInfo& declared,
                                              const Shape& shape);

 private:
  struct Binding {
    std::int64_t size;
    std::string value;  // the input or output that bound it
  };
  std::map<std::string, Binding> bindings_;
};

// Pairs of outputs to compare. Indices are into the lists of names.
struct OutputPairing {
  struct Pair {
    std::size_t expected;
    std::size_t actual;
  };
  std::vector<Pair> pairs;
  std::vector<std::string>
      failures;                    // missing and extra outputs, one line each
  std::vector<std::string> notes;  // e.g. that outputs were paired by position
};

// By name where the reference names its outputs. A reference without names of
// its own ("output_0", …), or with as many outputs of entirely other names, is
// paired by position.
[[nodiscard]] OutputPairing PairOutputs(
    const std::vector<std::string>& expected,
    const std::vector<std::string>& actual);

// Differences of dtype, rank and shape between the two sides, one line each.
// `expected_dtype` is what the candidate should have, normally the reference's
// own.
[[nodiscard]] std::vector<std::string> CompareSignatures(const Tensor& expected,
                                                         const Tensor& actual,
                                                         DType expected_dtype);

}  // namespace parity

#endif  // PARITY_VALIDATE_CONTRACT_H_
