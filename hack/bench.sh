#!/usr/bin/env bash
# What does the operator cost, beside a bare client that writes the same objects? `make bench-quick` runs it,
# without root, on a control plane of its own. One figure a line goes to the standard output; how far it is goes
# to the other. Arguments go to the benchmark: hack/bench.sh --sizes 10,100 --rest 20s
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

make --no-print-directory bin/local bin/manager >&2

# After a failure the directory contains the logs.
dir=$(mktemp -d -t databasecluster-bench.XXXXXX)
go build -o "$dir/bench" ./test/bench
# The controllers that StatefulSets, pods and PodDisruptionBudgets need.
bin/local control-plane run \
    kube-apiserver:--audit-policy-file="$PWD/test/bench/audit-policy.yaml" \
    kube-apiserver:--audit-log-path="$dir/audit.log" kube-apiserver:--audit-log-maxsize=8192 \
    kube-controller-manager:--controllers=statefulset-controller,disruption-controller,serviceaccount-controller \
    -- "$dir/bench" --manager="$PWD/bin/manager" --audit-log="$dir/audit.log" "$@" || {
    echo "The logs of the operator and of the floor are in $dir." >&2
    exit 1
}
rm -rf "$dir"
