#!/bin/bash
# run2.sh COMMIT: one card draws programs without peers; the other runs conformance and benchmarks/gpu.py of base and head in turns.
commit=$1 limit=$2 only=$3; t0=$SECONDS
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; lscpu | grep "Model name"
export PYTHONUNBUFFERED=1 TMPDIR=/tmp; mkdir -p /tmp/r
tar xJf .gpu/bench.txz -C /tmp
sh .gpu/run.sh zyx-run --list-devices > $OUT/devices.txt 2>&1
R="benchmarks/cliffs.py"
CUDA_VISIBLE_DEVICES=0 python3 $R run --prefix="sh .gpu/run.sh" --device=cuda --target=sm_90a --commit=$commit --first=120 --count=480 --peer-count=0 --jobs=10 --seconds=0.15 --minutes=$(awk "BEGIN{print ($limit-40)/60}") --results=$OUT/np.json > /tmp/r/np.log 2>&1 & np=$!
(
export CUDA_VISIBLE_DEVICES=1
timeout 200 sh .gpu/run.sh zyx-conformance --device=cuda --target=sm_90a > $OUT/conformance-sm_90a.log 2>&1; echo "sm_90a rc $? at $((SECONDS-t0))"; grep -E "cases:" $OUT/conformance-sm_90a.log
timeout 200 env ZYX_PTXAS= sh .gpu/run.sh zyx-conformance --device=cuda --target=sm_80 > $OUT/conformance-sm_80.log 2>&1; echo "sm_80 rc $? at $((SECONDS-t0))"; grep -E "cases:" $OUT/conformance-sm_80.log
for i in B-1 head-1 B-2 head-2; do
  d=/tmp/gpu-bench-${i%-*}
  left=$((limit-30-(SECONDS-t0))); [ $left -gt 20 ] || break
  timeout $left python3 $d/gpu.py run $d --peers= --seconds=0.03 $only --results=$OUT/gpu-$i.json > /tmp/r/gpu-$i.log 2>&1; echo "gpu $i rc $? at $((SECONDS-t0))"
done
) & other=$!
wait $other; wait $np
tail -75 /tmp/r/np.log > $OUT/np-table.txt; head -c 5000 $OUT/np-table.txt
tar czf $OUT/logs.tgz -C /tmp/r .
echo "end at $((SECONDS-t0))"
