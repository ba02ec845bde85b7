#!/usr/bin/env bash
# Classifies handwritten digits on the CPU: installs what is missing, builds zyx-run, and runs
# examples/digits-knn.mlir. Takes no options.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

step "install packages" "$zyx_root/utils/install.sh"
step "configure build/release" configure release
step "build zyx-run" build release zyx-run
step "classify test rows 1000-1796 by training rows 0-999, on the CPU" \
  digits release 0:1000 1000:1797 --device=cpu --time
