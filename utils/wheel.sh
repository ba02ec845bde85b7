#!/usr/bin/env bash
# Packs the wheels of the Python package from the objects of a build: links the extension and a compiler that has LLVM inside.
#   utils/wheel.sh [--preset=NAME] [--python=PROGRAM] [--out=FOLDER]
# Writes into build/wheels, or FOLDER, the wheel of the Python that build/NAME was configured with; with --python, Python 3.12
# or later with its headers, also the one of the stable ABI, for 3.12 and all later versions. docs/python.md says what is inside.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

preset=release python= out=$zyx_root/build/wheels
for option in "$@"; do
  case $option in
    --preset=*) preset=${option#*=} ;;
    --python=*) python=${option#*=} ;;
    --out=*) out=${option#*=} ;;
    --help | -h) sed -n '2,5s/^# \?//p' "$0"; exit 0 ;;
    *) echo "wheel.sh: unknown option $option" >&2; exit 2 ;;
  esac
done
folder=$zyx_root/build/$preset
own=$zyx_root/build/python/bin/python

stable() {
  local compiler launcher
  compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$folder/CMakeCache.txt")
  launcher=$(sed -n 's/^CMAKE_CXX_COMPILER_LAUNCHER:[A-Z]*=//p' "$folder/CMakeCache.txt")
  # A folder of another Python would keep what it found.
  grep -qsxF "Python_EXECUTABLE:UNINITIALIZED=$python" "$folder/stable/CMakeCache.txt" || rm -rf "$folder/stable"
  cmake -S "$zyx_root/python/stable" -B "$folder/stable" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$launcher" -DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld -DPython_EXECUTABLE="$python" \
    -Dnanobind_DIR="$("$own" -m nanobind --cmake_dir)" -DZYX_BUILD="$folder" || return 1
  build "$preset/stable"
}

step "configure build/$preset" configure "$preset"
step "link the extension and the compiler" build "$preset" _zyx ZyxCompilerStatic
step "pack" "$own" -B "$zyx_root/utils/wheel.py" "$folder" "--out=$out"
if [ -n "$python" ]; then
  step "build the extension for the stable ABI" stable
  step "pack" "$own" -B "$zyx_root/utils/wheel.py" "$folder" "--extension=$folder/stable/_zyx.abi3.so" "--out=$out"
fi
