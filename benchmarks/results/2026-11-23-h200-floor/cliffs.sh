# cliffs.sh COMMIT SEED FIRST COUNT MINUTES PEERCOUNT LIKE SECONDS-LIMIT
set -o pipefail
export PYTHONUNBUFFERED=1
timeout -k 5 $8 python3 benchmarks/cliffs.py run --prefix="sh .gpu/run.sh" --device=cuda --commit=$1 --seed=$2 --first=$3 --count=$4 --minutes=$5 --peer-count=$6 --like=$7 --seconds=0.25 --peers=${PEERS:-eager,compile,eager-graphs,compile-graphs} --results=$OUT/cliffs-$7.json > $OUT/cliffs-$7.log 2>&1
tail -${TAIL:-75} $OUT/cliffs-$7.log
