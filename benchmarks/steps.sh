#!/usr/bin/env bash
# Measures training steps and inference of two models by tensors beside PyTorch, eager and compiled, the
# time to the first step, memory, and the building of graphs; prints the tables of benchmarks/results/steps.md.
#   benchmarks/steps.sh [--quick] [--update] [--preset=NAME] [--only=TEXT,...] [--peers=NAME,...]
#                       [--threads=N] [--seconds=S] [--results=FOLDER] [--no-build] [--list]
# --update writes benchmarks/results/steps.md and benchmarks/results/DATE-HOST-steps. --peers= is zyx alone, whose
# results are then compared with nothing. Python and PyTorch are those of benchmarks/cpu.sh.
set -euo pipefail
source "$(dirname "$0")/../utils/lib.sh"

preset=release build=yes options=()
for option in "$@"; do
  case $option in
    --update)
      host=$(uname -m)-$(nproc)
      options+=("--update=$zyx_root/benchmarks/results/steps.md"
        "--results=$zyx_root/benchmarks/results/$(date -u +%Y-%m-%d)-$host-steps") ;;
    --preset=*) preset=${option#*=} ;;
    --no-build) build= ;;
    --help | -h) sed -n '2,8s/^# \?//p' "$0"; exit 0 ;;
    *) options+=("$option") ;;
  esac
done
peers=${ZYX_PEERS:-$zyx_root/build/peers}

# Prints to where the tables do not go.
prepare() {
  step "install packages" "$zyx_root/utils/install.sh" --benchmarks
  # Left on, it would make every later build of this folder need oneDNN.
  restore() { cmake -S "$zyx_root" -B "$zyx_root/build/$preset" -DZYX_BUILD_BENCHMARKS=OFF >/dev/null; }
  trap restore EXIT
  step "configure build/$preset" configure "$preset" -DZYX_BUILD_BENCHMARKS=ON
  step "build zyx-bench-steps" build "$preset" zyx-bench-steps ZyxCompiler
  [ -x "$peers/bin/python" ] || {
    python3 -m venv "$peers"
    "$peers/bin/pip" install --quiet --disable-pip-version-check -r "$zyx_root/benchmarks/requirements.txt"
    cp "$zyx_root/benchmarks/requirements.txt" "$peers/requirements.txt"
  }
}
[ -z "$build" ] || prepare >&2
"$peers/bin/python" "$zyx_root/benchmarks/steps" --bench="$zyx_root/build/$preset/bin/zyx-bench-steps" \
  --work="$zyx_root/build/$preset/benchmarks" "${options[@]}"
