// The flags of a validation, shared by `validate` and `export --validate`.
#ifndef PARITY_CLI_VALIDATION_FLAGS_H_
#define PARITY_CLI_VALIDATION_FLAGS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "parity/error.h"
#include "parity/validation.h"

namespace parity {

// Texts as the user gave them; ToOptions() gives them their meaning.
struct ValidationFlags {
  ValidationOptions options;
  std::vector<std::string> atol;  // "0.005" or "pha=0.001"
  std::vector<std::string> rtol;
  std::vector<std::string> attributes;  // "name=value"
  std::vector<std::string> shapes;      // "src=1x3x720x1280"
  std::vector<std::string> dimensions;  // "height=720"
  std::vector<std::string> images;      // "src=photo.png"
  std::vector<std::string> runtimes;    // "1.20.1", "system"
  std::string criterion = "max-diff";
  std::string explain = "auto";
  double timeout_seconds = 600;
  std::string memory_limit;  // "2GB", "750MB", bytes
  std::string cache_size = "10GB";
  std::filesystem::path json;
};

// Cases, tolerance, runtime, limits and reports.
void AddValidationFlags(CLI::App& command, ValidationFlags& flags);

// The parts of it that a sweep takes, too.
void AddCaseFlags(CLI::App& command, ValidationFlags& flags);  // but --shape
void AddVerdictFlags(CLI::App& command, ValidationFlags& flags);
void AddLimitFlags(CLI::App& command, ValidationFlags& flags);

// Errors: kInvalidArgument naming the flag and what it takes.
[[nodiscard]] Result<ValidationOptions> ToOptions(const ValidationFlags& flags);

// "name=value" split at the first '='. Errors: kInvalidArgument naming the
// flag.
struct NameAndText {
  std::string name;
  std::string text;
};
[[nodiscard]] Result<NameAndText> SplitAssignment(std::string_view flag,
                                                  std::string_view text);

}  // namespace parity

#endif  // PARITY_CLI_VALIDATION_FLAGS_H_
