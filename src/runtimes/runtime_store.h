// Official builds of ONNX Runtime, kept in a folder for whoever validates
// against them.
//
//   runtimes/.lock               held while something is added or removed
//   runtimes/.partial-PID        one that is being added, or was when the
//                                machine stopped
//   runtimes/1.20.1-linux-x64/   libonnxruntime.so.1, runtime.json, and
//                                libonnxruntime_providers_shared.so where the
//                                package has it
#ifndef PARITY_RUNTIMES_RUNTIME_STORE_H_
#define PARITY_RUNTIMES_RUNTIME_STORE_H_

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "parity/error.h"
#include "runtimes/stored_runtime.h"

namespace parity {

struct AddRequest {
  // "1.20.1", or "latest". With a package it may be empty: whatever version
  // that is.
  std::string version{};
  std::filesystem::path package{};  // a local .tgz instead of the npm client
  std::string integrity{};          // of `package`; empty: not checked
  std::function<void(std::string_view)> progress{};  // may be empty
  const std::atomic<bool>* interrupted = nullptr;
};

struct AddedRuntime {
  StoredRuntime runtime;
  bool was_there = false;
  std::vector<std::string> notes{};  // what the user should know, a line each
};

// Any number of processes may use the same folder. A runtime appears whole or
// not at all.
class RuntimeStore {
 public:
  // In `cache_folder`/runtimes, which is made when something is added.
  explicit RuntimeStore(const std::filesystem::path& cache_folder);

  // Fetches, checks and unpacks a package, unless that version is there
  // already; a damaged one is replaced. Errors: kInvalidArgument and
  // kUnsupported (the version), kNotFound (no npm client, no such version),
  // kCorrupt (the package is not what it should be), kIo, kInterrupted.
  [[nodiscard]] Result<AddedRuntime> Add(const AddRequest& request) const;

  // Newest version first. Nothing is hashed: `problem` is what can be seen at
  // once. Errors: kIo.
  [[nodiscard]] Result<std::vector<StoredRuntime>> List() const;

  // Errors: kInvalidArgument, kNotFound, kIo, kInterrupted.
  [[nodiscard]] Status Remove(
      const std::string& version,
      const std::atomic<bool>* interrupted = nullptr) const;

  // The library of `version`, after its SHA-256 was compared with that of the
  // day it was added. Errors: kInvalidArgument, kNotFound, kCorrupt; each says
  // what to do.
  [[nodiscard]] Result<std::filesystem::path> Find(
      const std::string& version) const;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  [[nodiscard]] std::filesystem::path FolderOf(std::string_view version) const;
  [[nodiscard]] Result<StoredRuntime> Check(const std::string& version) const;
  [[nodiscard]] Result<StoredRuntime> Make(
      const AddRequest& request, const std::filesystem::path& partial) const;
  [[nodiscard]] std::string Listed() const;

  std::filesystem::path folder_;
};

}  // namespace parity

#endif  // PARITY_RUNTIMES_RUNTIME_STORE_H_
