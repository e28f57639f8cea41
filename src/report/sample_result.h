// A small validation for the tests of every exporter.
#ifndef PARITY_REPORT_SAMPLE_RESULT_H_
#define PARITY_REPORT_SAMPLE_RESULT_H_

#include <string>
#include <utility>

#include "parity/compare.h"
#include "parity/tensor.h"
#include "parity/validation.h"

namespace parity {

[[nodiscard]] inline OutputResult SampleOutput(std::string name, Shape shape,
                                               double max_abs_error,
                                               std::int64_t index,
                                               double atol) {
  OutputResult output;
  output.name = std::move(name);
  output.dtype = "float32";
  output.tolerance.atol = atol;
  Comparison comparison;
  comparison.element_count = *ElementCount(shape);
  comparison.compared_count = comparison.element_count;
  comparison.max_abs_error = max_abs_error;
  comparison.max_abs_index = index;
  output.shape = std::move(shape);
  output.comparison = comparison;
  return output;
}

// One passing case of two outputs.
[[nodiscard]] inline ValidationResult SampleResult() {
  ValidationResult result;
  result.model_path = "model.onnx";
  result.model_sha256 = "00ff";
  result.model_bytes = 20'312'345;
  result.opset = 12;
  result.reference = {.version = "libtorch 2.6.0",
                      .model = "BackgroundMattingV2",
                      .kernels = "native (OpenBLAS)",
                      .load_ms = 270,
                      .peak_rss_bytes = 1};
  result.candidate = {.version = "ONNX Runtime 1.21.0",
                      .model = "model.onnx",
                      .kernels = "CPUExecutionProvider",
                      .load_ms = 400,
                      .peak_rss_bytes = 2};
  result.notes = {"oneDNN convolutions are wrong on this machine"};
  CaseResult standard;
  standard.name = "standard";
  for (const char* name : {"src", "bgr"}) {
    standard.inputs.push_back({.name = name,
                               .dtype = "float32",
                               .shape = {1, 3, 4, 8},
                               .origin = "normal, seed 0"});
  }
  standard.outputs = {SampleOutput("pha", {1, 1, 4, 8}, 2.5e-7, 17, 0.005),
                      SampleOutput("fgr", {1, 3, 4, 8}, 1.25e-6, 32, 0.001)};
  standard.reference_run_ms = 820;
  standard.candidate_run_ms = 400;
  standard.compare_ms = 3;
  result.cases = {standard};
  return result;
}

}  // namespace parity

#endif  // PARITY_REPORT_SAMPLE_RESULT_H_
