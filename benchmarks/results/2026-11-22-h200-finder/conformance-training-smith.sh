# Conformance, masks with three draws, 2,000 random graphs, both trainings, quantised products, then the finder's first programs.
set -o pipefail
R="sh .gpu/run.sh"
nvidia-smi -L; nvidia-smi --query-gpu=driver_version --format=csv,noheader
export PYTHONUNBUFFERED=1
echo == conformance; time timeout 200 $R zyx-conformance --device=cuda --report=$OUT/all.tsv || echo "FAILED $?"
for others in "" "--filter=softmax" "--filter=attention"; do
  echo "== masks sm_90a, beside '$others'"; timeout 60 $R zyx-conformance --device=cuda --filter=masked $others || echo "FAILED $?"
done
echo == training
time timeout 60 $R digits-train examples/digits.safetensors --epochs=20 --device=cuda --out=/tmp || echo "FAILED $?"
time timeout 60 $R chargpt examples/pride-and-prejudice.txt --steps=300 --device=cuda --out=/tmp || echo "FAILED $?"
echo == quantised; ZYX_DEVICE=cuda timeout 100 $R zyx-bench-quantised || echo "FAILED $?"
echo == smith; time timeout 200 $R zyx-smith --device=cuda --optimise=default --seed=701000 --count=2000 --time=190 --reduce=$OUT/smith || echo "FAILED $?"
echo == end
