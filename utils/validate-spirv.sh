#!/usr/bin/env bash
# Has a validator of SPIR-V read each module that `zyx-conformance --compile-only --target=vulkan --code=FOLDER` has written.
#   utils/validate-spirv.sh SPIRV-VAL FOLDER
# Prints how many are valid, or what is said of those that are not, and exits with 1 then.
set -uo pipefail
[ $# -eq 2 ] || { sed -n '2,4s/^# \?//p' "$0"; exit 2; }
validator=$1 folder=$2
export validator
validate() {
  local said
  said=$("$validator" --target-env vulkan1.2 "$1" 2>&1) || { echo "$1: $said"; return 1; }
}
export -f validate
total=$(find "$folder" -name '*.spirv' | wc -l)
[ "$total" -gt 0 ] || { echo "there is no module in $folder"; exit 1; }
find "$folder" -name '*.spirv' -print0 | xargs -0 -P "$(nproc)" -I{} bash -c 'validate {}' || exit 1
echo "$total modules are valid: $("$validator" --version | head -1)"
