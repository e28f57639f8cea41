// Packages as the registry serves them, of a few bytes, for tests.
#ifndef PARITY_RUNTIMES_TESTING_PACKAGE_MAKER_H_
#define PARITY_RUNTIMES_TESTING_PACKAGE_MAKER_H_

#include <string>
#include <string_view>
#include <vector>

namespace parity {

struct PackageMember {
  std::string path;
  std::string content;
  std::string link_target = {};  // not empty: a symbolic link
};

// The header of a shared library of this machine, then `content`.
[[nodiscard]] std::string FakeLibrary(std::string_view content);

[[nodiscard]] PackageMember Description(std::string_view version);
// "package/bin/napi-v6/linux/MACHINE/NAME".
[[nodiscard]] std::string LibraryPath(std::string_view name);

// The bytes of a .tgz with these members.
[[nodiscard]] std::string MakePackage(
    const std::vector<PackageMember>& members);
// What version 1.22 and later look like.
[[nodiscard]] std::string UsualPackage(std::string_view version);

void WriteTestFile(const std::string& path, std::string_view content);
[[nodiscard]] std::string ReadTestFile(const std::string& path);

}  // namespace parity

#endif  // PARITY_RUNTIMES_TESTING_PACKAGE_MAKER_H_
