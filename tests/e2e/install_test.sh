#!/usr/bin/env bash
# The installed tree works after it has been moved: the program starts and finds its workers, the man page and completions are
# there, and a project of its own builds on find_package(onnx-parity). Usage: install_test.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
tree=$work/moved

"$tree/bin/onnx-parity" --version
for file in share/man/man1/onnx-parity.1 share/bash-completion/completions/onnx-parity share/zsh/site-functions/_onnx-parity \
  share/fish/vendor_completions.d/onnx-parity.fish include/parity/validation.h; do
  test -s "$tree/$file" || { echo "missing: $file"; exit 1; }
done
bash -n "$tree/share/bash-completion/completions/onnx-parity"
if grep -rqF "$source" "$tree/lib/cmake"; then
  echo "the CMake files name the source folder"
  exit 1
fi

cmake -S "$source/examples" -B "$work/examples" -G Ninja -DCMAKE_PREFIX_PATH="$tree" >"$work/configure.log" || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/examples" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
status=0
"$work/examples/examples/compare_tensors" || status=$?
test "$status" -eq 1 || { echo "compare_tensors ended with $status, not 1"; exit 1; }

if [ -x "$tree/libexec/onnx-parity/onnx-parity-ort" ] && [ -x "$tree/libexec/onnx-parity/onnx-parity-torch" ]; then
  "$tree/bin/onnx-parity" export --model-type mattingbase --output "$work/model.onnx" --validate --shape src=1x3x64x96
  "$work/examples/examples/run_model" "$work/model.onnx" src=1x3x32x32 bgr=1x3x32x32 | tee "$work/run.log"
  grep -q 'pha: float32 1x1x32x32' "$work/run.log"
fi
