#!/usr/bin/env bash
# Measures zyx beside OpenBLAS and oneDNN: one process, one thread on one core, interleaved.
#   benchmarks/run.sh [--rounds=N] [--update]
# Writes every sample to build/release/benchmarks/result.json and prints the table; --update writes
# it to docs/performance.md too.
set -euo pipefail
source "$(dirname "$0")/../utils/lib.sh"

rounds=60 update=()
for option in "$@"; do
  case $option in
    --rounds=*) rounds=${option#*=} ;;
    --update) update=(--update "$zyx_root/docs/performance.md") ;;
    --help | -h) sed -n '2,5s/^# \?//p' "$0"; exit 0 ;;
    *) echo "run.sh: unknown option $option" >&2; exit 2 ;;
  esac
done
bin=$zyx_root/build/release/bin
out=$zyx_root/build/release/benchmarks

# The same thread for all: no library starts a pool, and none is moved to another core.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 DNNL_VERBOSE=0
core=$(taskset -cp $$ | sed 's/.*[ ,-]//')

measure() {
  taskset -c "$core" "$bin/zyx-bench" "$zyx_root/benchmarks/programs" "$rounds" >"$out/samples.json"
}

step "install packages" "$zyx_root/utils/install.sh" --benchmarks
# Left on, it would make every later build of this folder need OpenBLAS and oneDNN.
restore() { cmake -S "$zyx_root" -B "$zyx_root/build/release" -DZYX_BUILD_BENCHMARKS=OFF >/dev/null; }
trap restore EXIT
step "configure build/release" configure release -DZYX_BUILD_BENCHMARKS=ON
step "build zyx-bench" build release zyx-bench
mkdir -p "$out"
step "measure, $rounds rounds on core $core" measure
"$zyx_root/benchmarks/report.py" "$out" "${update[@]}"
