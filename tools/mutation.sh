#!/usr/bin/env bash
# Plants faults in correct models and looks for them with the whole tool of the dev build: tools/mutation.sh [flags of mutation_run].
# Runs inside the environment; takes a quarter of an hour on two idle cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build/dev/tests/mutation/mutation_run --json build/dev/mutation.json "$@"
