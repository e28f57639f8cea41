// The flags of a sweep.
#ifndef PARITY_CLI_SWEEP_FLAGS_H_
#define PARITY_CLI_SWEEP_FLAGS_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>

#include "cli/validation_flags.h"
#include "parity/error.h"
#include "parity/sweep.h"

namespace parity {

// Texts as the user gave them; ToSweepOptions() gives them their meaning.
struct SweepFlags {
  ValidationFlags validation;
  SweepAxes axes;
  int repeats = 5;
  std::string shard;  // "2/5"
  std::filesystem::path journal;
  bool restart = false;  // forget what the journal has
};

// Axes, reference, cases, verdict, limits, journal; not the output files.
void AddSweepFlags(CLI::App& command, SweepFlags& flags);

// Errors: kInvalidArgument naming the flag and what it takes; those of the
// cache folder and of installed runtimes.
[[nodiscard]] Result<SweepOptions> ToSweepOptions(const SweepFlags& flags);

// "2/5". Errors: kInvalidArgument.
[[nodiscard]] Result<Shard> ParseShard(const std::string& text);

}  // namespace parity

#endif  // PARITY_CLI_SWEEP_FLAGS_H_
