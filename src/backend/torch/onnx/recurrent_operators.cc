// RNN, LSTM, GRU.
//
// A direction walks over the sequence and keeps a state for each sample. A
// sample whose sequence has ended keeps its state, and its output is zero; so
// the reverse direction, which starts at the end of the longest sequence, works
// on a shorter one from its own last element on.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cstddef>
#include <cstdint>
#include <format>
#include <span>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"
#include "backend/torch/onnx/recurrent_activations.h"

namespace parity {
namespace {

// What one direction computes with.
struct Direction {
  at::Tensor recurrence;       // [gates·hidden, hidden]
  at::Tensor input_bias;       // [gates·hidden]
  at::Tensor recurrence_bias;  // [gates·hidden]
  at::Tensor peepholes;        // [3·hidden] or undefined
  std::span<const Activation> activations;
};

struct State {
  at::Tensor hidden;     // [batch, hidden]
  at::Tensor cell = {};  // of LSTM only
};

// The state after one element, of which `input` is W·x for all gates: [batch,
// gates·hidden].
using Step = State (*)(const OperatorContext& context, const Direction& of,
                       const at::Tensor& input, const State& before);

at::Tensor Gate(const at::Tensor& all, std::int64_t number,
                std::int64_t hidden) {
  return all.narrow(-1, number * hidden, hidden);
}

State RnnStep(const OperatorContext& /*context*/, const Direction& of,
              const at::Tensor& input, const State& before) {
  return {.hidden = of.activations[0](
              input + at::matmul(before.hidden, of.recurrence.t()) +
              of.input_bias + of.recurrence_bias)};
}

// Gates in the order input, output, forget, cell; peepholes input, output,
// forget.
State LstmStep(const OperatorContext& context, const Direction& of,
               const at::Tensor& input, const State& before) {
  const std::int64_t hidden = before.hidden.size(1);
  const at::Tensor all = input + at::matmul(before.hidden, of.recurrence.t()) +
                         of.input_bias + of.recurrence_bias;
  const auto gate = [&](std::int64_t number, const at::Tensor& cell) {
    const at::Tensor sum = Gate(all, number, hidden);
    return of.peepholes.defined()
               ? sum + Gate(of.peepholes, number, hidden) * cell
               : sum;
  };
  const at::Tensor in = of.activations[0](gate(0, before.cell));
  const at::Tensor forget = context.Integer("input_forget", 0) != 0
                                ? 1 - in
                                : of.activations[0](gate(2, before.cell));
  const at::Tensor candidate = of.activations[1](Gate(all, 3, hidden));
  const at::Tensor cell = forget * before.cell + in * candidate;
  const at::Tensor out = of.activations[0](gate(1, cell));
  return {.hidden = out * of.activations[2](cell), .cell = cell};
}

// Gates in the order update, reset, hidden.
State GruStep(const OperatorContext& context, const Direction& of,
              const at::Tensor& input, const State& before) {
  const std::int64_t hidden = before.hidden.size(1);
  const at::Tensor biased = input + of.input_bias;
  const auto recurrence = [&](std::int64_t number, const at::Tensor& state) {
    return at::matmul(state,
                      of.recurrence.narrow(0, number * hidden, hidden).t());
  };
  const auto bias = [&](std::int64_t number) {
    return Gate(of.recurrence_bias, number, hidden);
  };
  const at::Tensor update = of.activations[0](
      Gate(biased, 0, hidden) + recurrence(0, before.hidden) + bias(0));
  const at::Tensor reset = of.activations[0](
      Gate(biased, 1, hidden) + recurrence(1, before.hidden) + bias(1));
  const at::Tensor past = context.Integer("linear_before_reset", 0) != 0
                              ? reset * (recurrence(2, before.hidden) + bias(2))
                              : recurrence(2, reset * before.hidden) + bias(2);
  const at::Tensor candidate =
      of.activations[1](Gate(biased, 2, hidden) + past);
  return {.hidden = (1 - update) * candidate + update * before.hidden};
}

struct Walk {
  std::vector<at::Tensor> outputs;  // by place in the sequence: [batch, hidden]
  State last;
};

// `inputs` is W·x for the whole sequence: [length, batch, gates·hidden].
Walk WalkSequence(const OperatorContext& context, Step step,
                  const Direction& of, const at::Tensor& inputs,
                  const at::Tensor& lengths, State state, bool reverse) {
  const std::int64_t length = inputs.size(0);
  Walk walk;
  walk.outputs.resize(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t place = reverse ? length - 1 - i : i;
    State next = step(context, of, inputs[place], state);
    at::Tensor output = next.hidden;
    if (lengths.defined()) {
      const at::Tensor going = (lengths > place).unsqueeze(1);
      output = output.masked_fill(going.logical_not(), 0);
      next.hidden = at::where(going, next.hidden, state.hidden);
      if (next.cell.defined())
        next.cell = at::where(going, next.cell, state.cell);
    }
    walk.outputs[static_cast<std::size_t>(place)] = output;
    state = next;
  }
  walk.last = state;
  return walk;
}

struct Cell {
  Step step;
  bool has_cell_state;
  std::vector<std::string> activations;
};

// Initial state of one direction, zero when none is given.
at::Tensor Initial(const OperatorContext& context, std::size_t input,
                   std::int64_t direction, const at::Tensor& like) {
  if (!context.HasInput(input)) return like;
  const at::Tensor& all = context.Input(input);
  return context.Integer("layout", 0) == 0 ? all.select(0, direction)
                                           : all.select(1, direction);
}

Direction ReadDirection(const OperatorContext& context, const Cell& cell,
                        std::int64_t number,
                        std::span<const Activation> activations) {
  const at::Tensor recurrence = context.Input(2)[number];
  const std::int64_t rows = recurrence.size(0);
  const at::Tensor bias = context.HasInput(3)
                              ? context.Input(3)[number]
                              : at::zeros({2 * rows}, recurrence.options());
  const auto count = static_cast<std::ptrdiff_t>(cell.activations.size());
  return {.recurrence = recurrence,
          .input_bias = bias.narrow(0, 0, rows),
          .recurrence_bias = bias.narrow(0, rows, rows),
          .peepholes = cell.has_cell_state && context.HasInput(7)
                           ? context.Input(7)[number]
                           : at::Tensor(),
          .activations =
              activations.subspan(static_cast<std::size_t>(number * count),
                                  static_cast<std::size_t>(count))};
}

std::int64_t DirectionCount(const OperatorContext& context,
                            const std::string& direction) {
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional")
    throw OperatorError(std::format("unknown direction {}", direction));
  const std::int64_t count = direction == "bidirectional" ? 2 : 1;
  if (context.Input(1).size(0) != count)
    throw OperatorError(std::format("weights of {} directions for {}",
                                    context.Input(1).size(0), direction));
  return count;
}

std::vector<at::Tensor> Recur(const OperatorContext& context,
                              const Cell& cell) {
  const bool batch_first = context.Integer("layout", 0) != 0;
  const std::string direction = context.String("direction", "forward");
  const std::int64_t directions = DirectionCount(context, direction);
  const at::Tensor input =
      batch_first ? context.Input(0).transpose(0, 1) : context.Input(0);
  const at::Tensor none =
      at::zeros({input.size(1), context.Input(2).size(2)}, input.options());
  const std::vector<Activation> activations = ReadActivations(
      context, cell.activations, static_cast<std::size_t>(directions));
  std::vector<at::Tensor> outputs;
  std::vector<at::Tensor> hidden;
  std::vector<at::Tensor> cells;
  for (std::int64_t i = 0; i < directions; ++i) {
    const Direction of = ReadDirection(context, cell, i, activations);
    const Walk walk = WalkSequence(
        context, cell.step, of, at::matmul(input, context.Input(1)[i].t()),
        context.OptionalInput(4),
        {.hidden = Initial(context, 5, i, none),
         .cell =
             cell.has_cell_state ? Initial(context, 6, i, none) : at::Tensor()},
        direction == "reverse" || i == 1);
    outputs.push_back(at::stack(walk.outputs));
    hidden.push_back(walk.last.hidden);
    cells.push_back(walk.last.cell);
  }
  // [length, directions, batch, hidden] and [directions, batch, hidden], or
  // with the batch first [batch, length, directions, hidden] and [batch,
  // directions, hidden].
  const at::Tensor all = at::stack(outputs, 1);
  std::vector<at::Tensor> results = {
      batch_first ? all.permute({2, 0, 1, 3}).contiguous() : all,
      at::stack(hidden, batch_first ? 1 : 0)};
  if (cell.has_cell_state)
    results.push_back(at::stack(cells, batch_first ? 1 : 0));
  return results;
}

std::vector<at::Tensor> Rnn(const OperatorContext& context) {
  return Recur(
      context,
      {.step = RnnStep, .has_cell_state = false, .activations = {"Tanh"}});
}

std::vector<at::Tensor> Lstm(const OperatorContext& context) {
  return Recur(context, {.step = LstmStep,
                         .has_cell_state = true,
                         .activations = {"Sigmoid", "Tanh", "Tanh"}});
}

std::vector<at::Tensor> Gru(const OperatorContext& context) {
  return Recur(context, {.step = GruStep,
                         .has_cell_state = false,
                         .activations = {"Sigmoid", "Tanh"}});
}

}  // namespace

void AddRecurrentOperators(OperatorTable& table) {
  table["RNN"] = Rnn;
  table["LSTM"] = Lstm;
  table["GRU"] = Gru;
}

}  // namespace parity
