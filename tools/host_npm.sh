#!/bin/sh
# The host's npm client, run from inside the private Debian 13 root, which has none. The root covers the host's /usr
# (tools/environment.sh); here, in one more mount namespace below the root's, those covers are taken off again. They
# stay where they are for everyone else, and nothing is mounted anywhere.
#
# tools/environment.sh names this file in ONNX_PARITY_NPM and tells it what to run: ONNX_PARITY_HOST_NPM, found on
# ONNX_PARITY_HOST_PATH.
set -eu
: "${ONNX_PARITY_HOST_PATH:?host_npm.sh is for the private Debian 13 root only}"

# shellcheck disable=SC2016  # expanded by the inner shell
exec unshare --mount --propagation private -- /bin/sh -c '
  covers=
  for path in /usr /etc/ld.so.cache /etc/alternatives; do
    if cut -d" " -f5 /proc/self/mountinfo | grep -qxF "$path"; then covers="$covers $path"; fi
  done
  # All at once: afterwards the programs here are the host'"'"'s. Lazily: this shell still runs from there.
  [ -z "$covers" ] || umount -l $covers || exit 126
  cd "$PWD"
  PATH=$ONNX_PARITY_HOST_PATH
  export PATH
  exec "${ONNX_PARITY_HOST_NPM:-npm}" "$@"' sh "$@"
