#!/usr/bin/env bash
# clang-format and clang-tidy over every source file: tools/lint.sh [--fix] [FILE…]. Runs inside the environment, after
# `tools/build.sh dev`. --fix only formats.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t sources < <(git ls-files '*.h' '*.cc')
if [ "${1:-}" = --fix ]; then
  exec clang-format -i "${sources[@]}"
fi
status=0
echo "lint: clang-format, ${#sources[@]} files"
clang-format --dry-run -Werror "${sources[@]}" || status=1

if [ $# -gt 0 ]; then
  translated=("$@")
else
  mapfile -t translated < <(git ls-files '*.cc' | while read -r file; do grep -qF "/$file\"" build/dev/compile_commands.json && echo "$file"; done)
fi
echo "lint: clang-tidy, ${#translated[@]} files"
# Flags of g++ that clang does not know are no findings.
printf '%s\n' "${translated[@]}" |
  xargs -P "$(nproc)" -n 4 clang-tidy -p build/dev --quiet --extra-arg=-Wno-unknown-warning-option 2>build/dev/clang-tidy.log || status=1
[ $status -eq 0 ] && echo "lint: clean"
exit $status
