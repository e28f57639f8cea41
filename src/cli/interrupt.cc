#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "base/file_mapping.h"
#include "cli/exit_code.h"
#include "worker/subprocess.h"

namespace parity {
namespace {

std::atomic<bool> interrupted{false};

extern "C" void HandleSignal(int /*signal*/) {
  // Told first: whoever then sees a dead worker knows why it died.
  const bool again = interrupted.exchange(true);
  KillAllWorkers();
  RemoveTemporaryFiles();
  if (again) ::_exit(static_cast<int>(ExitCode::kInterrupted));
}

}  // namespace

void InstallInterruptHandler() {
  struct sigaction action{};
  action.sa_handler = HandleSignal;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    ::sigaction(signal, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

const std::atomic<bool>& Interrupted() { return interrupted; }

}  // namespace parity
