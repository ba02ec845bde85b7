# The finder's first programs.
set -o pipefail
export PYTHONUNBUFFERED=1
timeout 590 python3 benchmarks/cliffs.py run --prefix="sh .gpu/run.sh" --device=cuda --commit=$1 --first=$2 --count=$3 --minutes=$4 --peer-count=$5 --results=$OUT/cliffs.json 2>&1 | tee $OUT/cliffs.log | tail -150
