// Runs the real program and keeps what it said.
#ifndef PARITY_TESTS_E2E_TOOL_RUN_H_
#define PARITY_TESTS_E2E_TOOL_RUN_H_

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace parity {

struct ToolRun {
  int exit_code = -1;  // 128 + signal when it was killed
  std::string out;
  std::string err;
};

struct ToolOptions {
  std::map<std::string, std::string> environment;  // added to this process's
  std::filesystem::path folder;  // to run in; empty = this process's
};

// Runs `onnx-parity arguments…` to its end, with nothing on standard input.
[[nodiscard]] ToolRun RunTool(const std::vector<std::string>& arguments,
                              const ToolOptions& options = {});

// The same on a pseudo-terminal: standard output and error arrive together in
// `out`.
[[nodiscard]] ToolRun RunToolOnTerminal(
    const std::vector<std::string>& arguments, const ToolOptions& options = {});

// A tool that was started and not waited for. `Finish` waits.
class StartedTool {
 public:
  StartedTool(const std::vector<std::string>& arguments,
              const ToolOptions& options);
  ~StartedTool();
  StartedTool(const StartedTool&) = delete;
  StartedTool& operator=(const StartedTool&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Processes whose ancestor is the tool.
  [[nodiscard]] std::vector<pid_t> Descendants() const;
  [[nodiscard]] ToolRun Finish();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

// True while the process exists and is no zombie.
[[nodiscard]] bool IsAlive(pid_t pid);

// A fresh folder for one test, removed with the object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }
  // Names of all entries, sorted.
  [[nodiscard]] std::vector<std::string> Entries() const;

 private:
  std::filesystem::path path_;
};

}  // namespace parity

#endif  // PARITY_TESTS_E2E_TOOL_RUN_H_
