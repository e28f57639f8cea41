// Ctrl-C and termination: workers are killed, half-written files removed, and
// the tool ends with 130.
#ifndef PARITY_CLI_INTERRUPT_H_
#define PARITY_CLI_INTERRUPT_H_

#include <atomic>

namespace parity {

// For SIGINT, SIGTERM and SIGHUP. A second signal ends the process at once.
// SIGPIPE is ignored.
void InstallInterruptHandler();

// Set once a signal has come.
[[nodiscard]] const std::atomic<bool>& Interrupted();

}  // namespace parity

#endif  // PARITY_CLI_INTERRUPT_H_
