// What the results of a reference depend on, found out without starting
// libtorch.
//
// Two things identify an installation. Into the key of a result goes what is
// cheap and the same for everybody who shares it: the worker program's size and
// time, the variables that steer the libraries, and the content of the dynamic
// loader's own cache, so that a library that newly comes before another one is
// seen. What libraries a worker then really has is known when it runs: they are
// listed in the entry, and one that has another size or time by now makes the
// entry worth nothing (validate/cached_reference.h). Not seen: a library
// replaced by one of the same size and time, and one placed into a folder of
// the worker's run path in front of another.
#ifndef PARITY_VALIDATE_REFERENCE_IDENTITY_H_
#define PARITY_VALIDATE_REFERENCE_IDENTITY_H_

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "parity/error.h"

namespace parity {

// A file as far as its folder tells.
struct FileStamp {
  std::string path;
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

// Errors: kNotFound.
[[nodiscard]] Result<FileStamp> StampOf(const std::filesystem::path& path);

// Whether all files are as they were.
[[nodiscard]] bool AreUnchanged(const std::vector<FileStamp>& files);

struct ReferenceIdentity {
  std::map<std::string, std::string> facts;  // by name
  // What facts were read from; when one has changed since, they may not be
  // those of what was computed.
  std::vector<FileStamp> sources;
};

struct IdentityOptions {
  LoadRequest request;            // without weights
  std::filesystem::path program;  // the worker
  // The built-in network's weights: a state_dict, else synthetic ones.
  std::filesystem::path checkpoint;
  std::uint64_t synthetic_seed = 0;
  bool allow_missing_keys = false;
};

// Everything but the inputs. Cost: one pass over the checkpoint or the
// TorchScript archive. Errors: those of reading it, kNotFound for the program.
[[nodiscard]] Result<ReferenceIdentity> IdentifyReference(
    const IdentityOptions& options);

// The processor's model and features, as far as they decide which kernels
// compute: the model's name alone may be one that a hypervisor has made up.
// `cpuinfo` is the text of /proc/cpuinfo or its beginning.
[[nodiscard]] std::string ProcessorOf(std::string_view cpuinfo);

// The shared libraries that a running process has mapped. Errors: kIo when it
// is gone, or one of them was replaced meanwhile.
[[nodiscard]] Result<std::vector<FileStamp>> LibrariesOf(pid_t pid);

}  // namespace parity

#endif  // PARITY_VALIDATE_REFERENCE_IDENTITY_H_
