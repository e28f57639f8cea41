#include "diagnose/repro.h"

#include <algorithm>
#include <filesystem>
#include <format>
#include <string>
#include <string_view>

#include "base/file_mapping.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "diagnose/culprit.h"
#include "diagnose/investigation.h"
#include "diagnose/repro_folder.h"
#include "formats/onnx/onnx_test_data.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"
#include "parity/validation.h"
#include "parity/version.h"

namespace parity {
namespace {

constexpr std::string_view kModelName = "model.onnx";
constexpr std::string_view kSetName = "test_data_set_0";

// For a POSIX shell.
std::string Quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=+-:,";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

class ReproWriter {
 public:
  ReproWriter(const ReproQuestion& question, const Culprit& culprit)
      : question_(question),
        culprit_(culprit),
        error_(MeasureReplay(culprit.expected, culprit.actual,
                             WorkingRoundoff(question.model.graph))) {}

  Status Write(const std::filesystem::path& folder) const {
    PARITY_RETURN_IF_ERROR(WriteTestDataSet(
        {.inputs = culprit_.inputs, .outputs = culprit_.expected},
        folder / kSetName));
    PARITY_ASSIGN_OR_RETURN(AtomicFile readme,
                            AtomicFile::Create(folder / "README.md"));
    PARITY_RETURN_IF_ERROR(readme.Write(Readme()));
    return readme.Commit();
  }

  // "the node /Resize", "4 nodes that end in /Resize", "the whole model".
  [[nodiscard]] std::string Content() const {
    if (culprit_.nodes.empty()) return "the whole model";
    if (culprit_.nodes.size() == 1)
      return std::format("the node {}", Printable(culprit_.nodes.front()));
    return std::format("{} nodes that end in {}", culprit_.nodes.size(),
                       Printable(question_.finding.node));
  }

 private:
  [[nodiscard]] std::string ReplayCommand() const {
    const RuntimeOptions& runtime = question_.options.runtime;
    const RuntimeOptions usual;
    std::string command = std::format("onnx-parity validate {} --recorded {}",
                                      kModelName, kSetName);
    const auto add = [&](std::string_view flag, std::string_view value) {
      command += std::format(" {} {}", flag, Quoted(value));
    };
    if (!runtime.library.empty())
      add("--runtime-library", runtime.library.string());
    if (!runtime.provider.empty() && runtime.provider != usual.provider)
      add("--provider", runtime.provider);
    if (runtime.optimization != usual.optimization)
      add("--optimization", runtime.optimization);
    if (runtime.threads != usual.threads)
      add("--threads", std::to_string(runtime.threads));
    if (question_.options.strict_ties) command += " --strict-ties";
    AddLimits(add);
    return command;
  }

  // Those of the validation where they show the fault, else one that does.
  template <class Add>
  void AddLimits(const Add& add) const {
    const ValidationOptions& options = question_.options;
    if (!error_.broken && !FailsUsualLimits()) {
      add("--atol", std::format("{:.2g}", error_.max_error / 2));
      return;
    }
    const Tolerance usual;
    if (options.tolerance.atol != usual.atol)
      add("--atol", std::format("{}", options.tolerance.atol));
    if (options.tolerance.rtol != usual.rtol)
      add("--rtol", std::format("{}", options.tolerance.rtol));
    for (const NamedTensor& output : culprit_.expected) {
      const Tolerance own = LimitsOf(output.name);
      if (own.atol != options.tolerance.atol)
        add("--atol", std::format("{}={}", output.name, own.atol));
      if (own.rtol != options.tolerance.rtol)
        add("--rtol", std::format("{}={}", output.name, own.rtol));
    }
  }

  [[nodiscard]] Tolerance LimitsOf(const std::string& output) const {
    const ValidationOptions& options = question_.options;
    Tolerance limits = options.tolerance;
    const auto atol = options.output_atol.find(output);
    if (atol != options.output_atol.end()) limits.atol = atol->second;
    const auto rtol = options.output_rtol.find(output);
    if (rtol != options.output_rtol.end()) limits.rtol = rtol->second;
    return limits;
  }

