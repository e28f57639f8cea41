// The ONNX project's own backend tests of single operators, evaluated in
// float64. What does not give the expected outputs must be listed, with the
// reason, in docs/onnx_operators.md; what is listed must fail.
//
// PARITY_ONNX_NODE_TESTS names another folder than Debian's libonnx-testdata,
// PARITY_ONNX_NODE_TEST_FILTER a part of the names of those to run.
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <format>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/torch/onnx/graph_evaluator.h"
#include "backend/torch/tensor_bridge.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_test_data.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNewestOpset = 22;
constexpr double kLeastPassed = 0.95;

std::string Environment(const char* name, std::string otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : std::move(otherwise);
}

fs::path NodeTests() {
  return Environment("PARITY_ONNX_NODE_TESTS",
                     "/usr/share/libonnx-testdata/data/node");
}

std::vector<fs::path> SortedFolders(const fs::path& parent,
                                    std::string_view start) {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(parent)) {
    if (entry.is_directory() &&
        entry.path().filename().string().starts_with(start))
      folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

// Test → reason, from the rows "| `test_name` | reason |".
std::map<std::string, std::string> ListedFailures() {
  std::map<std::string, std::string> listed;
  std::ifstream file(fs::path(PARITY_SOURCE_DIR) / "docs/onnx_operators.md");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kStart = "| `test_";
    const std::size_t end = line.find("` | ");
    if (!line.starts_with(kStart) || end == std::string::npos) continue;
    std::string reason = line.substr(end + 4);
    reason.resize(reason.find_last_not_of(" |") + 1);
    listed[line.substr(3, end - 3)] = std::move(reason);
  }
  return listed;
}

// Why the evaluator is not meant for the model; nothing when it is.
std::optional<std::string> OutOfScope(const Model& model) {
  for (const OpsetImport& import : model.opset_imports) {
    if (!import.domain.empty() && import.domain != "ai.onnx")
      return std::format("domain {}", import.domain);
    if (import.version > kNewestOpset)
      return std::format("opset {}", import.version);
  }
  for (const std::vector<ValueInfo>* values :
       {&model.graph.inputs, &model.graph.outputs}) {
    for (const ValueInfo& value : *values) {
      if (!value.other_type.empty())
        return std::format("values of type {}", value.other_type);
    }
  }
  return std::nullopt;
}

// The ONNX project's own tolerance; a unit in the last place of bfloat16, since
// expected values are rounded to it towards zero, and ours not at all.
double RelativeTolerance(DType dtype) {
  constexpr double kOnnx = 1e-3;
  return dtype == DType::kBFloat16 ? 1.0 / 128 : kOnnx;
}

// The ONNX project's own tolerance. Expected values were computed in float32:
// where large ones cancel, a few units in the last place of the largest remain.
double AbsoluteTolerance(const at::Tensor& expected) {
  constexpr double kOnnx = 1e-7;
  constexpr double kFewUnits = 4 * 0x1p-23;
  if (expected.numel() == 0) return kOnnx;
  const auto largest = expected.nan_to_num(0, 0, 0).abs().max().item<double>();
  return std::max(kOnnx, kFewUnits * largest);
}

// What is different; empty when nothing is.
std::string Difference(const Tensor& expected, const Tensor& actual) {
  const bool is_same_class = IsFloating(expected.dtype())
                                 ? IsFloating(actual.dtype())
                                 : expected.dtype() == actual.dtype();
  if (!is_same_class) {
    return std::format("{} instead of {}", Name(actual.dtype()),
                       Name(expected.dtype()));
  }
  if (expected.shape() != actual.shape()) {
    return std::format("shape {} instead of {}", ToString(actual.shape()),
                       ToString(expected.shape()));
  }
  const double relative = RelativeTolerance(expected.dtype());
  const auto widened = [](const Tensor& tensor) {
    return TorchFromParity(tensor).value().to(c10::ScalarType::Double);
  };
  const at::Tensor left = widened(expected);
  const at::Tensor right = widened(actual);
  const auto* a = left.const_data_ptr<double>();
  const auto* b = right.const_data_ptr<double>();
  const double absolute = AbsoluteTolerance(left);
  std::int64_t different = 0;
  std::string first;
  for (std::int64_t i = 0; i < left.numel(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (std::isfinite(a[i]) &&
        std::abs(a[i] - b[i]) <= absolute + relative * std::abs(a[i]))
      continue;
    if (++different == 1)
      first = std::format("element {} is {} instead of {}", i, b[i], a[i]);
  }
  if (different == 0) return {};
  return std::format("{} elements differ, the first: {}", different, first);
}

// Tensors whose names the graph does not know stand for its values in order.
// Files hold bfloat16 as uint16.
NamedTensors Named(NamedTensors tensors, const std::vector<ValueInfo>& values) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto declared =
        std::ranges::find(values, tensors[i].name, &ValueInfo::name);
    if (declared == values.end() && i < values.size()) {
      declared = values.begin() + static_cast<std::ptrdiff_t>(i);
      tensors[i].name = declared->name;
    }
    Tensor& tensor = tensors[i].tensor;
    if (declared != values.end() && declared->dtype == DType::kBFloat16 &&
        tensor.dtype() == DType::kUInt16) {
      tensor = Tensor::Copy(DType::kBFloat16, tensor.shape(), tensor.bytes())
                   .value();
    }
  }
  return tensors;
}

