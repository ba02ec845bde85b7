# Conformance with a limit, and what stands last if it hangs: conf.sh SECONDS [options]
set -o pipefail
limit=$1; shift
timeout -k 5 $limit sh .gpu/run.sh zyx-conformance --device=cuda "$@" > $OUT/conformance.log 2>&1; rc=$?
grep -v "^pass\|PASS" $OUT/conformance.log | tail -15; echo "conformance $* rc $rc"
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
