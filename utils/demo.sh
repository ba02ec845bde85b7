#!/usr/bin/env bash
# Classifies handwritten digits and writes a text on the CPU: installs what is missing, builds zyx-run and the
# examples, runs examples/digits-knn.mlir, trains a network of digits from three seeds, and a transformer of
# characters. Takes no options.
set -euo pipefail
source "$(dirname "$0")/lib.sh"

step "install packages" "$zyx_root/utils/install.sh"
step "configure build/release" configure release
step "build zyx-run, digits-train and chargpt" build release zyx-run digits-train chargpt
step "classify test rows 1000-1796 by training rows 0-999, on the CPU" \
  digits release 0:1000 1000:1797 --device=cpu --time
for seed in 1 2 3; do
  step "train a convolutional network on rows 0-999 from seed $seed, and test it on the others" \
    digits_train release $seed
done
echo "loss and confusion: build/release/digits-train-3/*.svg"
step "train a transformer on nine tenths of a text, test it on the rest, and let it write" chargpt release 400 0.3
