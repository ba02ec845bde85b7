# Conformance, with schedules drawn, both trainings, random graphs, programs like models beside the interpreter, then the finder's first programs.
set -o pipefail
R="sh .gpu/run.sh"
nvidia-smi -L; nvidia-smi --query-gpu=driver_version --format=csv,noheader
export PYTHONUNBUFFERED=1
echo == conformance; time timeout 120 $R zyx-conformance --device=cuda --report=$OUT/all.tsv | tail -30 || echo "FAILED $?"
echo == schedules; time timeout 100 $R zyx-conformance --device=cuda --optimise=schedules | tail -20 || echo "FAILED $?"
echo == training
timeout 60 $R digits-train examples/digits.safetensors --epochs=20 --device=cuda --out=/tmp | tail -1 || echo "FAILED $?"
timeout 60 $R chargpt examples/pride-and-prejudice.txt --steps=300 --device=cuda --out=/tmp | tail -1 || echo "FAILED $?"
echo == smith; timeout 90 $R zyx-smith --device=cuda --optimise=default --seed=701000 --count=2000 --time=${SMITH:-60} --reduce=$OUT/smith | tail -5 || echo "FAILED $?"
echo == models; timeout 60 $R zyx-smith --like=models --seed=5 --count=60 --device=cuda | tail -5 || echo "FAILED $?"
echo == end
