// Small models for the tests of this folder.
#ifndef PARITY_BACKEND_TORCH_ONNX_TESTING_SAMPLE_GRAPHS_H_
#define PARITY_BACKEND_TORCH_ONNX_TESTING_SAMPLE_GRAPHS_H_

#include <c10/core/ScalarType.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/torch/onnx/graph_evaluator.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

using Names = std::vector<std::string>;

template <class T>
Tensor Elements(DType dtype, Shape shape, const std::vector<T>& values) {
  return Tensor::From(dtype, std::move(shape), std::span<const T>(values))
      .value();
}

template <class T>
Tensor Vector(DType dtype, const std::vector<T>& values) {
  return Elements(dtype, {static_cast<std::int64_t>(values.size())}, values);
}

inline Tensor Floats(const std::vector<float>& values) {
  return Vector(DType::kFloat32, values);
}

inline Tensor Longs(const std::vector<std::int64_t>& values) {
  return Vector(DType::kInt64, values);
}

inline Tensor Bools(const std::vector<std::uint8_t>& values) {
  return Vector(DType::kBool, values);
}

// Of a float64 or int64 tensor.
inline std::vector<double> Numbers(const Tensor& tensor) {
  if (tensor.dtype() == DType::kInt64) {
    const auto values = tensor.As<std::int64_t>();
    return {values.begin(), values.end()};
  }
  EXPECT_EQ(tensor.dtype(), DType::kFloat64);
  const auto values = tensor.As<double>();
  return {values.begin(), values.end()};
}

// Named after its first output: "/y".
inline Node MakeNode(std::string op_type, Names inputs, Names outputs,
                     std::vector<Attribute> attributes = {}) {
  return {.name = "/" + outputs[0],
          .op_type = std::move(op_type),
          .domain = {},
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = std::move(attributes)};
}

inline Attribute Subgraph(const std::string& name, Graph graph) {
  return {.name = name, .value = std::make_shared<Graph>(std::move(graph))};
}

inline Graph MakeGraph(const Names& inputs, std::vector<Node> nodes,
                       const Names& outputs) {
  const auto declared = [](const Names& names) {
    std::vector<ValueInfo> values;
    for (const std::string& name : names) {
      values.push_back(
          {.name = name, .dtype = {}, .shape = {}, .other_type = {}});
    }
    return values;
  };
  Graph graph;
  graph.name = "g";
  graph.inputs = declared(inputs);
  graph.nodes = std::move(nodes);
  graph.outputs = declared(outputs);
  return graph;
}

inline Model MakeModel(Graph graph, std::int64_t opset = 18) {
  Model model;
  model.opset_imports = {{.domain = "", .version = opset}};
  model.graph = std::move(graph);
  return model;
}

inline GraphEvaluator InDouble(Graph graph) {
  return GraphEvaluator(MakeModel(std::move(graph)), c10::ScalarType::Double);
}

// What a test expects to succeed.
inline NamedTensors Must(const Result<NamedTensors>& result) {
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return result.value_or(NamedTensors());
}

// The numbers of the only value.
inline std::vector<double> One(const Result<NamedTensors>& result) {
  const NamedTensors tensors = Must(result);
  EXPECT_EQ(tensors.size(), 1U);
  return tensors.empty() ? std::vector<double>() : Numbers(tensors[0].tensor);
}

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_TESTING_SAMPLE_GRAPHS_H_
