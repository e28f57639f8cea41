// Rows and folders for the tests of whatever handles rows.
#ifndef PARITY_SWEEP_TESTING_SAMPLE_ROWS_H_
#define PARITY_SWEEP_TESTING_SAMPLE_ROWS_H_

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "parity/diagnosis.h"
#include "parity/sweep.h"
#include "parity/validation.h"

namespace parity {

// A row that passed on oneDNN.
[[nodiscard]] inline SweepRow SampleRow(std::size_t index) {
  SweepRow row;
  row.index = index;
  row.axes = {{.axis = "replace", .value = "scatter_nd"},
              {.axis = "crop", .value = "roi_align"},
              {.axis = "provider", .value = "DnnlExecutionProvider"}};
  row.verdict = Verdict::kPassed;
  row.worst_output = "pha";
  row.worst_case = "standard";
  row.worst_difference = 1.0 / 3e6;
  row.worst_limit = 0.005;
  row.runtime_version = "ONNX Runtime 1.21.0";
  row.load_ms = 350.25;
  row.first_run_ms = 512.1;
  row.steady_run_ms = 61.0 + static_cast<double>(index);
  row.repeats = 5;
  row.peak_rss_bytes = 412'000'000;
  row.provider_nodes = {{"CPUExecutionProvider", 210},
                        {"DnnlExecutionProvider", 53}};
  row.total_ms = 2345.6;
  row.command =
      "onnx-parity export --output model.onnx\nonnx-parity validate "
      "model.onnx --provider DnnlExecutionProvider";
  return row;
}

// A row that never came to a comparison.
[[nodiscard]] inline SweepRow CrashedRow(std::size_t index) {
  SweepRow row;
  row.index = index;
  row.axes = {{.axis = "replace", .value = "scatter_nd"},
              {.axis = "crop", .value = "gather"},
              {.axis = "provider", .value = "XnnpackExecutionProvider"}};
  row.cause = Cause::kLoad;
  row.message = "the worker died of signal 6 (Aborted) while loading";
  row.total_ms = 900;
  row.command = "onnx-parity validate model.onnx";
  return row;
}

// Removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "parity-sweep-XXXXXX")
            .string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline void WriteText(const std::filesystem::path& path,
                      std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

[[nodiscard]] inline std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace parity

#endif  // PARITY_SWEEP_TESTING_SAMPLE_ROWS_H_
