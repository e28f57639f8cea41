// What this build runs on, in the words of the packages.
#ifndef PARITY_RUNTIMES_MACHINE_H_
#define PARITY_RUNTIMES_MACHINE_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "parity/error.h"

namespace parity {

// "x64", "arm64"; empty where there are no official builds.
#if defined(__x86_64__)
inline constexpr std::string_view kMachine = "x64";
#elif defined(__aarch64__)
inline constexpr std::string_view kMachine = "arm64";
#else
inline constexpr std::string_view kMachine = "";
#endif

// Whether `bytes` begin as a shared library of this machine. Errors: kCorrupt.
[[nodiscard]] Status CheckSharedLibrary(std::span<const std::byte> bytes);

}  // namespace parity

#endif  // PARITY_RUNTIMES_MACHINE_H_