  [[nodiscard]] bool FailsUsualLimits() const {
    return std::ranges::any_of(
        culprit_.expected, [&](const NamedTensor& output) {
          const Tensor* const actual = FindTensor(culprit_.actual, output.name);
          if (actual == nullptr) return true;
          const Result<Comparison> comparison = Compare(
              output.tensor.view(), actual->view(), LimitsOf(output.name));
          return !comparison || comparison->mismatch_count > 0;
        });
  }

  [[nodiscard]] std::string What() const {
    const std::string origin =
        Printable(question_.options.model.filename().string());
    const std::string case_name = Printable(question_.subject.name);
    std::string text = std::format("`{}` is ", kModelName);
    if (culprit_.nodes.empty()) {
      text += std::format("the whole of the original `{}`, since {}.", origin,
                          Printable(culprit_.why_whole));
      if (!question_.finding.node.empty())
        text += std::format(" The node to look at is `{}` ({}).",
                            Printable(question_.finding.node),
                            Printable(question_.finding.op));
      text += std::format(" `{}` holds the inputs of the case {}", kSetName,
                          case_name);
    } else {
      for (const std::string& node : culprit_.nodes) {
        text +=
            std::format("{}`{}`", node == culprit_.nodes.front() ? "" : ", ",
                        Printable(node));
      }
      text += std::format(
          ", cut out of the original `{}` with the constants used. `{}` holds "
          "the values that the runtime itself had there in the case {}",
          origin, kSetName, case_name);
    }
    return text + (culprit_.expected_is_float64
                       ? ", and as outputs what float64 arithmetic gives for "
                         "them, rounded to the outputs' types.\n"
                       : ", and as outputs what the reference gave for "
                         "them.\n");
  }

  [[nodiscard]] std::string Measured() const {
    if (error_.broken)
      return std::format(
          "a difference that no tolerance excuses (shape, type, NaN or "
          "infinity); the largest other one is {}",
          Text(error_.max_error));
    return std::format("largest difference {}", Text(error_.max_error));
  }

  [[nodiscard]] std::string Readme() const {
    const Finding& finding = question_.finding;
    const ValidationResult& result = question_.result;
    std::string text = std::format(
        "# {}\n\n{}\nTo see it fail (exit code 1 as long as the fault is "
        "there), in this folder:\n\n    {}\n\n",
        Printable(finding.message), What(), ReplayCommand());
    const auto add = [&](std::string_view name, std::string_view value) {
      if (!value.empty())
        text += std::format("- {}: {}\n", name, Printable(value));
    };
    add("cause",
        std::format(
            "{} ({})", Name(finding.cause),
            finding.confidence == Confidence::kCertain ? "certain" : "likely"));
    add("node", finding.node);
    add("operator", finding.op);
    add("module", finding.module);
    add("case", finding.case_name);
    add("when this was written", Measured());
    for (const Evidence& evidence : finding.evidence)
      add(evidence.name, evidence.value);
    text += "\n";
    add("onnx-parity", Version());
    add("reference", result.reference.version);
    add("candidate",
        std::format("{}, {}, optimization {}", result.candidate.version,
                    question_.options.runtime.provider,
                    question_.options.runtime.optimization));
    add("found in", std::format("{}, SHA-256 {}",
                                question_.options.model.filename().string(),
                                result.model_sha256));
    return text;
  }

  const ReproQuestion& question_;
  const Culprit& culprit_;
  ReplayError error_;
};

}  // namespace

Result<std::string> WriteRepro(const ReproQuestion& question,
                               ReproFolder& folder) {
  const Cause cause = question.finding.cause;
  if (cause == Cause::kReference || cause == Cause::kRounding)
    return Fail(ErrorCode::kUnsupported, "the ONNX file is not at fault");
  const CulpritQuestion asked{.finding = question.finding,
                              .subject = question.subject,
                              .model = question.model,
                              .lab = question.lab};
  PARITY_ASSIGN_OR_RETURN(const Culprit culprit,
                          WriteCulprit(asked, folder.partial() / kModelName));
  const ReproWriter writer(question, culprit);
  PARITY_RETURN_IF_ERROR(writer.Write(folder.partial()));
  PARITY_RETURN_IF_ERROR(folder.Commit());
  return writer.Content();
}

}  // namespace parity
