#include "runtimes/machine.h"

#include <elf.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <format>
#include <span>

#include "parity/error.h"

namespace parity {

Status CheckSharedLibrary(std::span<const std::byte> bytes) {
  Elf64_Ehdr header{};
  if (bytes.size() < sizeof(header))
    return Fail(ErrorCode::kCorrupt, "it is too short for a shared library");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return Fail(ErrorCode::kCorrupt, "it is no ELF file");
  constexpr unsigned char kOrder =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
#if defined(__x86_64__)
  constexpr Elf64_Half kOwn = EM_X86_64;
#elif defined(__aarch64__)
  constexpr Elf64_Half kOwn = EM_AARCH64;
#else
  constexpr Elf64_Half kOwn = EM_NONE;
#endif
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != kOrder || header.e_machine != kOwn) {
    return Fail(ErrorCode::kCorrupt,
                std::format("it is for another machine (ELF machine {}, this "
                            "is {})",
                            header.e_machine, kOwn));
  }
  if (header.e_type != ET_DYN)
    return Fail(ErrorCode::kCorrupt, "it is no shared library");
  return {};
}

}  // namespace parity
