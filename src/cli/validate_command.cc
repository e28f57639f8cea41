#include "cli/validate_command.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/network_flags.h"
#include "cli/validation_flags.h"
#include "cli/validation_run.h"
#include "parity/error.h"
#include "parity/validation.h"

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

  const std::string reference =
      "Reference (none: the built-in network the file says it was exported "
      "from)";
  ReferenceOptions& options = flags->options.reference;
  CLI::Option* const checkpoint =
      command
          ->add_option(
              "--checkpoint,--model-checkpoint", options.checkpoint,
              "state_dict of the built-in network, as torch.save wrote it")
          ->group(reference)
          ->type_name("FILE");
  CLI::Option* const torchscript =
      command
          ->add_option("--torchscript", options.torchscript,
                       "TorchScript archive")
          ->group(reference)
          ->type_name("FILE");
  command
      ->add_option("--attribute", flags->attributes,
                   "Attribute of the TorchScript module to set: "
                   "refine_mode=full; may be repeated")
      ->group(reference)
      ->expected(1)
      ->take_all()
      ->needs(torchscript)
      ->type_name("NAME=VALUE");
  command
      ->add_option("--reference-outputs", options.output_names,
                   "Names for what the TorchScript module returns, in order: "
                   "pha,fgr,…; outputs are then compared by name")
      ->group(reference)
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->needs(torchscript)
      ->type_name("NAME,…");
  command
      ->add_option("--recorded", options.recorded,
                   "Recorded inputs and outputs: .safetensors, .npz or a "
                   "test_data_set folder")
      ->group(reference)
      ->excludes(checkpoint)
      ->excludes(torchscript)
      ->type_name("FILE");
  checkpoint->excludes(torchscript);
  command
      ->add_option("--synthetic-seed", options.synthetic_seed,
                   "Built-in network with synthetic weights of this seed")
      ->group(reference)
      ->excludes(checkpoint)
      ->excludes(torchscript)
      ->type_name("N");
  command
      ->add_flag("--allow-missing-keys", options.allow_missing_keys,
                 "Go on when the checkpoint's keys are not the network's")
      ->group(reference)
      ->needs(checkpoint);
  AddNetworkFlags(*command, options.network_config);

  AddValidationFlags(*command, *flags);
  command->callback([flags, &command_line, &run] {
    run = [flags, &command_line] {
      return RunValidation(*flags, command_line);
    };
  });
}

}  // namespace parity
