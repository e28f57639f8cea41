// One failing case under investigation: what is known of it, and comparisons
// that the rules share.
#ifndef PARITY_DIAGNOSE_INVESTIGATION_H_
#define PARITY_DIAGNOSE_INVESTIGATION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "diagnose/laboratory.h"
#include "diagnose/noise_model.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// A case as the validation saw it. `expected` and `actual` are paired: entry i
// of one belongs to entry i of the other, whatever their names.
struct Subject {
  std::string name;
  RunRequest request;
  NamedTensors expected;
  NamedTensors actual;  // named as the model's outputs
  std::vector<std::string> contract_failures;
  std::vector<std::string> changed_inputs;  // by the reference
};

// What the validation saw of a case, for rules that look at several.
struct CaseSummary {
  std::string name;
  std::vector<Shape> input_shapes;
  bool passed = false;
};

// How far two sets of outputs are apart.
struct Agreement {
  bool agrees = false;   // every output within its noise
  double max_error = 0;  // over the outputs that could be compared
};

class Investigation {
 public:
  Investigation(const Subject& subject, const Model& model, Laboratory& lab)
      : subject_(subject),
        model_(model),
        lab_(lab),
        budgets_(subject.actual.size()) {}

  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const Graph& graph() const { return model_.graph; }
  [[nodiscard]] Laboratory& lab() const { return lab_; }

  // Runs what is needed for the budgets, with traces. What could not be
  // computed is missing from the budgets and told by notes().
  void MeasureBudgets();

  // One for each pair of outputs. Before MeasureBudgets() all are unknown, and
  // outputs agree within the floor of the noise.
  [[nodiscard]] const std::vector<ErrorBudget>& budgets() const {
    return budgets_;
  }
  // Of all outputs, the largest first.
  [[nodiscard]] std::vector<Leg> GuiltyLegs() const;
  // Names of the outputs that are not known to be within noise, as the model
  // names them.
  [[nodiscard]] std::vector<std::string> WrongOutputs() const;
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  // Null when it could not be computed.
  [[nodiscard]] const RunResult* reference64() const {
    return reference64_ ? &*reference64_ : nullptr;
  }
  [[nodiscard]] const RunResult* graph64() const {
    return graph64_ ? &*graph64_ : nullptr;
  }
  [[nodiscard]] const std::optional<Error>& graph64_error() const {
    return graph64_error_;
  }

  // Outputs of the two conventions against each other, in the subject's pairs.
  // `expected` is in the order and with the names of the reference's outputs,
  // `actual` has the model's names.
  [[nodiscard]] Agreement Compare(const NamedTensors& expected,
                                  const NamedTensors& actual) const;
  // Both with the model's names.
  [[nodiscard]] Agreement CompareGraphs(const NamedTensors& expected,
                                        const NamedTensors& actual) const;
  // What the candidate should have given: the graph in float64 where known,
  // else the reference.
  [[nodiscard]] Agreement CompareWithTruth(const NamedTensors& actual) const;

  // Coarsest floating type the graph computes in, as a roundoff.
  [[nodiscard]] double working_roundoff() const { return roundoff_; }

  // A finding about this case with its wrong outputs.
  [[nodiscard]] Finding MakeFinding(Cause cause, Confidence confidence,
                                    std::string message) const;
  // Adds node, operator and module path of the node with that NodeLabel().
  // Empty: none, and nothing is added.
  void Locate(Finding& finding, const std::string& label) const;

 private:
  [[nodiscard]] Agreement CompareBy(const NamedTensors& expected,
                                    const NamedTensors& actual,
                                    bool by_model_names) const;
  [[nodiscard]] NoiseBounds NoiseAround(const Tensor& expected,
                                        std::size_t output) const;

  const Subject& subject_;
  const Model& model_;
  Laboratory& lab_;
  std::vector<ErrorBudget> budgets_;
  std::optional<RunResult> reference64_;
  std::optional<RunResult> graph64_;
  std::optional<Error> graph64_error_;
  std::vector<std::string> notes_;
  double roundoff_ = 0;
};

// Of the coarsest floating type among the graph's initializers, declared values
// and casts that more is computed with; 0 when there is none.
[[nodiscard]] double WorkingRoundoff(const Graph& graph);

// What identifies a node to the user: its name, or its first output's.
[[nodiscard]] std::string NodeLabel(const Node& node);
// Of the node that computed a traced value of the graph.
[[nodiscard]] std::string NodeLabel(const TracedValue& value);

// "2.38e-07"
[[nodiscard]] std::string Text(double number);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_INVESTIGATION_H_
