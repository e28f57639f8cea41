// What the results of a sweep depend on, as one hash: a journal belongs to a
// sweep whose hash is the same.
#ifndef PARITY_SWEEP_SWEEP_DIGEST_H_
#define PARITY_SWEEP_SWEEP_DIGEST_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "parity/error.h"
#include "parity/validation.h"

namespace parity {

class SweepDigest {
 public:
  void Add(std::string_view key, std::string_view value);
  // The bytes of a file, or of every file below a folder with its name. Errors:
  // kNotFound, kIo. An empty path is nothing.
  [[nodiscard]] Status AddFile(std::string_view key,
                               const std::filesystem::path& path);
  // An ONNX file with what it keeps in files beside it. Errors: those of
  // reading it.
  [[nodiscard]] Status AddModel(const std::filesystem::path& path);
  // What is compared with what and how, runtime and model aside: reference,
  // cases, tolerance, criterion.
  [[nodiscard]] Status AddValidation(const ValidationOptions& options);
  // 64 hexadecimal digits. Ends the computation.
  [[nodiscard]] std::string Finish() { return hash_.Finish(); }

 private:
  [[nodiscard]] Status AddReference(const ReferenceOptions& reference);
  [[nodiscard]] Status AddCases(const CaseOptions& cases);
  Sha256 hash_;
};

}  // namespace parity

#endif  // PARITY_SWEEP_SWEEP_DIGEST_H_
