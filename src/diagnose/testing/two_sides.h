// A network's two sides with numbers small enough to compute in a test.
#ifndef PARITY_DIAGNOSE_TESTING_TWO_SIDES_H_
#define PARITY_DIAGNOSE_TESTING_TWO_SIDES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "diagnose/value_alignment.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {

using Numbers = std::vector<double>;

// In [-1, 1).
[[nodiscard]] Numbers Random(std::size_t count, std::uint64_t seed);
[[nodiscard]] Numbers Map(Numbers numbers,
                          const std::function<double(double)>& function);
[[nodiscard]] Numbers Zip(
    Numbers a, const Numbers& b,
    const std::function<double(double, double)>& function);
// Stands for a convolution: every element depends on all others.
[[nodiscard]] Numbers Mix(const Numbers& numbers, std::uint64_t weights);
[[nodiscard]] Numbers Relu(const Numbers& numbers);
[[nodiscard]] Numbers Scaled(const Numbers& numbers, double by);
[[nodiscard]] Numbers Plus(const Numbers& a, const Numbers& b);
[[nodiscard]] Numbers Times(const Numbers& a, const Numbers& b);
[[nodiscard]] Numbers Joined(const Numbers& a, const Numbers& b);
// Rows become columns.
[[nodiscard]] Numbers Transposed(const Numbers& numbers, std::size_t columns);

// Both sides, built step by step. The input is "x".
class TwoSides {
 public:
  TwoSides();

  void AddInput(const std::string& name, const Numbers& numbers);
  // A node with one output, named "/" and the output's name.
  void Node(const std::string& op, std::vector<std::string> inputs,
            const std::string& output, const Numbers& numbers,
            Shape shape = {});
  void NamedNode(const std::string& name, const std::string& op,
                 std::vector<std::string> inputs, const std::string& output,
                 const Numbers& numbers, Shape shape = {});
  // Of the last node's value; float64 unless said.
  void SetType(DType dtype) { candidate_.back().dtype = dtype; }
  void UntracedNode(const std::string& name, const std::string& op,
                    std::vector<std::string> inputs,
                    std::vector<std::string> outputs);
  void Constant(const std::string& name);
  void Reference(const std::string& op, const std::string& module,
                 const Numbers& numbers, Shape shape = {});
  // The same operator and value on both sides.
  void Both(const std::string& op, std::vector<std::string> inputs,
            const std::string& output, const std::string& torch_op,
            const Numbers& numbers);

  [[nodiscard]] std::optional<Divergence> Find(
      const std::vector<std::string>& outputs) const;

  const Numbers x = Random(24, 1);
  Graph graph;

 private:
  std::vector<TracedValue> inputs_;
  std::vector<TracedValue> reference_;
  std::vector<TracedValue> candidate_;
};

}  // namespace parity

#endif  // PARITY_DIAGNOSE_TESTING_TWO_SIDES_H_
