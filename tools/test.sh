#!/usr/bin/env bash
# Runs the tests of a CMake preset: tools/test.sh dev|asan. Runs inside the environment.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ctest --preset "$1" --no-tests=error -j "$(nproc)" --progress "${@:2}"
status=$?
exit $status
