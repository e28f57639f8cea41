// An npm client that knows the packages it was given, for tests: a shell script
// in a folder of its own, named by ONNX_PARITY_NPM while this object lives.
#ifndef PARITY_RUNTIMES_TESTING_FAKE_NPM_H_
#define PARITY_RUNTIMES_TESTING_FAKE_NPM_H_

#include <string>
#include <string_view>

namespace parity {

class FakeNpm {
 public:
  FakeNpm();
  ~FakeNpm();
  FakeNpm(const FakeNpm&) = delete;
  FakeNpm& operator=(const FakeNpm&) = delete;

  // A version with its package and the integrity it really has.
  void Publish(const std::string& version, std::string_view package) const;
  void SetIntegrity(const std::string& version,
                    std::string_view integrity) const;
  // From now on every call fails as npm does, with this code.
  void FailWith(std::string_view code, std::string_view summary) const;
  // `pack` takes this long.
  void SetPackSeconds(std::string_view seconds) const;
  // Answers for unknown versions are empty, as those of npm 8.
  void BeOld() const;
  // How often a subcommand was called.
  [[nodiscard]] int Calls(std::string_view subcommand) const;

  // A folder for the test's own files, removed with this object.
  [[nodiscard]] std::string operator/(std::string_view name) const;

 private:
  std::string folder_;
};

}  // namespace parity

#endif  // PARITY_RUNTIMES_TESTING_FAKE_NPM_H_
