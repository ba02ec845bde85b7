PEERS=compile,compile-graphs,eager-graphs
export PYTHONUNBUFFERED=1
timeout -k 5 430 python3 benchmarks/cliffs.py run --prefix="sh .gpu/run.sh" --device=cuda --commit=$1 --seed=1 --count=9 --like=networks --minutes=6.5 --seconds=0.4 --peer-limit=100 --peers=compile,compile-graphs,eager-graphs,eager --results=$OUT/networks.json > $OUT/networks.log 2>&1
tail -14 $OUT/networks.log
