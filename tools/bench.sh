#!/usr/bin/env bash
# Runs every benchmark of the dev build: tools/bench.sh. Runs inside the environment, on an otherwise idle machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build/dev/bench/compare_bench --benchmark_min_time=0.5s
build/dev/bench/tool_bench
