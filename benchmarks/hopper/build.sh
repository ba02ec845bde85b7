#!/bin/bash
# Builds the cubins of the paper kernels, with zyx-translate and ptxas: benchmarks/hopper/build.sh
# [OUT=build/hopper]. BIN is where zyx-translate lies (build/dev/bin). Fails when ptxas spills or makes
# contractions wait for each other (notes C75xx).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:-build/hopper} bin=${BIN:-build/dev/bin}
export PATH=$PATH:/usr/local/cuda/bin
command -v ptxas >/dev/null || { echo "build.sh: no ptxas in PATH or /usr/local/cuda/bin" >&2; exit 1; }
mkdir -p "$out"
for name in gemm attention; do
  "$bin/zyx-translate" --kernel-to-ptx "test/Dialect/Kernel/paper/$name-hopper.mlir" -o "$out/$name.ptx"
  sed -n "s|^// kernel $name ||p" "$out/$name.ptx" > "$out/$name.launch"
  ptxas -v -arch=sm_90a "$out/$name.ptx" -o "$out/$name.cubin" 2> "$out/$name.ptxas.log"
  grep -E "registers|spill" "$out/$name.ptxas.log" | sed "s/^/$name: /"
  if grep -qE "C75|[1-9][0-9]* bytes spill" "$out/$name.ptxas.log"; then
    echo "build.sh: $name spills or waits; see $out/$name.ptxas.log" >&2
    exit 1
  fi
done
git rev-parse --short HEAD > "$out/commit"
echo "cubins are in $out"
