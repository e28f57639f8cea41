#include "runtimes/testing/package_maker.h"

#include <archive.h>
#include <archive_entry.h>
#include <elf.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <format>
#include <fstream>
#include <ios>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "runtimes/machine.h"

namespace parity {

std::string FakeLibrary(std::string_view content) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = kMachine == "arm64" ? EM_AARCH64 : EM_X86_64;
  std::string bytes(sizeof(header), '\0');
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes + std::string(content);
}

PackageMember Description(std::string_view version) {
  return {.path = "package/package.json",
          .content = std::format(
              R"({{"name": "onnxruntime-node", "version": "{}"}})", version)};
}

std::string LibraryPath(std::string_view name) {
  return std::format("package/bin/napi-v6/linux/{}/{}", kMachine, name);
}

std::string MakePackage(const std::vector<PackageMember>& members) {
  std::string bytes(std::size_t{1} << 20, '\0');
  std::size_t used = 0;
  archive* const writer = archive_write_new();
  archive_write_add_filter_gzip(writer);
  archive_write_set_format_ustar(writer);
  archive_write_open_memory(writer, bytes.data(), bytes.size(), &used);
  for (const PackageMember& member : members) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, member.path.c_str());
    archive_entry_set_perm(entry, 0644);
    if (member.link_target.empty()) {
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_size(entry,
                             static_cast<la_int64_t>(member.content.size()));
    } else {
      archive_entry_set_filetype(entry, AE_IFLNK);
      archive_entry_set_symlink(entry, member.link_target.c_str());
    }
    if (archive_write_header(writer, entry) != ARCHIVE_OK) std::abort();
    archive_write_data(writer, member.content.data(), member.content.size());
    archive_entry_free(entry);
  }
  if (archive_write_close(writer) != ARCHIVE_OK) std::abort();
  archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

std::string UsualPackage(std::string_view version) {
  return MakePackage(
      {Description(version),
       {.path = "package/bin/napi-v6/darwin/arm64/libonnxruntime.1.dylib",
        .content = "of another system"},
       {.path = LibraryPath("libonnxruntime.so.1"),
        .content = FakeLibrary(version)},
       {.path = LibraryPath("onnxruntime_binding.node"),
        .content = "not wanted"}});
}

void WriteTestFile(const std::string& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  if (!file.flush()) std::abort();
}

std::string ReadTestFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace parity
