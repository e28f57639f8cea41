#include "tool_run.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace parity {
namespace {

[[noreturn]] void Exec(const std::vector<std::string>& arguments,
                       const ToolOptions& options) {
  for (const auto& [name, value] : options.environment)
    ::setenv(name.c_str(), value.c_str(), 1);
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0)
    ::_exit(125);
  std::string program = PARITY_TOOL;
  std::vector<std::string> words = arguments;
  std::vector<char*> argv = {program.data()};
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  ::_exit(126);
}

// Reads until every descriptor is closed by the other side.
void Drain(std::array<int, 2> descriptors, std::array<std::string*, 2> texts) {
  std::array<pollfd, 2> polls = {
      {{.fd = descriptors[0], .events = POLLIN, .revents = 0},
       {.fd = descriptors[1], .events = POLLIN, .revents = 0}}};
  while (polls[0].fd >= 0 || polls[1].fd >= 0) {
    ::poll(polls.data(), polls.size(), -1);
    for (std::size_t i = 0; i < polls.size(); ++i) {
      if (polls[i].fd < 0 || polls[i].revents == 0) continue;
      std::array<char, 4096> block{};
      const ssize_t count = ::read(polls[i].fd, block.data(), block.size());
      if (count > 0) {
        texts[i]->append(block.data(), static_cast<std::size_t>(count));
      } else {
        polls[i].fd = -1;
      }
    }
  }
}

int ExitCode(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Field 4 of /proc/PID/stat, behind the name in parentheses, which may hold
// anything.
pid_t ParentOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return -1;
  const std::size_t end = line.rfind(')');
  if (end == std::string::npos || end + 4 >= line.size()) return -1;
  return static_cast<pid_t>(std::strtol(line.c_str() + end + 4, nullptr, 10));
}

}  // namespace

ToolRun RunTool(const std::vector<std::string>& arguments,
                const ToolOptions& options) {
  return StartedTool(arguments, options).Finish();
}

ToolRun RunToolOnTerminal(const std::vector<std::string>& arguments,
                          const ToolOptions& options) {
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) Exec(arguments, options);
  ToolRun run;
  std::string nothing;
  Drain({terminal, -1}, {&run.out, &nothing});
  ::close(terminal);
  run.exit_code = ExitCode(pid);
  return run;
}

StartedTool::StartedTool(const std::vector<std::string>& arguments,
                         const ToolOptions& options) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 ||
      ::pipe2(err.data(), O_CLOEXEC) != 0)
    std::abort();
  pid_ = ::fork();
  if (pid_ == 0) {
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    Exec(arguments, options);
  }
  ::close(out[1]);
  ::close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

StartedTool::~StartedTool() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (out_ >= 0) ::close(out_);
  if (err_ >= 0) ::close(err_);
}

ToolRun StartedTool::Finish() {
  ToolRun run;
  Drain({out_, err_}, {&run.out, &run.err});
  run.exit_code = ExitCode(pid_);
  pid_ = -1;
  return run;
}

std::vector<pid_t> StartedTool::Descendants() const {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (!std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    const auto pid = static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10));
    for (pid_t ancestor = ParentOf(pid); ancestor > 1;
         ancestor = ParentOf(ancestor)) {
      if (ancestor != pid_) continue;
      found.push_back(pid);
      break;
    }
  }
  return found;
}

bool IsAlive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  const std::size_t end = line.rfind(')');
  return end != std::string::npos && line.size() > end + 2 &&
         line[end + 2] != 'Z';
}

TestFolder::TestFolder() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "onnx-parity-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) std::abort();
  path_ = pattern;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TestFolder::Entries() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace parity
