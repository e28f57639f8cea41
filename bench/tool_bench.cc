// Times and measures the real program, cold process to exit. Every line is one
// number and what it is compared with in the same run; limits are the project's
// goals on 2 cores, and a line beyond its limit says so.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <print>
#include <string>
#include <thread>
#include <vector>

#include "tool_run.h"

namespace parity {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::json;

constexpr int kRepeats = 5;

double Seconds(const std::function<void()>& run) {
  const Clock::time_point start = Clock::now();
  run();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Median of kRepeats runs.
double MedianSeconds(const std::vector<std::string>& arguments,
                     int exit_code = 0) {
  std::vector<double> times;
  times.reserve(kRepeats);
  for (int i = 0; i < kRepeats; ++i) {
    times.push_back(Seconds([&] {
      const ToolRun run = RunTool(arguments);
      if (run.exit_code != exit_code)
        std::println("  exit code {}: {}{}", run.exit_code, run.out, run.err);
    }));
  }
  std::ranges::sort(times);
  return times[kRepeats / 2];
}

// Proportional set size: shared pages count once over all processes.
std::int64_t PssBytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Pss:")) return std::stoll(line.substr(4)) * 1024;
  }
  return 0;
}

// The largest sum over the tool and its workers, sampled while it runs.
std::int64_t PeakMemory(const std::vector<std::string>& arguments) {
  StartedTool tool(arguments, {});
  std::int64_t peak = 0;
  while (IsAlive(tool.pid())) {
    std::int64_t sum = PssBytes(tool.pid());
    for (const pid_t worker : tool.Descendants()) sum += PssBytes(worker);
    peak = std::max(peak, sum);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  (void)tool.Finish();
  return peak;
}

void Line(const std::string& what, double value, const std::string& unit,
          double limit) {
  std::println("{:<58} {:>8.3f} {:<3} limit {:>7.3f}  {}", what, value, unit,
               limit, value <= limit ? "ok" : "BEYOND");
}

void BenchStart(const TestFolder& folder) {
  Line("onnx-parity --help", MedianSeconds({"--help"}) * 1000, "ms", 10);
  Line("export mobilenetv2",
       MedianSeconds({"export", "--output", folder / "m.onnx"}), "s", 0.5);
  Line("export resnet101",
       MedianSeconds({"export", "--model-backbone", "resnet101", "--output",
                      folder / "r.onnx"}),
       "s", 2.0);
}

void BenchStandardCase(const TestFolder& folder) {
  const std::vector<std::string> arguments = {
      "validate", folder / "m.onnx", "--case",
      "standard", "--json",          folder / "report.json"};
  const double seconds = MedianSeconds(arguments);
  std::ifstream file(folder / "report.json");
  const Json report = Json::parse(file);
  const Json& standard = report["cases"][0];
  const double sides = (standard["reference_run_ms"].get<double>() +
                        standard["candidate_run_ms"].get<double>()) /
                       1000;
  std::println("reference kernels: {}",
               report["reference"]["kernels"].get<std::string>());
  Line("validate, standard case (1x3x720x1280), whole process", seconds, "s",
       1.8);
  Line("  ratio to reference run + candidate run", seconds / sides, "x", 1.6);
  Line("  memory of all processes together",
       static_cast<double>(PeakMemory(arguments)) / 1e6, "MB", 750);
  std::vector<std::string> native = arguments;
  native.insert(native.end(), {"--reference-kernels", "native"});
  Line("validate, standard case, native kernels", MedianSeconds(native), "s",
       1.8);
}

void BenchPlan(const TestFolder& folder) {
  Line("export --validate, three cases",
       MedianSeconds({"export", "--output", folder / "m.onnx", "--validate"}),
       "s", 3.5);
}

// A reference that refines half as many cells: wrong in three outputs, all of
// them behind a selection, so that every question is asked.
void BenchExplanation(const TestFolder& folder) {
  const std::vector<std::string> arguments = {"validate",
                                              folder / "m.onnx",
                                              "--case",
                                              "standard",
                                              "--model-refine-sample-pixels",
                                              "40000"};
  Line("validate, failing standard case with its explanation",
       MedianSeconds(arguments, 1), "s", 25);
  Line("  memory of all processes together",
       static_cast<double>(PeakMemory(arguments)) / 1e6, "MB", 3000);
}

// The same reference again: neither libtorch nor weights are needed.
void BenchCache(const TestFolder& folder) {
  std::vector<std::string> arguments = {"validate", folder / "m.onnx", "--case",
                                        "standard"};
  const double without = MedianSeconds(arguments);
  arguments.insert(arguments.end(), {"--cache", folder / "validate-cache"});
  (void)RunTool(arguments);
  Line("validate, standard case, reference found in the cache",
       MedianSeconds(arguments), "s", without);
}

// 18 rows against what cannot be saved: loading and running each candidate, and
// one reference. Once, since it is 18 runs by itself.
void BenchSweep(const TestFolder& folder) {
  const auto report = [&](const std::vector<std::string>& arguments) {
    const ToolRun run = RunTool(arguments);
    if (run.exit_code != 0)
      std::println("  exit code {}: {}{}", run.exit_code, run.out, run.err);
    std::ifstream file(folder / "report.json");
    return Json::parse(file);
  };
  const Json validation =
      report({"validate", folder / "m.onnx", "--case", "standard", "--json",
              folder / "report.json"});
  const double reference =
      validation["reference"]["load_ms"].get<double>() +
      validation["cases"][0]["reference_run_ms"].get<double>();
  Json sweep;
  const double seconds = Seconds([&] {
    sweep = report({"sweep", "--provider", "cpu", "--optimization",
                    "basic,extended,all", "--case", "standard", "--cache",
                    folder / "sweep-cache", "--json", folder / "report.json"});
  });
  double candidates = 0;
  for (const Json& row : sweep["rows"]) {
    candidates +=
        row["load_ms"].get<double>() + row["first_run_ms"].get<double>() +
        row["repeats"].get<double>() * row["steady_run_ms"].get<double>();
  }
  std::println("sweep of {} rows: {:.1f} s", sweep["rows"].size(), seconds);
  Line("  (sweep - one reference) / candidates' loads and runs",
       (seconds * 1000 - reference) / candidates, "x", 1.25);
}

}  // namespace
}  // namespace parity

int main() {
  const parity::TestFolder folder;
  std::println("{} runs each, median; {} cores", parity::kRepeats,
               std::thread::hardware_concurrency());
  parity::BenchStart(folder);
  parity::BenchStandardCase(folder);
  parity::BenchPlan(folder);
  parity::BenchExplanation(folder);
  parity::BenchCache(folder);
  parity::BenchSweep(folder);
}
