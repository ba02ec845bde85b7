#!/bin/bash
# On a machine with a Hopper GPU and CUDA's compiler: benchmarks/hopper/run.sh [FOLDER=build/hopper].
# FOLDER is what build.sh wrote, here or elsewhere. Compiles the harness, runs it, prints its table and
# writes hopper.json to $OUT (FOLDER where unset). Takes about two minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=${1:-build/hopper} out=${OUT:-${1:-build/hopper}}
export PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "run.sh: no nvcc in PATH or /usr/local/cuda/bin" >&2; exit 1; }
for name in gemm attention; do
  [ -f "$folder/$name.cubin" ] || { echo "run.sh: no $folder/$name.cubin; run build.sh first" >&2; exit 1; }
done
harness=$(mktemp -d)
trap 'rm -rf "$harness"' EXIT
nvcc -O2 -std=c++17 -arch=sm_90a benchmarks/hopper/harness.cu -o "$harness/harness" -lcuda -lcublas
mkdir -p "$out"
"$harness/harness" "$folder" "$out/hopper.json" "$(cat "$folder/commit")" | tee "$out/hopper.txt"
