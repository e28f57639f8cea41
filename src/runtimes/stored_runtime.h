// What a folder of the store says about the runtime in it (runtime.json).
#ifndef PARITY_RUNTIMES_STORED_RUNTIME_H_
#define PARITY_RUNTIMES_STORED_RUNTIME_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "parity/error.h"

namespace parity {

struct StoredRuntime {
  std::string version{};
  std::filesystem::path folder{};
  std::string integrity{};       // of the package it came from, "sha512-…"
  std::string library_sha256{};  // 64 hexadecimal digits
  std::int64_t library_bytes = 0;
  std::string added{};    // "2026-01-31T12:00:00Z"
  std::string problem{};  // why it cannot be used; empty: nothing known

  [[nodiscard]] std::filesystem::path library() const;
};

// Errors: kIo.
[[nodiscard]] Status WriteRecord(const StoredRuntime& runtime);

// Errors: kNotFound, kIo, kCorrupt; naming the file.
[[nodiscard]] Result<StoredRuntime> ReadRecord(
    const std::filesystem::path& folder);

// {"runtimes": [...]} for machines; ends in a newline.
[[nodiscard]] std::string FormatJsonList(
    const std::vector<StoredRuntime>& runtimes);

}  // namespace parity

#endif  // PARITY_RUNTIMES_STORED_RUNTIME_H_
