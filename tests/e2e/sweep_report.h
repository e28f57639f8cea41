// Reads what a sweep has written.
#ifndef PARITY_TESTS_E2E_SWEEP_REPORT_H_
#define PARITY_TESTS_E2E_SWEEP_REPORT_H_

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace parity {

[[nodiscard]] inline nlohmann::json ReadJson(const std::string& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
}

[[nodiscard]] inline std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

[[nodiscard]] inline std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// What a sweep finds, without what it measures: of each row its axes, verdict,
// cause, and the worst output with its exact difference.
[[nodiscard]] inline std::vector<std::string> Findings(
    const nlohmann::json& sweep) {
  std::vector<std::string> findings;
  for (const nlohmann::json& row : sweep["rows"]) {
    const nlohmann::json finding = {row["row"], row["axes"], row["verdict"],
                                    row["cause"], row["worst"]};
    findings.push_back(finding.dump());
  }
  std::ranges::sort(findings);
  return findings;
}

}  // namespace parity

#endif  // PARITY_TESTS_E2E_SWEEP_REPORT_H_
