#include "runtimes/testing/fake_npm.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <format>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "base/sha512.h"
#include "runtimes/testing/package_maker.h"

namespace parity {
namespace {

// npm view onnxruntime-node versions --json
// npm view onnxruntime-node@VERSION FIELD --json …
// npm pack onnxruntime-node@VERSION --pack-destination FOLDER …
constexpr std::string_view kScript = R"sh(#!/bin/sh
here=${0%/*}
version=${2#*@}
echo "$1" >>"$here/calls"
if [ -f "$here/failure.json" ]; then
  cat "$here/failure.json"
  cat "$here/failure.txt" >&2
  exit 1
fi
if [ "$1 $3" = "view versions" ]; then
  cd "$here/versions"
  list=$(for file in *; do printf '"%s", ' "$file"; done)
  echo "[\"1.8.0\", $list\"1.99.0\"]"
  exit 0
fi
[ "$version $3" = "latest version" ] && exec cat "$here/latest"
if ! [ -f "$here/versions/$version" ]; then
  [ -f "$here/old" ] && exit 0
  echo '{"error": {"code": "E404", "summary": "No match found"}}'
  echo 'npm error code E404' >&2
  exit 1
fi
case "$1" in
  view) printf '"%s"\n' "$(cat "$here/integrity-$version")" ;;
  pack)
    [ -f "$here/seconds" ] && sleep "$(cat "$here/seconds")"
    cp "$here/versions/$version" "$4/onnxruntime-node-$version.tgz" ;;
  *) exit 1 ;;
esac
)sh";

}  // namespace

FakeNpm::FakeNpm() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "parity-npm-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) std::abort();
  folder_ = pattern;
  std::filesystem::create_directory(folder_ + "/versions");
  const std::string program = folder_ + "/npm";
  WriteTestFile(program, kScript);
  ::chmod(program.c_str(), 0755);
  ::setenv("ONNX_PARITY_NPM", program.c_str(), 1);
}

FakeNpm::~FakeNpm() {
  ::unsetenv("ONNX_PARITY_NPM");
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void FakeNpm::Publish(const std::string& version,
                      std::string_view package) const {
  WriteTestFile(folder_ + "/versions/" + version, package);
  WriteTestFile(folder_ + "/latest", std::format("\"{}\"\n", version));
  SetIntegrity(version, "sha512-" + Sha512Base64(std::as_bytes(std::span(
                                        package.data(), package.size()))));
}

void FakeNpm::SetIntegrity(const std::string& version,
                           std::string_view integrity) const {
  WriteTestFile(folder_ + "/integrity-" + version, integrity);
}

void FakeNpm::FailWith(std::string_view code, std::string_view summary) const {
  WriteTestFile(
      folder_ + "/failure.json",
      std::format(R"({{"error": {{"code": "{}", "summary": "{}\nmore"}}}})",
                  code, summary));
  WriteTestFile(folder_ + "/failure.txt",
                std::format("npm error code {}\nnpm error {}\nnpm error A "
                            "complete log of this run can be found in: x\n",
                            code, summary));
}

void FakeNpm::SetPackSeconds(std::string_view seconds) const {
  WriteTestFile(folder_ + "/seconds", seconds);
}

void FakeNpm::BeOld() const { WriteTestFile(folder_ + "/old", ""); }

int FakeNpm::Calls(std::string_view subcommand) const {
  std::istringstream lines(ReadTestFile(folder_ + "/calls"));
  int count = 0;
  for (std::string line; std::getline(lines, line);)
    if (line == subcommand) ++count;
  return count;
}

std::string FakeNpm::operator/(std::string_view name) const {
  return folder_ + "/" + std::string(name);
}

}  // namespace parity
