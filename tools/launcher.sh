#!/usr/bin/env bash
# ./onnx-parity: the tool as built by `make`, on any host. Keeps the caller's folder and arguments.
here=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
exec "$here/tools/environment.sh" run "$here/build/release/bin/onnx-parity" "$@"
