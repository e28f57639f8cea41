// Arrows between modules point down only; each third-party library is included
// in one place. The rules are the table in ARCHITECTURE.md; this test reads
// every #include below src/ and workers/.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace parity {
namespace {

// What each folder of src/ may include, besides itself and include/parity.
const std::map<std::string, std::set<std::string>> kAllowed = {
    {"base", {}},
    {"cache", {"base"}},
    {"runtimes", {"base"}},
    {"tensor", {"base"}},
    {"graph", {"tensor", "base"}},
    {"formats", {"graph", "tensor", "base"}},
    {"kernels", {"tensor", "base"}},
    {"compare", {"kernels", "tensor", "base"}},
    {"networks", {"graph", "formats", "tensor", "base"}},
    {"generate", {"tensor", "base"}},
    {"backend", {"networks", "formats", "graph", "tensor", "base"}},
    {"worker", {"backend", "formats", "tensor", "base"}},
    {"diagnose",
     {"worker", "backend", "compare", "graph", "formats", "networks", "tensor",
      "base"}},
    {"validate",
     {"diagnose", "worker", "backend", "generate", "networks", "compare",
      "formats", "graph", "tensor", "cache", "base"}},
    {"sweep",
     {"validate", "worker", "backend", "networks", "formats", "graph", "tensor",
      "cache", "base"}},
    {"report", {"sweep", "validate", "diagnose", "compare", "tensor", "base"}},
    {"cli",
     {"report", "sweep", "validate", "worker", "networks", "formats", "graph",
      "tensor", "runtimes", "cache", "base"}},
    {"workers", {"backend", "worker", "base"}},
};

// Where a third-party header may be included: folders by prefix.
const std::map<std::string, std::vector<std::string>> kThirdParty = {
    {"torch/", {"src/backend/torch/"}},
    {"ATen/", {"src/backend/torch/"}},
    {"c10/", {"src/backend/torch/"}},
    {"onnxruntime", {"src/backend/ort/"}},
    {"protozero/", {"src/formats/onnx/"}},
    {"hwy/", {"src/kernels/"}},
    {"CLI/", {"src/cli/"}},
    {"png.h", {"src/formats/image/"}},
    {"turbojpeg.h", {"src/formats/image/"}},
    {"zlib.h", {"src/formats/zip/"}},
    {"archive", {"src/runtimes/"}},
    {"nettle/", {"src/base/sha256", "src/base/sha512"}},
};

struct Include {
  std::string file;    // relative to the checkout
  std::string header;  // between the quotes or brackets
  bool quoted;
};

bool IsSource(const std::filesystem::path& path) {
  return path.extension() == ".h" || path.extension() == ".cc";
}

bool IsTest(std::string_view file) {
  return file.ends_with("_test.cc") || file.ends_with("_bench.cc") ||
         file.contains("fake_worker") || file.contains("/testing/");
}

std::vector<Include> Includes() {
  std::vector<Include> includes;
  const std::filesystem::path root = PARITY_SOURCE_DIR;
  for (const char* folder : {"src", "workers", "include"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!IsSource(entry.path())) continue;
      const std::string file =
          std::filesystem::relative(entry.path(), root).string();
      std::ifstream source(entry.path());
      for (std::string line; std::getline(source, line);) {
        if (!line.starts_with("#include ")) continue;
        const char open = line[9];
        const std::size_t end = line.find(open == '<' ? '>' : '"', 10);
        if (end != std::string::npos)
          includes.push_back({.file = file,
                              .header = line.substr(10, end - 10),
                              .quoted = open == '"'});
      }
    }
  }
  return includes;
}

// "src/validate/plan.cc" → "validate"; "workers/ort_worker.cc" → "workers";
// "include/…" → "include".
std::string ModuleOf(const std::string& file) {
  const std::filesystem::path path(file);
  auto part = path.begin();
  if (*part != "src") return part->string();
  return (++part)->string();
}

TEST(LayeringTest, ModulesIncludeOnlyWhatIsBelowThem) {
  for (const Include& include : Includes()) {
    const std::string from = ModuleOf(include.file);
    const std::string to = include.header.substr(0, include.header.find('/'));
    if (!include.quoted || IsTest(include.file) || to == from ||
        to == "parity" || !kAllowed.contains(to))
      continue;
    if (from == "include") {
      ADD_FAILURE() << include.file << " is public and must not include "
                    << include.header;
      continue;
    }
    ASSERT_TRUE(kAllowed.contains(from)) << "no rule for " << include.file;
    EXPECT_TRUE(kAllowed.at(from).contains(to))
        << include.file << " must not include " << include.header;
  }
}

TEST(LayeringTest, ThirdPartyHeadersStayInTheirPlace) {
  for (const Include& include : Includes()) {
    for (const auto& [prefix, places] : kThirdParty) {
      if (include.quoted || !include.header.starts_with(prefix) ||
          include.file.ends_with("_test.cc"))
        continue;
      EXPECT_TRUE(std::ranges::any_of(places,
                                      [&](const std::string& place) {
                                        return include.file.starts_with(place);
                                      }))
          << include.file << " must not include <" << include.header << ">";
    }
  }
}

TEST(LayeringTest, TheTestSeesTheSources) {
  EXPECT_GT(Includes().size(), 100U);
}

}  // namespace
}  // namespace parity
