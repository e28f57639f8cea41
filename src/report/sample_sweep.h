// A small sweep for the tests of every exporter.
#ifndef PARITY_REPORT_SAMPLE_SWEEP_H_
#define PARITY_REPORT_SAMPLE_SWEEP_H_

#include "parity/diagnosis.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/testing/sample_rows.h"

namespace parity {

// One row that passed, one that ran on the CPU only, one that is wrong, two
// that crashed.
[[nodiscard]] inline SweepResult SampleSweep() {
  SweepRow idle = SampleRow(2);
  idle.axes[2].value = "XnnpackExecutionProvider";
  idle.provider_nodes = {{"CPUExecutionProvider", 263}};
  SweepRow wrong = SampleRow(3);
  wrong.axes[1].value = "unfold";
  wrong.verdict = Verdict::kFailed;
  wrong.cause = Cause::kProvider;
  wrong.message = "pha differs by 0.213 (limit 0.005) (case standard)";
  wrong.worst_difference = 0.213;
  return {.plan = "00ff",
          .title = "crop × provider",
          .row_count = 6,
          .shard = {},
          .rows = {SampleRow(1), idle, CrashedRow(0), CrashedRow(5), wrong},
          .resumed = 1,
          .notes = {"oneDNN convolutions are wrong on this machine"},
          .total_ms = 61'230};
}

}  // namespace parity

#endif  // PARITY_REPORT_SAMPLE_SWEEP_H_
