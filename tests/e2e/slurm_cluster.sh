#!/usr/bin/env bash
# Runs a command beside a Slurm cluster of its own: one node with two processors, gone when the command is.
#
#   slurm_cluster.sh FOLDER CMD ARG…
#
# CMD finds the cluster through SLURM_CONF. Exit code: that of CMD; 2 for wrong usage; 77 where there can be no cluster, with one line that says
# why on standard error, after the daemons' last words if they had any. FOLDER must be empty or not exist; its path must do without blanks.
#
# Nothing outlives the command, however this script ends (killed, it leaves FOLDER, empty). Daemons, jobs and CMD live in process, network,
# mount and host-name spaces of their own: when the first process there ends, the kernel kills the others; ports are visible only inside, so
# clusters side by side do not meet (and CMD has no network but the loopback device); and the daemons' state is in memory, mounted for
# them alone on FOLDER and on /run.
set -euo pipefail

readonly start_limit_s=20

skip() { printf 'slurm_cluster: %s\n' "$1" >&2; exit 77; }
misuse() { printf 'slurm_cluster: %s\nusage: slurm_cluster.sh FOLDER CMD ARG…\n' "$1" >&2; exit 2; }

# Brings "lo" up and gives it a second address, 127.0.0.2: the daemons listen on "any address", which glibc resolves (AI_ADDRCONFIG) only
# where there is one besides 127.0.0.1. In perl because every Debian has it, unlike ip. 0x8914 is SIOCSIFFLAGS, 0x8916 SIOCSIFADDR.
set_up_loopback() {
  perl -e 'socket(S, 2, 2, 0) and ioctl(S, 0x8914, $_ = pack("a16 s x22", "lo", 1)) and
           ioctl(S, 0x8916, $_ = pack("a16 S n C4 x16", "lo:1", 2, 0, 127, 0, 0, 2)) or die "loopback: $!\n"'
}

# Slurm's own authentication needs a key beside slurm.conf, but no munge daemon. cred_expire is also how long a task that was queued again
# waits before it starts (default: 120 s). config_overrides: two jobs at a time, whatever the machine has.
write_configuration() {
  local folder=$1
  (umask 077 && head -c 1024 /dev/urandom >"$folder/slurm.key")
  echo 'CgroupPlugin=disabled' >"$folder/cgroup.conf"
  mkdir "$folder/state" "$folder/spool"
  cat >"$folder/slurm.conf" <<END
ClusterName=parity
SlurmctldHost=parity(127.0.0.1)
SlurmUser=root
AuthType=auth/slurm
AuthInfo=cred_expire=10
CredType=auth/slurm
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=parity NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=parity Default=YES MaxTime=INFINITE State=UP
END
}

refuse() {
  tail -n 5 "$1/slurmctld.out" "$1/slurmd.out" >&2 || true
  skip "$2"
}

start_daemons() {
  local folder=$1 controller node deadline
  slurmctld -D -i >"$folder/slurmctld.out" 2>&1 </dev/null &
  controller=$!
  slurmd -D >"$folder/slurmd.out" 2>&1 </dev/null &
  node=$!
  deadline=$((SECONDS + start_limit_s))
  until [ "$(timeout 2 sinfo --noheader --format=%T 2>/dev/null)" = idle ]; do
    kill -0 "$controller" 2>/dev/null || refuse "$folder" "slurmctld ended instead of serving"
    kill -0 "$node" 2>/dev/null || refuse "$folder" "slurmd ended instead of serving"
    [ "$SECONDS" -lt "$deadline" ] || refuse "$folder" "the node is not idle after $start_limit_s s"
    sleep 0.1
  done
}

# As the first process of the namespaces.
serve() {
  local folder=$1
  shift
  hostname parity || skip "the host name cannot be set"
  set_up_loopback || skip "the loopback device cannot be set up"
  mount -t tmpfs -o mode=700 slurm "$folder" || skip "no file system can be mounted on $folder"
  # The sockets of auth/slurm have fixed places in /run, where clusters side by side would take them from each other.
  mkdir "$folder/run"
  mount --bind "$folder/run" /run || skip "/run cannot be covered"
  write_configuration "$folder"
  export SLURM_CONF=$folder/slurm.conf
  start_daemons "$folder"
  "$@"
}

check_host() {
  local program
  for program in slurmctld slurmd sbatch sinfo perl hostname unshare setpriv; do
    command -v "$program" >/dev/null || skip "$program is not installed"
  done
  [ "$(id -u)" -eq 0 ] || skip "only root can start a cluster"
  "${spaces[@]}" true 2>/dev/null || skip "new namespaces are not permitted here"
}

# shellcheck disable=SC2317  # called by trap
# On a signal the first process is killed, and its parent waits for the end of all the others.
finish() {
  local first
  if [ -n "$cluster" ]; then
    first=$(cat "/proc/$cluster/task/$cluster/children" 2>/dev/null) || true
    # shellcheck disable=SC2086  # one number and a blank
    kill -KILL ${first:-$cluster} 2>/dev/null || true
    wait "$cluster" 2>/dev/null || true
  fi
  [ -z "$made" ] || rmdir "$folder"
}

PATH=$PATH:/usr/sbin:/sbin
if [ "${1:-}" = --serve ]; then
  shift
  serve "$@"
  exit
fi

spaces=(unshare --mount --pid --net --uts --fork --kill-child --mount-proc)
[ $# -ge 2 ] || misuse "two arguments or more are needed"
check_host
folder=$(realpath -m -- "$1")
shift
[[ $folder != *[[:space:]\#\"]* ]] || misuse "slurm.conf cannot name '$folder'"
[[ $folder/ != /run/* ]] || misuse "/run is the cluster's own, FOLDER must be elsewhere"
cluster='' made=''
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
if [ ! -d "$folder" ]; then
  mkdir -p -- "$folder"
  made=yes
fi
[ -z "$(ls -A -- "$folder")" ] || misuse "$folder is not empty"

# In the background, so that signals are answered at once. Should this script be killed, the kernel kills unshare, and with it the rest.
setpriv --pdeathsig KILL "${spaces[@]}" bash "${BASH_SOURCE[0]}" --serve "$folder" "$@" <&0 &
cluster=$!
status=0
wait "$cluster" || status=$?
cluster=''
exit "$status"
