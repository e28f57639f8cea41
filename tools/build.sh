#!/usr/bin/env bash
# Configures and builds a CMake preset: tools/build.sh dev|release|asan|bench. Runs inside the environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
[ "$preset" != bench ] || preset=dev
# A cache made for another compiler or root is of no use; ninja rebuilds what changed otherwise.
log=build/$preset/configure.log
mkdir -p "build/$preset"
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  exit 2
fi
cmake --build --preset "$preset" -- ${JOBS:+-j "$JOBS"}
