#!/usr/bin/env bash
# Everything that must hold before a change lands: builds all, then runs the unit tests, the lit
# suite, the scripts of utils/check-*.py and the demo on three splits of its rows and three devices.
#   utils/check.sh [--sanitize=asan|tsan] [--preset=NAME] [--all-amd] [--all-cpu] [--all-opencl] [--all-vulkan] [--all-webgpu]
# Shares build/release with utils/demo.sh; --sanitize builds and tests in build/asan or build/tsan. With --all-amd every
# conformance case is compiled for each of AMD's GPUs, of which 100 are otherwise; with --all-cpu all run with random
# schedules and for older processors, with --all-opencl on OpenCL, and 200 in Oclgrind, with --all-vulkan on Vulkan, where
# samples run under more of the validation layers, too, and with --all-webgpu on WebGPU (wgpu-native and Dawn), with 2,000
# random graphs on each.
# Ends with "N passed, N failed" and exits with 1 if something failed.
set -uo pipefail
source "$(dirname "$0")/lib.sh"

preset=release all_amd= all_cpu= all_opencl= all_vulkan= all_webgpu=
for option in "$@"; do
  case $option in
    --sanitize=asan | --sanitize=tsan) preset=${option#*=} ;;
    --preset=*) preset=${option#*=} ;;
    --all-amd) all_amd=yes ;;
    --all-cpu) all_cpu=yes ;;
    --all-opencl) all_opencl=yes ;;
    --all-vulkan) all_vulkan=yes ;;
    --all-webgpu) all_webgpu=yes ;;
    --help | -h) sed -n '2,10s/^# \?//p' "$0"; exit 0 ;;
    *) echo "check.sh: unknown option $option" >&2; exit 2 ;;
  esac
done
folder=$zyx_root/build/$preset
# LLVM's headers poison memory of their allocators, which its library, built without the sanitizer,
# then hands out. Its threads have signal stacks of their own, which the sanitizer would take for its own and unmap.
export ASAN_OPTIONS=${ASAN_OPTIONS:-allow_user_poisoning=0:use_sigaltstack=0}
# Undefined behaviour ends a test, as a bad access does.
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
# Nor are the guards of its function-local statics seen by the thread sanitizer.
# Of some of its locks it sees one half, the taking or the release: what it says of their order and of their misuse
# is not true, and it takes those of many compilations for held ones, until it has no room.
# One test starts threads in a forked child, which the sanitizer forbids by default.
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$zyx_root/test/tsan-llvm.supp:detect_deadlocks=0:report_mutex_bugs=0:die_after_fork=0}
began=$SECONDS passed=0 failed=0
failures=()

# check "name" command...: one step that counts as one test.
check() {
  if step "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1)) failures+=("$1")
  fi
}

