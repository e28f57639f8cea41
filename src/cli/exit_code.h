// What the process tells its caller, as diff and cmp do.
#ifndef PARITY_CLI_EXIT_CODE_H_
#define PARITY_CLI_EXIT_CODE_H_

#include <cstdint>

namespace parity {

enum class ExitCode : std::uint8_t {
  kPassed = 0,
  kFailed = 1,
  kCouldNotTell = 2,  // wrong usage, unreadable file, a worker that died
  kInterrupted = 130,
};

}  // namespace parity

#endif  // PARITY_CLI_EXIT_CODE_H_
