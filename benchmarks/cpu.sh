#!/usr/bin/env bash
# Measures zyx on this machine's processor beside other libraries, on 1 and 2 threads, and prints the
# table of benchmarks/results/cpu.md. Each contender is a process of its own; they take turns.
#   benchmarks/cpu.sh [--quick] [--update] [--preset=NAME] [--only=TEXT,...] [--peers=NAME,...]
#                     [--threads=1,2] [--seconds=S] [--results=FOLDER] [--list]
#                     [--write-programs=FOLDER]
# --update writes benchmarks/results/cpu.md and benchmarks/results/DATE-HOST-cpu. --peers= is zyx alone.
# Python peers come from PyPI (benchmarks/requirements.txt, 6 GiB) into build/peers, or are used from
# the virtual environment that ZYX_PEERS names; --no-python leaves them out, and --no-build takes all
# as it is.
set -euo pipefail
source "$(dirname "$0")/../utils/lib.sh"

preset=release requirements=requirements.txt build=yes options=()
for option in "$@"; do
  case $option in
    --update)
      host=$(uname -m)-$(nproc)
      options+=("--update=$zyx_root/benchmarks/results/cpu.md"
        "--results=$zyx_root/benchmarks/results/$(date -u +%Y-%m-%d)-$host-cpu") ;;
    --preset=*) preset=${option#*=} ;;
    --no-build) build= ;;
    --no-python) requirements=requirements-driver.txt ;;
    --help | -h) sed -n '2,11s/^# \?//p' "$0"; exit 0 ;;
    *) options+=("$option") ;;
  esac
done
peers=${ZYX_PEERS:-$zyx_root/build/peers}

# What is installed is written down, so that a second run asks no registry.
environment() {
  local wanted=$zyx_root/benchmarks/$requirements
  [ -x "$peers/bin/python" ] || python3 -m venv "$peers"
  if ! cmp -s "$wanted" "$peers/$requirements" && ! cmp -s "$zyx_root/benchmarks/requirements.txt" \
    "$peers/requirements.txt"; then
    "$peers/bin/pip" install --quiet --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$peers/$requirements"
  fi
}

# Prints to where the table does not go.
prepare() {
  step "install packages" "$zyx_root/utils/install.sh" --benchmarks
  # Left on, it would make every later build of this folder need oneDNN.
  restore() { cmake -S "$zyx_root" -B "$zyx_root/build/$preset" -DZYX_BUILD_BENCHMARKS=OFF >/dev/null; }
  trap restore EXIT
  step "configure build/$preset" configure "$preset" -DZYX_BUILD_BENCHMARKS=ON
  step "build zyx-bench and zyx-run" build "$preset" zyx-bench zyx-run
  step "Python packages in $peers" environment
}
[ -z "$build" ] || prepare >&2
"$peers/bin/python" "$zyx_root/benchmarks/cpu" --bench="$zyx_root/build/$preset/bin/zyx-bench" \
  --work="$zyx_root/build/$preset/benchmarks" "${options[@]}"