# Counts the tests of a JUnit file, as ctest and lit write them.
count() {
  local what=$1 file=$2 line
  if ! line=$(python3 - "$file" <<'PY'
import sys, xml.etree.ElementTree as tree
cases = list(tree.parse(sys.argv[1]).getroot().iter("testcase"))

def skipped(case):
    mark = case.find("skipped")
    return mark is not None and not mark.get("message", "").startswith("Unable to find")

def passed(case):
    return case.get("status", "run") == "run" and \
        all(case.find(mark) is None for mark in ("failure", "error", "skipped"))

good, left = sum(map(passed, cases)), sum(map(skipped, cases))
print(good, len(cases) - good - left)
PY
  ); then
    failed=$((failed + 1)) failures+=("$what wrote no result")
    return
  fi
  passed=$((passed + ${line% *})) failed=$((failed + ${line#* }))
  [ "${line#* }" -eq 0 ] || failures+=("$what: ${line#* } failed")
}

# The demo's program on one device must count exactly this many correct rows.
digits_count() {
  local device=$1 train=$2 test=$3 expected=$4 output
  output=$(digits "$preset" "$train" "$test" "--device=$device") || {
    echo "$output"
    return 1
  }
  echo "$output"
  grep -q "$expected correct" <<<"$output" || {
    echo "expected: $expected correct"
    return 1
  }
}

# The transformer's loss on the rest of the text after five steps is the processor's, to a thousandth.
chargpt_as_on_cpu() {
  local device=$1 loss expected
  loss=$(chargpt "$preset" 5 -2 --sample=0 "--device=$device" | sed -n 's/^loss on the rest of the text: \([0-9.]*\).*/\1/p')
  expected=$(chargpt "$preset" 5 -2 --sample=0 --device=cpu | sed -n 's/^loss on the rest of the text: \([0-9.]*\).*/\1/p')
  echo "loss on the rest of the text: $loss; on cpu: $expected"
  awk -v a="$loss" -v b="$expected" 'BEGIN { d = a - b; exit b > 0 && d < 0.0015 && d > -0.0015 ? 0 : 1 }'
}

# Cases whose threads meet in shared memory among others, in an interpreter that says what races and what is out of bounds.
oclgrind_finds_nothing() {
  local fake=$folder/test/fake-opencl output
  output=$(env OCL_ICD_VENDORS="$fake/oclgrind" ZYX_OPENCL_DRIVER="$fake/libZyxOclgrind.so" OCLGRIND_DATA_RACES=1 \
    ZYX_CACHE_DIR=off "$folder/bin/zyx-conformance" --device=opencl --target=opencl --max-refused=0 --batch=4 \
    --seconds=600 --spread=200 2>&1) || {
    echo "$output"
    return 1
  }
  if grep -E -A4 "data race at|Invalid (read|write)" <<<"$output"; then
    return 1
  fi
  tail -n 1 <<<"$output"
}

# vulkan_layered SETTINGS [VARIABLE=VALUE]...: cases on Vulkan under Khronos' validation layer, with the settings of that folder.
vulkan_layered() {
  local settings=$1
  shift
  env VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation VK_LAYER_SETTINGS_PATH="$zyx_root/test/conformance/vulkan/$settings" "$@"
}

# vulkan_validated SETTINGS [VARIABLE=VALUE]...: a sample of the cases, for which the layer must be there and say nothing.
vulkan_validated() {
  local output
  output=$(vulkan_layered "$@" "$folder/bin/zyx-conformance" --device=vulkan --max-refused=0 --spread=12 --batch=4 --seconds=600 2>&1) || {
    echo "$output"
    return 1
  }
  grep -q -e createinstance-status-message -e CURRENT-VALIDATION-ENABLED <<<"$output" || {
    echo "the validation layer was not there"
    return 1
  }
  if grep -E -A6 "Validation (Error|Warning|Performance Warning)" <<<"$output"; then
    return 1
  fi
  tail -n 1 <<<"$output"
}

# Barriers that order nothing, in a kernel whose threads meet in shared memory.
vulkan_race_is_seen() {
  local output
  output=$(vulkan_layered races "$@" FMA=bare-barriers ZYX_CACHE_DIR=off \
    ZYX_VULKAN_DRIVER="$folder/test/fake-vulkan/libZyxVulkanFma.so" \
    "$folder/bin/zyx-conformance" --device=vulkan --filter=reduce.add.f32.2x1000.over1 2>&1)
  grep -m 1 SharedMemoryDataRace <<<"$output" || {
    echo "$output"
    return 1
  }
}

step "install packages" "$zyx_root/utils/install.sh" ${all_vulkan:+--vulkan-layer} || exit 1
step "configure build/$preset" configure "$preset" || exit 1
step "build everything" build "$preset" all zyx-docs || exit 1

rm -f "$folder/ctest.xml" "$folder/lit.xml" "$folder"/conformance/*.tsv
# lit's tests are counted one by one, so ctest leaves them to lit.
step "unit tests" ctest --test-dir "$folder" -E '^lit$' -j "$(nproc)" --output-on-failure \
  --output-junit "$folder/ctest.xml"
count "unit tests" "$folder/ctest.xml"
check "conformance counts" "$zyx_root/utils/conformance.py" --counts "$folder"/conformance/*.tsv
lit=$(sed -n 's/^ZYX_LIT:FILEPATH=//p' "$folder/CMakeCache.txt")
step "lit tests" "$lit" -sv --xunit-xml-output "$folder/lit.xml" "$folder/test"
count "lit tests" "$folder/lit.xml"

if [ -n "$all_amd" ]; then
  for target in gfx942 gfx1100 gfx1201; do
    check "all conformance cases for $target" "$folder/bin/zyx-conformance" --compile-only --target=$target
  done
fi

if [ -n "$all_cpu" ]; then
  check "all conformance cases with random schedules" "$folder/bin/zyx-conformance" --device=cpu \
    --optimise=schedules --max-refused=0 --batch=16
  for isa in x86-64-v3 x86-64; do
    check "all conformance cases for $isa" "$folder/bin/zyx-conformance" --isa=$isa --max-refused=0
  done
fi

if [ -n "$all_opencl" ]; then
  check "all conformance cases on OpenCL" "$folder/bin/zyx-conformance" --device=opencl --max-refused=0
  check "2,000 random graphs on OpenCL" "$folder/bin/zyx-smith" --device=opencl --optimise=default --count=2000 --max-refused=0
  check "200 cases on OpenCL in Oclgrind" oclgrind_finds_nothing
fi

check "Vulkan under its validation layer" vulkan_validated .
if [ -n "$all_vulkan" ]; then
  check "Vulkan under GPU-assisted validation" vulkan_validated assisted
  newer=VK_LAYER_PATH=$zyx_root/build/vulkan-layer
  check "Vulkan under a newer validation layer" vulkan_validated newer "$newer"
  check "threads of Vulkan do not race for shared memory" vulkan_validated races "$newer"
  check "threads that race for it are seen" vulkan_race_is_seen "$newer"
  code=$folder/conformance/spirv-all
  rm -rf "$code"
  check "all conformance cases become SPIR-V" "$folder/bin/zyx-conformance" --compile-only --target=vulkan --code="$code"
  check "and with subgroups" "$folder/bin/zyx-conformance" --compile-only --target=vulkan-subgroups --code="$code/subgroups"
  for validator in /usr/bin "$zyx_root/build/spirv-tools/bin"; do
    check "all modules are valid for $validator" "$zyx_root/utils/validate-spirv.sh" "$validator/spirv-val" "$code"
  done
  check "all conformance cases on Vulkan" "$folder/bin/zyx-conformance" --device=vulkan --batch=1 --max-refused=0
  check "2,000 random graphs on Vulkan" "$folder/bin/zyx-smith" --device=vulkan --optimise=default --count=2000 --max-refused=0
fi

# The library of WebGPU, where nobody names another one.
export ZYX_WEBGPU_DRIVER=${ZYX_WEBGPU_DRIVER:-$zyx_root/build/webgpu/libwgpu_native.so}
if [ -n "$all_webgpu" ]; then
  check "all conformance cases on WebGPU" "$folder/bin/zyx-conformance" --device=webgpu --batch=1
  check "2,000 random graphs on WebGPU" "$folder/bin/zyx-smith" --device=webgpu --optimise=default --count=2000
  dawn=(env ZYX_WEBGPU_DRIVER="$zyx_root/build/dawn/libwebgpu_dawn.so")
  [ ! -e "$zyx_root/build/dawn/lavapipe.json" ] || dawn+=(VK_ICD_FILENAMES="$zyx_root/build/dawn/lavapipe.json")
  check "all conformance cases on Dawn" "${dawn[@]}" "$folder/bin/zyx-conformance" --device=webgpu --batch=1
  check "2,000 random graphs on Dawn" "${dawn[@]}" "$folder/bin/zyx-smith" --device=webgpu --optimise=default --count=2000
fi

check "rooms" "$zyx_root/utils/check-rooms.py"
check "facts of machines" "$zyx_root/utils/check-targets.py"
check "lengths of files" "$zyx_root/utils/check-lengths.py"
check "lines of the runtime for CUDA alone" "$zyx_root/utils/count-target.py" cuda
check "lines for AMD's GPUs alone" "$zyx_root/utils/count-target.py" hip
check "lines for OpenCL alone" "$zyx_root/utils/count-target.py" opencl
check "lines for Vulkan alone" "$zyx_root/utils/count-target.py" vulkan
check "lines for WebGPU alone" "$zyx_root/utils/count-target.py" webgpu
check "format" "$zyx_root/utils/check-format.py"
check "docs" "$zyx_root/utils/check-docs.py" --build "$folder"
check "IR examples of the docs" "$zyx_root/utils/ir-examples.py" --build "$folder"
check "diagnostics" "$zyx_root/utils/check-diagnostics.py"

for device in cpu c reference opencl vulkan webgpu; do
  check "digits on $device, training rows 0-999, test rows 1000-1796" \
    digits_count $device 0:1000 1000:1797 "767 of 797"
  check "digits on $device, training rows 797-1796, test rows 0-796" \
    digits_count $device 797:1797 0:797 "760 of 797"
  check "digits on $device, training rows 300-1299, test rows 1300-1796" \
    digits_count $device 300:1300 1300:1797 "473 of 497"
done

check "a network learns the digits" digits_train "$preset" 1
for device in opencl vulkan webgpu; do
  check "a network learns the digits on $device" digits_train "$preset" 1 --epochs=25 --device=$device
  # PoCL takes minutes for its kernels, and lavapipe for its steps.
  whole=all_$device
  [ -z "${!whole}" ] || check "a transformer learns on $device as on cpu" chargpt_as_on_cpu $device
done
check "a transformer learns a text" chargpt "$preset" 120 0 --sample=100

echo "== checked in $(((SECONDS - began) / 60)) min $(((SECONDS - began) % 60)) s"
for failure in "${failures[@]}"; do
  echo "FAILED: $failure"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
