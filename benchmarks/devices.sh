#!/usr/bin/env bash
# Measures devices of other vendors' drivers beside the device `cpu` or another one, in turns, and prints a table: what a
# run takes, how fast that is beside it, what the compiler takes for a program before the driver gets it, and what a launch
# of one of 100 tiny kernels takes, and an epoch of a network that learns. N is a multiple of 1024: products are N x N,
# rows N of N, chains N * N elements. A folder of programs is one with zyx-run, zyx-compile and digits-train.
#   benchmarks/devices.sh [--preset=NAME] [--bin=FOLDER] [--devices=opencl,vulkan] [--beside=cpu] [--size=1024] [--rounds=3]
#     [--programs=product,softmax,layer-norm,ten-ops,tiny,digits]
set -euo pipefail
source "$(dirname "$0")/../utils/lib.sh"

preset=release bin= devices=opencl,vulkan beside=cpu size=1024 rounds=3 programs=product,softmax,layer-norm,ten-ops,tiny,digits
for option in "$@"; do
  case $option in
    --preset=*) preset=${option#*=} ;;
    --bin=*) bin=${option#*=} ;;
    --devices=*) devices=${option#*=} ;;
    --beside=*) beside=${option#*=} ;;
    --size=*) size=${option#*=} ;;
    --rounds=*) rounds=${option#*=} ;;
    --programs=*) programs=${option#*=} ;;
    *) sed -n '2,8s/^# \?//p' "$0"; exit 2 ;;
  esac
