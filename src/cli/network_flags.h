// The --model-… flags, named as the published scripts name them.
#ifndef PARITY_CLI_NETWORK_FLAGS_H_
#define PARITY_CLI_NETWORK_FLAGS_H_

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace parity {

// Flags that are given fill `config` under the keys of
// networks/matting_config.h; others leave it alone.
void AddNetworkFlags(CLI::App& command,
                     std::map<std::string, std::string>& config);

}  // namespace parity

#endif  // PARITY_CLI_NETWORK_FLAGS_H_
