#!/usr/bin/env bash
#SBATCH --job-name=onnx-parity
#SBATCH --array=1-4
#SBATCH --requeue
#SBATCH --open-mode=append
# One sweep as a Slurm job array: every task runs its share of the rows and keeps them in a journal of its own. The same command,
# whether queued again or submitted again, continues where the journal ends. See docs/slurm.md.
#
#   sbatch [--array=1-N] slurm_sweep.sh [MODEL.onnx] FLAG…
set -euo pipefail

task=${SLURM_ARRAY_TASK_ID:?submit this script with sbatch, as a job array}
# The count is that of this submission: to submit single tasks again, say how many shards the sweep has (SHARDS=4 sbatch --array=3 …).
shards=${SHARDS:-$SLURM_ARRAY_TASK_COUNT}

mkdir -p journals
# exec: Slurm's signals reach the tool itself, which then ends in order.
exec onnx-parity sweep "$@" --shard "$task/$shards" --journal "journals/shard-$task.jsonl" --cache "${SCRATCH:-$PWD}/onnx-parity"
