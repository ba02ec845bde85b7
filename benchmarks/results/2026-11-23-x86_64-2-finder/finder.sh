# One thread, then two: sh finder.sh BUILD COMMIT MINUTES-OF-ONE MINUTES-OF-TWO, in benchmarks/.
export ZYX_CACHE_DIR=off XDG_CONFIG_HOME=/nonexistent
run() {
  OMP_NUM_THREADS=$3 python3 cliffs.py run --build="$1" --commit="$2" --count=64 --minutes="$4" --peers=eager,onnxruntime \
    --seconds=0.3 --peer-limit=25 --threads="$3" --results="cliffs-$3.json"
}
run "$1" "$2" 1 "$3"
run "$1" "$2" 2 "$4"
