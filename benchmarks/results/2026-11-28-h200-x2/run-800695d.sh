#!/bin/bash
# run1.sh COMMIT FIRST_PEERS COUNT WARM_S PEER_MINUTES : on the card's machine, in the repo's root
commit=$1 peers=$2 count=$3 warm=$4 pmin=$5
G=$(nvidia-smi -L | wc -l); C=$(nproc); t0=$SECONDS
nvidia-smi -L; echo "cores $C"; lscpu | grep -E "Model name|L2|L3"
export ZYX_CACHE_DIR=off PYTHONUNBUFFERED=1
mkdir -p /tmp/r
sh .gpu/run.sh zyx-run --list-devices > $OUT/devices.txt 2>&1
echo "unpacked at $((SECONDS-t0))"
export TMPDIR=/tmp
R="benchmarks/cliffs.py"
run() { gpu=$1; shift; CUDA_VISIBLE_DEVICES=$gpu python3 $R "$@" --prefix="sh .gpu/run.sh" --device=cuda --target=sm_90a --commit=$commit; }
half=$(( G>1 ? G/2 : 0 ))
# warm on the upper half of the cards
i=0; pids=()
n=$(( G-half ))
jobs=$(( (C*5/8) / n )); [ $jobs -gt 10 ] && jobs=10
for ((g=half; g<G; ++g)); do
  for ((j=0; j<jobs; ++j)); do
    TORCHINDUCTOR_COMPILE_THREADS=1 OMP_NUM_THREADS=1 run $g warm --count=$peers --shard=$((i+1))/$((n*jobs)) --minutes=$(awk "BEGIN{print $warm/60}") > /tmp/r/warm$i.log 2>&1 & pids+=($!)
    i=$((i+1))
  done
done
# drawn programs without peers on the lower half
np=(); m=$(( half>0 ? half : 1 ))
for ((g=0; g<m; ++g)); do
  run $g run --first=$peers --count=$count --shard=$((g+1))/$m --peer-count=0 --jobs=$(( C*3/8/m > 2 ? C*3/8/m : 2 )) --minutes=$(awk "BEGIN{print ($warm+20)/60}") --results=/tmp/r/np$g.json > /tmp/r/np$g.log 2>&1 & np+=($!)
done
# the host's programs, a core each, away from the others
wait "${np[@]}"
echo "no-peer done at $((SECONDS-t0))"
pkill -f "cliffs.py warm"; sleep 1
cat /tmp/r/warm*.log | grep -c ' s$'
for ((g=0; g<G; ++g)); do
  taskset -c $((g*4))-$((g*4+3)) bash -c "true"
  run $g run --count=$peers --shard=$((g+1))/$G --peer-limit=45 --jobs=3 --minutes=$pmin --results=/tmp/r/peer$g.json > /tmp/r/peer$g.log 2>&1 & ps+=($!)
done
H=$(( C/8 )); hp=()
for ((h=0; h<H; ++h)); do
  c=$((C-1-h*2))
  taskset -c $c env CUDA_VISIBLE_DEVICES= python3 $R run --prefix="sh .gpu/run.sh" --device=cpu --threads=1 --commit=$commit --count=150 --shard=$((h+1))/$H --peers=eager,onnxruntime --seconds=0.2 --minutes=$pmin --results=/tmp/r/host$h.json > /tmp/r/host$h.log 2>&1 & hp+=($!)
done
wait "${ps[@]}" "${hp[@]}"
echo "peers done at $((SECONDS-t0))"
cd /tmp/r
python3 $OLDPWD/$R merge --results=$OUT/np.json np*.json; python3 $OLDPWD/$R merge --results=$OUT/peer.json peer*.json; python3 $OLDPWD/$R merge --results=$OUT/host.json host*.json
tar czf $OUT/logs.tgz *.log
for f in np peer host; do echo "=== $f"; python3 $OLDPWD/$R table $OUT/$f.json --worst=25; done > $OUT/tables.txt
head -c 9000 $OUT/tables.txt