done
bin=${bin:-$zyx_root/build/$preset/bin}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/product.mlir" <<'END'
func.func @product(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %t = graph.permute %b order = [1, 0] : tensor<1024x1024xf32> -> tensor<1024x1024xf32>
  %ar = graph.reshape %a : tensor<1024x1024xf32> -> tensor<1024x1x1024xf32>
  %br = graph.reshape %t : tensor<1024x1024xf32> -> tensor<1x1024x1024xf32>
  %ae = graph.expand %ar : tensor<1024x1x1024xf32> -> tensor<1024x1024x1024xf32>
  %be = graph.expand %br : tensor<1x1024x1024xf32> -> tensor<1024x1024x1024xf32>
  %p = graph.binary mul %ae, %be : tensor<1024x1024x1024xf32>
  %c = graph.reduce add %p dims = [2] : tensor<1024x1024x1024xf32> -> tensor<1024x1024xf32>
  return %c : tensor<1024x1024xf32>
}
END
cat >"$folder/softmax.mlir" <<'END'
func.func @softmax(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %m = graph.reduce max %x dims = [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %mr = graph.reshape %m : tensor<1024xf32> -> tensor<1024x1xf32>
  %me = graph.expand %mr : tensor<1024x1xf32> -> tensor<1024x1024xf32>
  %d = graph.binary sub %x, %me : tensor<1024x1024xf32>
  %e = graph.unary exp %d : tensor<1024x1024xf32>
  %s = graph.reduce add %e dims = [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %sr = graph.reshape %s : tensor<1024xf32> -> tensor<1024x1xf32>
  %se = graph.expand %sr : tensor<1024x1xf32> -> tensor<1024x1024xf32>
  %q = graph.binary div %e, %se : tensor<1024x1024xf32>
  return %q : tensor<1024x1024xf32>
}
END
cat >"$folder/layer-norm.mlir" <<'END'
func.func @layer_norm(%x: tensor<1024x1024xf32>, %g: tensor<1024xf32>, %b: tensor<1024xf32>) -> tensor<1024x1024xf32> {
  %scale = graph.constant dense<9.765625e-04> : tensor<1024xf32>
  %eps = graph.constant dense<1.0e-05> : tensor<1024xf32>
  %s = graph.reduce add %x dims = [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %m = graph.binary mul %s, %scale : tensor<1024xf32>
  %mr = graph.reshape %m : tensor<1024xf32> -> tensor<1024x1xf32>
  %me = graph.expand %mr : tensor<1024x1xf32> -> tensor<1024x1024xf32>
  %d = graph.binary sub %x, %me : tensor<1024x1024xf32>
  %d2 = graph.binary mul %d, %d : tensor<1024x1024xf32>
  %v = graph.reduce add %d2 dims = [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %vs = graph.binary mul %v, %scale : tensor<1024xf32>
  %ve = graph.binary add %vs, %eps : tensor<1024xf32>
  %r = graph.unary rsqrt %ve : tensor<1024xf32>
  %rr = graph.reshape %r : tensor<1024xf32> -> tensor<1024x1xf32>
  %re = graph.expand %rr : tensor<1024x1xf32> -> tensor<1024x1024xf32>
  %n = graph.binary mul %d, %re : tensor<1024x1024xf32>
  %gr = graph.reshape %g : tensor<1024xf32> -> tensor<1x1024xf32>
  %ge = graph.expand %gr : tensor<1x1024xf32> -> tensor<1024x1024xf32>
  %ng = graph.binary mul %n, %ge : tensor<1024x1024xf32>
  %br = graph.reshape %b : tensor<1024xf32> -> tensor<1x1024xf32>
  %be = graph.expand %br : tensor<1x1024xf32> -> tensor<1024x1024xf32>
  %y = graph.binary add %ng, %be : tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}
END
# Programs whose text has a line for each op: elementwise ops of one size, in turns.
chain() {
  local name=$1 extent=$2 count=$3 i kinds=(add mul sub max)
  echo "func.func @$name(%v0: tensor<${extent}xf32>, %y: tensor<${extent}xf32>) -> tensor<${extent}xf32> {"
  for ((i = 0; i < count; ++i)); do
    echo "  %v$((i + 1)) = graph.binary ${kinds[i % 4]} %v$i, %y : tensor<${extent}xf32>"
  done
  printf '  return %%v%d : tensor<%sxf32>\n}\n' "$count" "$extent"
}
chain ten-ops $((size * size)) 10 >"$folder/ten-ops.mlir"
sed -i 's/@ten-ops/@ten_ops/' "$folder/ten-ops.mlir"
sed -i "s/1024/$size/g; s/9.765625e-04/$(awk "BEGIN { printf \"%.9e\", 1 / $size }")/" "$folder"/{product,softmax,layer-norm}.mlir
chain tiny 16 100 >"$folder/tiny.mlir"

# The median of a run in milliseconds, and of a compilation what comes before the driver.
measure() {
  local device=$1 program=$2 repeat=$3 text
  text=$("$bin/zyx-run" "$folder/$program" --device="$device" --random=1 --repeat="$repeat" --time --no-cache --quiet) || return 1
  awk '/^compile:/ { gsub(/[(),]/, " "); for (i = 4; i < NF; i += 2) if ($i != "parse" && $i != "load") own += $(i + 1) }
       /^run:/ { run = $2 } END { printf "%s %.1f\n", run, own }' <<<"$text"
}
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

echo "$(nproc) processors, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(date -u +%F)"
printf '%-10s %-8s %12s %10s %14s\n' program device "run (ms)" "of $beside" "compile (ms)"
for program in product softmax layer-norm ten-ops; do
  [[ ,$programs, == *,$program,* ]] || continue
  for ((round = 0; round < rounds; ++round)); do
    for device in $beside ${devices//,/ }; do
      measure "$device" "$program.mlir" 10 >>"$folder/$program.$device" || echo "$program on $device: refused" >&2
    done
  done
  other=$(cut -d' ' -f1 "$folder/$program.$beside" | median)
  for device in $beside ${devices//,/ }; do
    [ -s "$folder/$program.$device" ] || continue
    run=$(cut -d' ' -f1 "$folder/$program.$device" | median) own=$(cut -d' ' -f2 "$folder/$program.$device" | median)
    printf '%-10s %-8s %12.3f %10.2f %14.1f\n' "$program" "$device" "$run" "$(awk "BEGIN { print $other / $run }")" "$own"
  done
done
for device in $beside ${devices//,/ }; do
  [[ ,$programs, == *,tiny,* ]] || break
  target=$("$bin/zyx-run" --list-devices | awk -v name="$device" '$2 == "present" { its = $1 == name } its && $1 == "target" { sub(/,/, ""); print $2 }')
  "$bin/zyx-compile" "$folder/tiny.mlir" --target="$target" --no-optimise -o "$folder/tiny.zyxa" >/dev/null || continue
  run=$("$bin/zyx-run" "$folder/tiny.zyxa" --device="$device" --random=1 --repeat=200 --time --quiet | awk '/^run:/ { print $2 }')
  printf '%-10s %-8s %12.3f, %.2f us a launch\n' "100 tiny" "$device" "$run" "$(awk "BEGIN { print $run * 10 }")"
done
# A convolutional network learns digits: an epoch, by how much longer nine take than one, when drivers have compiled.
for device in $beside ${devices//,/ }; do
  [[ ,$programs, == *,digits,* ]] || break
  for epochs in 1 1 9; do
    text=$("$bin/digits-train" "$zyx_root/examples/digits.safetensors" --epochs=$epochs --device="$device" --out="$folder" | tail -1) || continue 2
    [[ $text =~ \;\ ([0-9.]+)\ s, ]] && eval "after_$epochs=${BASH_REMATCH[1]}"
  done
  printf '%-10s %-8s %12.0f ms an epoch; %s\n' digits "$device" "$(awk "BEGIN { print ($after_9 - $after_1) * 125 }")" "$text"
done
