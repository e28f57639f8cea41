#include "worker/trace_tensors.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

Tensor Doubles(const std::vector<double>& values) {
  return *Tensor::From<double>(DType::kFloat64,
                               {static_cast<std::int64_t>(values.size())},
                               std::span(values));
}

Tensor Indices(const std::vector<std::int64_t>& values) {
  return *Tensor::From<std::int64_t>(DType::kInt64,
                                     {static_cast<std::int64_t>(values.size())},
                                     std::span(values));
}

TracedValue Describe(const Tensor& tensor, bool keep) {
  TracedValue value{.name = "value",
                    .dtype = tensor.dtype(),
                    .shape = tensor.shape(),
                    .sketch = SketchOf(tensor.view())};
  if (keep) value.tensor = tensor;
  return value;
}

// As the decoded message has it.
std::vector<TracedValue> WithoutNumbers(std::vector<TracedValue> trace) {
  for (TracedValue& value : trace) {
    value.sketch = {};
    value.tensor.reset();
  }
  return trace;
}

class TraceTensorsTest : public ::testing::Test {
 protected:
  TraceTensorsTest() {
    EXPECT_TRUE(AppendTrace(trace_, tensors_).has_value());
    received_ = WithoutNumbers(trace_);
  }

  std::vector<TracedValue> trace_ = {
      Describe(Doubles({1, -2, std::numeric_limits<double>::infinity()}),
               /*keep=*/false),
      Describe(Indices({7, 8}), /*keep=*/true)};
  NamedTensors tensors_ = {{.name = "y", .tensor = Doubles({1})}};
  std::vector<TracedValue> received_;
};

TEST_F(TraceTensorsTest, SketchesAndTensorsArrive) {
  ASSERT_TRUE(CompleteTrace(tensors_, received_).has_value());
  for (std::size_t i = 0; i < trace_.size(); ++i)
    EXPECT_EQ(received_[i].sketch.ToNumbers(), trace_[i].sketch.ToNumbers());
  EXPECT_EQ(received_[0].sketch.nonfinite_count, 1);
  EXPECT_FALSE(received_[0].tensor.has_value());
  ASSERT_TRUE(received_[1].tensor.has_value());
  EXPECT_EQ(received_[1].tensor->As<std::int64_t>()[1], 8);
}

TEST_F(TraceTensorsTest, OutputsAndTracesAreToldApart) {
  EXPECT_EQ(tensors_.size(), 3U);
  EXPECT_FALSE(IsTraceTensor(tensors_[0].name));
  EXPECT_TRUE(IsTraceTensor(tensors_[1].name));
  EXPECT_TRUE(IsTraceTensor(tensors_[2].name));
  EXPECT_FALSE(IsTraceTensor("trace/0"));
}

TEST_F(TraceTensorsTest, NoTraceAddsNothing) {
  NamedTensors tensors;
  std::vector<TracedValue> none;
  ASSERT_TRUE(AppendTrace(none, tensors).has_value());
  EXPECT_TRUE(tensors.empty());
  EXPECT_TRUE(CompleteTrace(tensors, none).has_value());
}

TEST_F(TraceTensorsTest, TracesThatDoNotFitTheirTensorsAreRefused) {
  NamedTensors without = tensors_;
  without.pop_back();
  EXPECT_EQ(CompleteTrace(without, received_).error().code,
            ErrorCode::kCorrupt);
  std::vector<TracedValue> longer = received_;
  longer.emplace_back();
  EXPECT_EQ(CompleteTrace(tensors_, longer).error().code, ErrorCode::kCorrupt);
  std::vector<TracedValue> other = received_;
  other[1].shape = {3};
  EXPECT_EQ(CompleteTrace(tensors_, other).error().code, ErrorCode::kCorrupt);
  other = received_;
  other[1].dtype = DType::kBool;
  EXPECT_EQ(CompleteTrace(tensors_, other).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace parity
