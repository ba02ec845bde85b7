set -o pipefail
R="sh .gpu/run.sh"
echo == smith; time timeout 280 $R zyx-smith --device=cuda --optimise=default --seed=701000 --count=2000 --time=260 --reduce=$OUT/smith
echo == conformance; time timeout 300 $R zyx-conformance --device=cuda --report=$OUT/all.tsv
echo == end
