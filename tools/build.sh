#!/usr/bin/env bash
# Configures and builds a CMake preset: tools/build.sh dev|release|asan|bench. Runs inside the environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
[ "$preset" != bench ] || preset=dev
# Checkouts in other folders share what ccache holds.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
log=build/$preset/configure.log
mkdir -p "build/$preset"
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  exit 2
fi
cmake --build --preset "$preset" -- ${JOBS:+-j "$JOBS"}
