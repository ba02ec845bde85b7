# Sourced by the scripts of this folder: steps that say what they do and how long they took.
# Never run by itself.
zyx_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Compiler output is shared between checkouts and precompiled headers.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$zyx_root}
export CCACHE_NOHASHDIR=1
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

# The assembler that utils/install.sh brings; one that the machine has comes first.
for zyx_ptxas in "$zyx_root"/build/ptxas/nvidia/*/bin; do
  [ ! -x "$zyx_ptxas/ptxas" ] || PATH=$PATH:$zyx_ptxas
done

# step "what it does" command...: runs the command in a fresh line and prints its time.
step() {
  local what=$1 began ended status=0
  shift
  printf '== %s\n' "$what"
  began=$(date +%s%N)
  "$@" || status=$?
  ended=$(date +%s%N)
  local ms=$(((ended - began) / 1000000))
  if [ $status -eq 0 ]; then
    printf '== %s: done in %d.%01d s\n' "$what" $((ms / 1000)) $((ms % 1000 / 100))
  else
    printf '== %s: FAILED (exit %d) after %d.%01d s\n' "$what" $status $((ms / 1000)) \
      $((ms % 1000 / 100))
  fi
  return $status
}

# configure PRESET [options]: does nothing where the build folder is configured already; ninja
# itself reruns CMake when a list of files changes.
configure() {
  local preset=$1
  shift
  if [ $# -eq 0 ] && [ -f "$zyx_root/build/$preset/build.ninja" ]; then
    echo "build/$preset is configured already"
    return 0
  fi
  (cd "$zyx_root" && cmake --preset "$preset" "$@")
}

# build PRESET target...: one job per core, bounded by memory (a source that reads all of MLIR
# takes about 1.5 GiB).
build() {
  local preset=$1 jobs memory
  shift
  memory=$(awk '/MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  jobs=$(nproc)
  [ "$memory" -ge "$jobs" ] || jobs=$((memory > 0 ? memory : 1))
  ninja -C "$zyx_root/build/$preset" -j "$jobs" "$@"
}

# digits PRESET TRAIN TEST [options]: the digits program with these rows, both begin:end. The file
# is written for 797 test rows; for another number it is copied with that number.
digits() {
  local preset=$1 train=$2 test=$3 data=$zyx_root/examples/digits.safetensors
  local program=$zyx_root/examples/digits-knn.mlir rows=$((${3#*:} - ${3%:*}))
  shift 3
  if [ $rows -ne 797 ]; then
    sed "s/797/$rows/g" "$program" >"$zyx_root/build/$preset/digits-knn-$rows.mlir"
    program=$zyx_root/build/$preset/digits-knn-$rows.mlir
  fi
  "$zyx_root/build/$preset/bin/zyx-run" "$program" --entry=knn \
    --print="{correct} of $rows correct" \
    --input=train_images="$data:images[$train]" --input=train_labels="$data:labels[$train]" \
    --input=test_images="$data:images[$test]" --input=test_labels="$data:labels[$test]" "$@"
}

# digits_train PRESET SEED [options]: trains the network of examples/digits-train.cpp, and fails where
# fewer than 97 of 100 test digits are recognized.
digits_train() {
  local preset=$1 seed=$2 output folder=$zyx_root/build/$1/digits-train-$2
  shift 2
  mkdir -p "$folder"
  output=$("$zyx_root/build/$preset/bin/digits-train" "$zyx_root/examples/digits.safetensors" \
    "--seed=$seed" "--out=$folder" "$@") || return 1
  echo "$output"
  awk -v text="${output##*$'\n'}" 'BEGIN { exit match(text, /\(([0-9.]+) %\)/) && substr(text, RSTART + 1) + 0 >= 97 ? 0 : 1 }'
}

# chargpt PRESET STEPS LESS [options]: trains the transformer of examples/chargpt.cpp, and fails where its loss on
# the rest of the text is not more than LESS below what counting pairs of characters gives.
chargpt() {
  local preset=$1 steps=$2 less=$3 output folder=$zyx_root/build/$1/chargpt
  shift 3
  mkdir -p "$folder"
  output=$("$zyx_root/build/$preset/bin/chargpt" "$zyx_root/examples/pride-and-prejudice.txt" \
    "--steps=$steps" "--out=$folder" "$@") || return 1
  echo "$output"
  awk -v less="$less" '
    match($0, /[0-9.]+ by counting pairs/) { pairs = substr($0, RSTART) + 0 }
    match($0, /loss on the rest of the text: [0-9.]+/) { loss = substr($0, RSTART + 30) + 0 }
    END { exit pairs > 0 && loss > 0 && loss < pairs - less ? 0 : 1 }' <<<"$output"
}
