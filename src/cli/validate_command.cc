#include "cli/validate_command.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/reference_flags.h"
#include "cli/validation_flags.h"
#include "cli/validation_run.h"
#include "parity/error.h"

namespace parity {

void AddValidateCommand(CLI::App& app,
                        const std::vector<std::string>& command_line,
                        std::function<Result<ExitCode>()>& run) {
  CLI::App* const command =
      app.add_subcommand("validate",
                         "Run an ONNX file and its PyTorch original on the "
                         "same inputs and compare every output");
  const auto flags = std::make_shared<ValidationFlags>();
  command->add_option("model", flags->options.model, "The ONNX file")
      ->required()
      ->type_name("MODEL.onnx");

  AddReferenceFlags(*command, *flags);

  AddValidationFlags(*command, *flags);
  command->callback([flags, &command_line, &run] {
    run = [flags, &command_line] {
      return RunValidation(*flags, command_line);
    };
  });
}

}  // namespace parity
