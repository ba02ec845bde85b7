#!/usr/bin/env bash
# Makes one relocatable archive of the release build: programs, libraries and headers, with copies
# of all they need beside libc, so that it runs where no LLVM is installed.
#   utils/package.sh [--preset=NAME]
# Writes build/NAME/zyx-VERSION-linux-ARCH.tar.xz, unpacks it, and runs the demo's program from there.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

preset=release
for option in "$@"; do
  case $option in
    --preset=*) preset=${option#*=} ;;
    --help | -h) sed -n '2,5s/^# \?//p' "$0"; exit 0 ;;
    *) echo "package.sh: unknown option $option" >&2; exit 2 ;;
  esac
done
folder=$zyx_root/build/$preset
limit=$((64 * 1000 * 1000))

pack() { (cd "$folder" && cpack --config CPackConfig.cmake -B "$folder"); }

# The program of an unpacked archive finds its own libraries and nothing of LLVM elsewhere.
try() {
  local root log status=0
  root=$(mktemp -d)
  tar -C "$root" --strip-components=1 -xf "$archive"
  log=$(LD_DEBUG=libs "$root/bin/zyx-run" "$root/share/doc/Zyx/examples/digits-knn.mlir" --entry=knn \
    --random=1 --no-cache '--print={correct}' 2>&1 >"$root/out") || status=1
  [ -f "$root/include/zyx/zyx.h" ] && [ -f "$root/lib/libZyxTensor.a" ] || {
    echo "package.sh: the archive lacks the libraries of tensors" >&2
    status=1
  }
  if [ $status -ne 0 ]; then
    grep -v '^ *[0-9]*:' <<<"$log" >&2
  elif grep -E 'calling init: .*lib(LLVM|MLIR|z3|stdc)' <<<"$log" | grep -qv "$root/"; then
    echo "package.sh: a library is taken from outside of the archive" >&2
    status=1
  else
    echo "runs: $(cat "$root/out") of random rows are correct"
  fi
  rm -rf "$root"
  return $status
}

step "configure build/$preset" configure "$preset"
step "build everything" build "$preset" all
step "pack" pack
archive=$(ls -t "$folder"/zyx-*.tar.xz | head -1)
size=$(stat -c %s "$archive")
echo "$archive: $size bytes"
if [ "$size" -gt $limit ]; then
  echo "package.sh: more than $limit bytes" >&2
  exit 1
fi
step "run from the archive" try
