// What is kept of a reference: how it loaded, and what a run gave. Each is the
// payload of one cache entry: a safetensors image whose tensors are the outputs
// and whose metadata is the rest.
#ifndef PARITY_VALIDATE_REFERENCE_ENTRY_H_
#define PARITY_VALIDATE_REFERENCE_ENTRY_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "parity/error.h"
#include "validate/reference_identity.h"

namespace parity {

struct LoadEntry {
  LoadResult loaded{};
  std::string weights_sha256{};        // of the built-in network
  std::vector<std::string> notes{};    // of reading the weights
  std::vector<FileStamp> libraries{};  // that the worker had mapped
};

struct RunEntry {
  RunResult run{};  // without a trace
  std::vector<FileStamp> libraries{};
};

// Errors: those of writing safetensors.
[[nodiscard]] Result<std::vector<std::byte>> Encode(const LoadEntry& entry);
[[nodiscard]] Result<std::vector<std::byte>> Encode(const RunEntry& entry);

// Tensors borrow from `payload`, which `owner` keeps alive. Errors: kCorrupt.
[[nodiscard]] Result<LoadEntry> DecodeLoadEntry(
    std::span<const std::byte> payload,
    const std::shared_ptr<const void>& owner);
[[nodiscard]] Result<RunEntry> DecodeRunEntry(
    std::span<const std::byte> payload,
    const std::shared_ptr<const void>& owner);

}  // namespace parity

#endif  // PARITY_VALIDATE_REFERENCE_ENTRY_H_
