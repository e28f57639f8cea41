// Which export of a checkpoint to ship: sweep_network MODEL.pth CACHE_FOLDER
#include <parity/sweep.h>

#include <cstdio>
#include <print>

#include "parity/error.h"
#include "parity/validation.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::println(stderr, "usage: sweep_network MODEL.pth CACHE_FOLDER");
    return 2;
  }
  parity::SweepOptions options;
  options.validation.reference.checkpoint = argv[1];
  options.validation.cases.only = {"image"};
  options.axes.provider = {"cpu"};
  options.cache = argv[2];
  const parity::Result<parity::SweepResult> sweep = parity::Sweep(options);
  if (!sweep) {
    std::println(stderr, "could not tell: {}", sweep.error().message);
    return 2;
  }
  for (const parity::SweepRow& row : sweep->rows) {
    std::println("{} {}: {} {:.1f} ms", row.Axis("crop"), row.Axis("replace"),
                 Name(row.verdict), row.steady_run_ms.value_or(0));
  }
  const parity::SweepRow* const best = sweep->recommended();
  if (best == nullptr) return 1;
  std::println("{}", best->command);
  return 0;
}
