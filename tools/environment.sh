#!/usr/bin/env bash
# Runs a command where the packages of tools/packages.txt are installed.
#
#   tools/environment.sh setup          make sure they are there (progress on standard error)
#   tools/environment.sh where          print "native" or the folder of the private root
#   tools/environment.sh run CMD ARG…   set up if need be, then replace this process by CMD
#
# On Debian 13 or newer, and wherever every package is already installed, commands run natively: missing
# packages are installed when root, otherwise the one apt line to run is printed (exit 2).
# On any other Linux host the packages live in a private Debian 13 root under ${XDG_CACHE_HOME:-~/.cache}/onnx-parity/,
# named after a hash of the list. It is built beside and renamed into place, so an interrupted set-up is never used.
# A command enters it alone: in a mount namespace of its own, the root's /usr (and the two files of /etc that
# belong to it) cover the host's; every other path keeps its name and content, and nothing stays mounted afterwards.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages=$(grep -v '^#' "$here/packages.txt" | tr '\n' ' ')
suite=trixie
cache="${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/onnx-parity"

say() { printf 'environment: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }

missing_packages() {
  # dpkg-query prints "installed" for each package that is; names with a ${Provides} twin do not occur in the list.
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null | sed -n 's/^installed //p' | sort -u)
  comm -23 <(tr ' ' '\n' <<<"$packages" | sed '/^$/d' | sort -u) <(printf '%s\n' "$installed")
}

is_new_debian() {
  [ -r /etc/os-release ] || return 1
  local id version
  id=$(. /etc/os-release && echo "${ID:-}")
  version=$(. /etc/os-release && echo "${VERSION_ID:-}")
  # Testing and unstable have no VERSION_ID.
  [ "$id" = debian ] && { [ -z "$version" ] || [ "${version%%.*}" -ge 13 ]; }
}

# The host's own Debian mirror; nothing where it has none, and mmdebstrap takes Debian's.
mirror() {
  local found
  found=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    grep -vE '^[[:space:]]*#' | grep -oE '(https?|file)://[^] ]+/debian/?([[:space:]]|$)' | head -n 1 | tr -d '[:space:]') || true
  echo "$found"
}

root_name() {
  local hash
  hash=$({ echo "recipe 1 $suite"; tr ' ' '\n' <<<"$packages"; } | sha256sum | cut -c1-16)
  echo "$cache/debian13-$hash"
}

# Prints the mode of this host, "native" or "root"; sets up nothing.
mode() {
  if [ -n "${ONNX_PARITY_ENVIRONMENT:-}" ] || is_new_debian; then echo native; return; fi
  if command -v dpkg-query >/dev/null && [ -z "$(missing_packages)" ]; then echo native; return; fi
  echo root
}

setup_native() {
  [ -z "${ONNX_PARITY_ENVIRONMENT:-}" ] || return 0
  local missing
  missing=$(missing_packages | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -eq 0 ]; then
    say "installing $missing"
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
  else
    say "packages are missing; run this once, then again what you did:"
    printf 'sudo apt-get install --no-install-recommends %s\n' "$missing" >&2
    exit 2
  fi
}

# Deletes a tree unless something is mounted inside it: a bind mount there would take the host's files along.
remove_tree() {
  [ -e "$1" ] || return 0
  if awk '{print $5}' /proc/self/mountinfo | grep -qF "$1/"; then
    fail "something is mounted below $1; unmount it first, nothing was deleted"
  fi
  rm -rf --one-file-system -- "$1"
}

need_mmdebstrap() {
  command -v mmdebstrap >/dev/null && return 0
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    say "installing mmdebstrap, which makes the private Debian 13 root"
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap debian-archive-keyring >&2
  else
    say "this host is not Debian 13, so a private Debian 13 root is needed, and mmdebstrap makes it; run this once:"
    printf 'sudo apt-get install mmdebstrap debian-archive-keyring\n' >&2
    exit 2
  fi
}

# mmdebstrap mounts /proc, /sys and /dev inside the tree while it works: only ever in a namespace that dies with it.
bootstrap() {
  local target=$1 source list=${packages% } keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  local common=(--variant=apt --aptopt='APT::Install-Recommends "false"' --include="${list// /,}")
  [ -r "$keyring" ] && common+=(--keyring="$keyring")
  source=$(mirror)
  if [ "$(id -u)" -eq 0 ]; then
    unshare --mount --propagation private -- \
      mmdebstrap --mode=root "${common[@]}" "$suite" "$target" ${source:+"$source"} </dev/null >&2
  else
    # An ordinary user's root is built in a user namespace and unpacked with their own ownership.
    mkdir -p "$target"
    mmdebstrap --mode=unshare "${common[@]}" "$suite" - ${source:+"$source"} </dev/null |
      tar -x --no-same-owner -C "$target" --exclude='./dev/*'
  fi
}

setup_root() {
  local root partial
  root=$(root_name)
  [ -d "$root" ] && return 0
  [ -L /bin ] || fail "this host keeps /bin apart from /usr/bin, where the private root cannot be used; use the Dockerfile"
  need_mmdebstrap
  mkdir -p "$cache" || fail "cannot make $cache"
  exec 9>"$cache/setup.lock"
  flock --nonblock 9 || { say "another set-up is at work; waiting for it"; flock 9; }
  [ -d "$root" ] && return 0
  partial="$root.partial"
  remove_tree "$partial"
  say "making a private Debian 13 root in $root (once, about two minutes and 2 GB)"
  # The lock is inherited: should this script be killed, what it started still holds it.
  bootstrap "$partial" || fail "the Debian 13 root could not be made; nothing of it will be used, run the same command to try again"
  mv -T "$partial" "$root"
  exec 9>&-
  say "done"
}

setup() { if [ "$(mode)" = native ]; then setup_native; else setup_root; fi; }

run_in_root() {
  local root=$1 flags=(--mount --propagation private)
  shift
  [ "$(id -u)" -eq 0 ] || flags=(--user --map-current-user --keep-caps "${flags[@]}")
  export ONNX_PARITY_ENVIRONMENT=$root
  # The root has no npm client; the host's, which knows its registry, is reached from inside.
  export ONNX_PARITY_HOST_PATH=$PATH ONNX_PARITY_HOST_NPM=${ONNX_PARITY_NPM:-npm}
  export ONNX_PARITY_NPM=$here/host_npm.sh
  export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  # shellcheck disable=SC2016  # expanded by the inner shell
  exec unshare "${flags[@]}" -- /bin/sh -c '
    root=$1; shift
    for path in /etc/alternatives /etc/ld.so.cache /usr; do
      [ ! -e "$path" ] || mount --bind "$root$path" "$path" || exit 2
    done
    cd "$PWD" && exec "$@"' sh "$root" "$@"
}

case "${1:-}" in
  setup) setup ;;
  where) if [ "$(mode)" = native ]; then echo native; else root_name; fi ;;
  run)
    shift
    [ $# -gt 0 ] || fail "run: no command given"
    if [ "$(mode)" = native ]; then
      setup_native
      exec "$@"
    fi
    setup_root
    run_in_root "$(root_name)" "$@"
    ;;
  *) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
