set -o pipefail
R="sh .gpu/run.sh"
nvidia-smi -L; nvidia-smi --query-gpu=driver_version --format=csv,noheader
$R zyx-run --list-devices
echo == masks sm_90a;  time timeout 170 $R zyx-conformance --device=cuda --filter=masked --filter=softmax --filter=attention.shared --filter=negative-zeros --report=$OUT/masks-sm90a.tsv
echo == training
time timeout 60 $R digits-train examples/digits.safetensors --epochs=20 --device=cuda --out=/tmp
time timeout 60 $R chargpt examples/pride-and-prejudice.txt 300 --device=cuda --out=/tmp || time timeout 60 $R chargpt examples/pride-and-prejudice.txt --steps=300 --device=cuda --out=/tmp
echo == outputs; $R zyx-run examples/softmax.mlir --random=1 --device=cuda --outputs=/tmp/o.safetensors && $R zyx-run examples/softmax.mlir --random=1 --device=reference --outputs=/tmp/r.safetensors && python3 -c "
import safetensors.numpy as s, numpy as n
" ; ls -la /tmp/*.safetensors
echo == masks sm_80;   export ZYX_PTXAS=; time timeout 120 $R zyx-conformance --device=cuda --target=sm_80 --filter=masked --report=$OUT/masks-sm80.tsv
unset ZYX_PTXAS
echo == random schedules; time timeout 60 $R zyx-conformance --device=cuda --optimise=schedules --filter=masked
echo == end