// What went wrong; empty when nothing did.
std::string Failure(const Model& model, const fs::path& folder) {
  const GraphEvaluator evaluator(model, c10::ScalarType::Double);
  for (const fs::path& data : SortedFolders(folder, "test_data_set_")) {
    const Result<RecordedSet> set = ReadTestDataSet(data);
    if (!set) return set.error().message;
    const Result<NamedTensors> actual =
        evaluator.Evaluate(Named(set->inputs, model.graph.inputs), {});
    if (!actual) return actual.error().message;
    const NamedTensors expected = Named(set->outputs, model.graph.outputs);
    if (expected.size() != actual->size()) return "number of outputs";
    for (const NamedTensor& output : expected) {
      const Tensor* found = FindTensor(*actual, output.name);
      if (found == nullptr) return "no output " + output.name;
      const std::string difference = Difference(output.tensor, *found);
      if (!difference.empty())
        return std::format("output {}: {}", output.name, difference);
    }
  }
  return {};
}

struct Tally {
  int passed = 0;
  std::map<std::string, std::string> failed = {};  // test → what happened
  std::map<std::string, int> skipped = {};         // reason → how many
};

Tally RunAll(std::string_view filter) {
  Tally tally;
  for (const fs::path& folder : SortedFolders(NodeTests(), "test_")) {
    const std::string name = folder.filename().string();
    if (!name.contains(filter)) continue;
    const Result<Model> model = ReadOnnxModel(folder / "model.onnx");
    if (!model) {
      tally.failed[name] = model.error().message;
    } else if (const auto reason = OutOfScope(*model)) {
      ++tally.skipped[*reason];
    } else if (std::string failure = Failure(*model, folder); failure.empty()) {
      ++tally.passed;
    } else {
      tally.failed[name] = std::move(failure);
    }
  }
  return tally;
}

TEST(OnnxNodeTests, GiveTheExpectedOutputsExceptThoseThatAreListed) {
  if (!fs::is_directory(NodeTests())) {
    GTEST_SKIP() << NodeTests()
                 << " does not exist: install libonnx-testdata, or set "
                    "PARITY_ONNX_NODE_TESTS";
  }
  const c10::InferenceMode inference;
  const std::string filter = Environment("PARITY_ONNX_NODE_TEST_FILTER", "");
  const Tally tally = RunAll(filter);
  for (const auto& [reason, count] : tally.skipped)
    std::cout << std::format("skipped {} tests: {}\n", count, reason);
  const double share =
      tally.passed /
      std::max(1.0, static_cast<double>(tally.passed) +
                        static_cast<double>(tally.failed.size()));
  std::cout << std::format("{} passed, {} failed: {:.1f} %\n", tally.passed,
                           tally.failed.size(), 100 * share);

  const std::map<std::string, std::string> listed = ListedFailures();
  for (const auto& [name, failure] : tally.failed) {
    std::cout << std::format("{}: {}\n", name, failure);
    EXPECT_TRUE(listed.contains(name))
        << name
        << " fails and is not listed in docs/onnx_operators.md: " << failure;
  }
  if (!filter.empty()) return;
  for (const auto& [name, reason] : listed) {
    EXPECT_TRUE(tally.failed.contains(name))
        << name << " is listed in docs/onnx_operators.md, but does not fail";
    EXPECT_FALSE(reason.empty()) << name << " is listed without a reason";
  }
  EXPECT_GE(share, kLeastPassed);
}

}  // namespace
}  // namespace parity
