#include "cli/reference_flags.h"

#include <CLI/CLI.hpp>
#include <string>

#include "cli/network_flags.h"
#include "cli/validation_flags.h"
#include "parity/validation.h"

namespace parity {

void AddReferenceFlags(CLI::App& command, ValidationFlags& flags) {
  const std::string reference =
      "Reference (none: the built-in network the file says it was exported "
      "from)";
  ReferenceOptions& options = flags.options.reference;
  CLI::Option* const checkpoint =
      command
          .add_option(
              "--checkpoint,--model-checkpoint", options.checkpoint,
              "state_dict of the built-in network, as torch.save wrote it")
          ->group(reference)
          ->type_name("FILE");
  CLI::Option* const torchscript =
      command
          .add_option("--torchscript", options.torchscript,
                      "TorchScript archive")
          ->group(reference)
          ->type_name("FILE");
  command
      .add_option("--attribute", flags.attributes,
                  "Attribute of the TorchScript module to set: "
                  "refine_mode=full; may be repeated")
      ->group(reference)
      ->expected(1)
      ->take_all()
      ->needs(torchscript)
      ->type_name("NAME=VALUE");
  command
      .add_option("--reference-outputs", options.output_names,
                  "Names for what the TorchScript module returns, in order: "
                  "pha,fgr,…; outputs are then compared by name")
      ->group(reference)
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->needs(torchscript)
      ->type_name("NAME,…");
  command
      .add_option("--recorded", options.recorded,
                  "Recorded inputs and outputs: .safetensors, .npz or a "
                  "test_data_set folder")
      ->group(reference)
      ->excludes(checkpoint)
      ->excludes(torchscript)
      ->type_name("FILE");
  checkpoint->excludes(torchscript);
  command
      .add_option("--synthetic-seed", options.synthetic_seed,
                  "Built-in network with synthetic weights of this seed")
      ->group(reference)
      ->excludes(checkpoint)
      ->excludes(torchscript)
      ->type_name("N");
  command
      .add_flag("--allow-missing-keys", options.allow_missing_keys,
                "Go on when the checkpoint's keys are not the network's")
      ->group(reference)
      ->needs(checkpoint);
  AddNetworkFlags(command, options.network_config);
}

}  // namespace parity
