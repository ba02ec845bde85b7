export PYTHONUNBUFFERED=1
tar -C /tmp -xJf .gpu/bench.tar.xz
TAIL=16 bash .gpu/cliffs.sh $1 2332709535 0 131 4 0 models 170
timeout -k 5 330 python3 /tmp/bench/gpu.py run /tmp/bench --peers=eager,cudnn,flash --seconds=0.03 --results=$OUT/gpu.json > $OUT/gpu.log 2>&1; tail -140 $OUT/gpu.log | cut -c1-150
