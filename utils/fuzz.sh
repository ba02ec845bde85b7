#!/usr/bin/env bash
# Runs the programs of test/fuzz under libFuzzer with ASan and UBSan, one after the other, at the
# lowest priority, and prints what each did.
#   utils/fuzz.sh [--seconds=600] [NAME...]
# NAME is npy, npz, safetensors, gguf, config, artifact, cache, graph, options or text; without one all
# run. What is new
# is kept in build/fuzz/corpus; an input that fails lies in build/fuzz/failures: mend its cause, and
# keep it in test/fuzz/corpus/NAME.
set -uo pipefail
source "$(dirname "$0")/lib.sh"

seconds=600 names=()
for option in "$@"; do
  case $option in
    --seconds=*) seconds=${option#*=} ;;
    --help | -h) sed -n '2,8s/^# \?//p' "$0"; exit 0 ;;
    -*) echo "fuzz.sh: unknown option $option" >&2; exit 2 ;;
    *) names+=("$option") ;;
  esac
done
[ ${#names[@]} -gt 0 ] || names=(npy npz safetensors gguf config artifact cache graph options text)

step "configure build/fuzz" configure fuzz || exit 1
step "build the fuzzers" build fuzz "${names[@]/#/fuzz-}" || exit 1

folder=$zyx_root/build/fuzz failed=0
mkdir -p "$folder/failures"
for name in "${names[@]}"; do
  began=$SECONDS
  corpus=$folder/corpus/$name
  starts=()
  mkdir -p "$corpus"
  for start in "$zyx_root/test/fuzz/corpus/$name" "$folder/test/fuzz/seeds/$name"; do
    [ ! -d "$start" ] || starts+=("$start")
  done
  options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1)
  if [ "$name" = text ]; then
    # Every section of the lit tests is a start.
    mkdir -p "$folder/text-starts"
    python3 - "$zyx_root/test/Dialect" "$folder/text-starts" <<'PY'
import hashlib, pathlib, sys
for path in pathlib.Path(sys.argv[1]).rglob("*.mlir"):
    for part in path.read_text().split("// -----"):
        lines = [line for line in part.splitlines() if not line.strip().startswith("//")]
        text = "\n".join(lines).strip() + "\n"
        pathlib.Path(sys.argv[2], hashlib.sha1(text.encode()).hexdigest()).write_text(text)
PY
    starts+=("$folder/text-starts")
    options+=(-dict="$zyx_root/test/fuzz/text.dict" -max_len=8192)
  fi
  nice -n 19 "$folder/test/fuzz/fuzz-$name" "${options[@]}" \
    -artifact_prefix="$folder/failures/$name-" "$corpus" "${starts[@]}" \
    >"$folder/fuzz-$name.log" 2>&1
  code=$?
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/fuzz-$name.log")
  echo "$name: $((SECONDS - began)) s, ${inputs:-0} inputs, exit code $code"
  if [ $code -ne 0 ]; then
    failed=1
    tail -n 40 "$folder/fuzz-$name.log"
  fi
done
exit $failed
