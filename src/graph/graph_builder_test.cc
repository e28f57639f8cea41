#include "graph/graph_builder.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/model.h"
#include "parity/dtype.h"

namespace parity {
namespace {

Value AddOne(GraphBuilder& builder, const char* module, const char* op_type,
             std::initializer_list<Value> inputs) {
  return builder
      .Add(module, op_type, std::span(inputs.begin(), inputs.size()), {}, 1)
      .front();
}

TEST(GraphBuilderTest, NamesSayModuleOperatorAndCall) {
  GraphBuilder builder("g");
  const Value x = builder.Input("x", DType::kFloat32, {});
  Value y = AddOne(builder, "layer1.0.relu", "Relu", {x});
  y = AddOne(builder, "layer1.0.relu", "Relu", {y});
  y = AddOne(builder, "", "Relu", {y});
  builder.Output(y, "y", DType::kFloat32, {});
  const Graph graph = std::move(builder).Take();
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.nodes[0].name, "/layer1/0/relu/Relu");
  EXPECT_EQ(graph.nodes[0].outputs,
            std::vector<std::string>{"/layer1/0/relu/Relu_output_0"});
  EXPECT_EQ(graph.nodes[1].name, "/layer1/0/relu/Relu_1");
  EXPECT_EQ(graph.nodes[1].inputs, graph.nodes[0].outputs);
  EXPECT_EQ(graph.nodes[2].name, "/Relu");
  EXPECT_EQ(graph.nodes[2].outputs, std::vector<std::string>{"y"});
}

TEST(GraphBuilderTest, AnOutputsNameReachesEarlierUses) {
  GraphBuilder builder("g");
  const Value x = builder.Input("x", DType::kFloat32, {});
  const Value y = AddOne(builder, "a", "Relu", {x});
  const Value z = AddOne(builder, "b", "Add", {y, y});
  builder.Output(y, "y", DType::kFloat32, {});
  builder.Output(z, "z", DType::kFloat32, {});
  const Graph graph = std::move(builder).Take();
  EXPECT_EQ(graph.nodes[1].inputs, (std::vector<std::string>{"y", "y"}));
  EXPECT_EQ(graph.outputs[0].name, "y");
  EXPECT_EQ(graph.outputs[1].name, "z");
}

TEST(GraphBuilderTest, AValueNamedAfterTheNextModuleTakesItsCall) {
  GraphBuilder builder("g");
  const Value x = builder.Input("x", DType::kFloat32, {});
  const Value y = AddOne(builder, "conv", "Conv", {x});
  builder.NameAs(y, "bn", "BatchNormalization");
  const Value z = AddOne(builder, "bn", "BatchNormalization", {y});
  builder.Output(z, "z", DType::kFloat32, {});
  const Graph graph = std::move(builder).Take();
  EXPECT_EQ(graph.nodes[0].name, "/conv/Conv");
  EXPECT_EQ(graph.nodes[0].outputs.front(), "/bn/BatchNormalization_output_0");
  EXPECT_EQ(graph.nodes[1].name, "/bn/BatchNormalization_1");
}

TEST(GraphBuilderTest, EqualConstantsAreStoredOnce) {
  GraphBuilder builder("g");
  constexpr std::array<std::int64_t, 2> kPair = {2, -3};
  const Value pair = builder.Integers(kPair);
  const Value column = builder.Integers(kPair, {2, 1});
  const Value two = builder.Float(2, DType::kFloat32);
  const Value half_two = builder.Float(2, DType::kFloat16);
  EXPECT_EQ(pair.id, builder.Integers(kPair).id);
  EXPECT_NE(pair.id, column.id);
  EXPECT_NE(two.id, half_two.id);
  const Graph graph = std::move(builder).Take();
  ASSERT_EQ(graph.initializers.size(), 4U);
  EXPECT_EQ(graph.initializers[0].name, "constant/int64/2,-3");
  EXPECT_EQ(graph.initializers[0].tensor.As<std::int64_t>()[1], -3);
  EXPECT_EQ(graph.initializers[3].tensor.As<std::uint16_t>()[0], 0x4000);
}

TEST(GraphBuilderTest, LongConstantsDifferByContentNotByName) {
  GraphBuilder builder("g");
  std::vector<std::int64_t> values(100, 1'000'000);
  const Value first = builder.Integers(values);
  values.back() = 7;
  const Value second = builder.Integers(values);
  EXPECT_NE(first.id, second.id);
  const Graph graph = std::move(builder).Take();
  EXPECT_NE(graph.initializers[0].name, graph.initializers[1].name);
  EXPECT_LT(graph.initializers[0].name.size(), 50U);
  EXPECT_EQ(graph.initializers[1].tensor.As<std::int64_t>().back(), 7);
}

TEST(GraphBuilderTest, AnOmittedInputHasNoName) {
  GraphBuilder builder("g");
  const Value x = builder.Input("x", DType::kFloat32, {});
  builder.Output(AddOne(builder, "", "Clip", {x, Value{}, x}), "y",
                 DType::kFloat32, {});
  const Graph graph = std::move(builder).Take();
  EXPECT_EQ(graph.nodes[0].inputs, (std::vector<std::string>{"x", "", "x"}));
}

}  // namespace
}  // namespace parity
