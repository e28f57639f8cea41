// The npm client of the user's system: it knows the registry or mirror, the
// proxy and the credentials that apply here.
#ifndef PARITY_RUNTIMES_NPM_CLIENT_H_
#define PARITY_RUNTIMES_NPM_CLIENT_H_

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/command.h"
#include "parity/error.h"

namespace parity {

// Asks about versions of the package onnxruntime-node. The program is
// $ONNX_PARITY_NPM, or npm on PATH.
// Errors of all calls: kNotFound without an npm client, or for a version that
// does not exist (with those nearest to it); kIo without network, or whatever
// else npm reports; kInterrupted.
class NpmClient {
 public:
  explicit NpmClient(const std::atomic<bool>* interrupted);

  // The version that has the tag "latest".
  [[nodiscard]] Result<std::string> LatestVersion() const;
  // "sha512-…" of the package.
  [[nodiscard]] Result<std::string> Integrity(const std::string& version) const;
  // Fetches the package into `folder`, which is empty. The file's path.
  [[nodiscard]] Result<std::filesystem::path> Download(
      const std::string& version, const std::filesystem::path& folder) const;

 private:
  Result<CommandResult> Run(std::vector<std::string> words,
                            std::chrono::milliseconds timeout,
                            const std::string& version) const;
  Result<std::string> View(const std::string& version,
                           const std::string& field) const;
  Error UnknownVersion(const std::string& version) const;
  Error Explain(const CommandResult& result, const std::string& version) const;

  std::string program_;
  const std::atomic<bool>* interrupted_;
};

}  // namespace parity

#endif  // PARITY_RUNTIMES_NPM_CLIENT_H_
