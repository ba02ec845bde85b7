set -o pipefail
# Masked attention and rows with several draws of inputs, which follow the place of a case among those that the filters
# name.
R="sh .gpu/run.sh"
nvidia-smi -L; nvidia-smi --query-gpu=driver_version --format=csv,noheader
for others in "" "--filter=softmax" "--filter=softmax --filter=attention.shared --filter=negative-zeros" "--filter=attention" "--filter=reduce.max" \
    "--filter=scan" "--filter=gather" "--filter=binary.add" "--filter=cast" "--filter=layer" "--filter=matmul" "--filter=convolution"; do
  echo "== masks sm_90a, beside '$others'"; timeout 100 $R zyx-conformance --device=cuda --filter=masked $others || echo "FAILED $?"
done
echo == random schedules; time timeout 60 $R zyx-conformance --device=cuda --optimise=schedules --filter=masked
echo == masks sm_80; export ZYX_PTXAS=; time timeout 120 $R zyx-conformance --device=cuda --target=sm_80 --filter=masked --report=$OUT/masks-sm80.tsv
unset ZYX_PTXAS
echo == end
