#!/usr/bin/env bash
# How much does the operator cost, compared with a minimal client that writes the same objects? `make bench-quick` and
# `make bench` run this script. It needs no root: it starts a control plane of its own. It prints one figure a line to
# the standard output, and its progress to the standard error. The first argument is the form, thin or full; the others
# go to the benchmark: hack/bench.sh thin --sizes 10,100 --rest 20s
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

form=$1
shift
make --no-print-directory bin/local bin/manager >&2

# The thin form has only the controllers that StatefulSets, pods and deletions need. The controller for
# PodDisruptionBudgets compares each pod with every budget of its namespace, so it would limit all contestants.
controllers=statefulset-controller,serviceaccount-controller,garbage-collector-controller
if [[ $form == full ]]; then
    set -- --scheduler="$(bin/local tool kube-scheduler)" --kwok="$(bin/local tool kwok)" "$@"
    controllers+=,disruption-controller,job-controller,deployment-controller,replicaset-controller,endpointslice-controller,root-ca-certificate-publisher-controller
    controllers+=,persistentvolume-binder-controller,persistentvolume-protection-controller,persistentvolumeclaim-protection-controller
fi

# After a failure the directory contains the logs.
dir=$(mktemp -d -t databasecluster-bench.XXXXXX)
trap 'rmdir "$dir" 2>/dev/null || true' EXIT
go build -o "$dir/bench" ./test/bench
audit=$dir/audit.log
if ! "$dir/bench" --only-check --form="$form" --audit-log="$audit" "$@"; then
    rm -rf "$dir"
    exit 1
fi
# etcd gets more space than it needs. The controllers have more workers than by default, so that they do not limit the
# contestants. The control plane trades memory for fewer garbage collections, unlike the contestants.
env GOGC=200 GOMEMLIMIT=8GiB bin/local control-plane run \
    etcd:--quota-backend-bytes=8589934592 \
    kube-apiserver:--audit-policy-file="$PWD/test/bench/audit-policy.yaml" \
    kube-apiserver:--audit-log-path="$audit" kube-apiserver:--audit-log-maxsize=8192 \
    kube-controller-manager:--controllers="$controllers" \
    kube-controller-manager:--concurrent-statefulset-syncs=20 \
    -- env -u GOGC -u GOMEMLIMIT "$dir/bench" --form="$form" --audit-log="$audit" "$@" || {
    echo "The logs of the contestants are in $dir." >&2
    exit 1
}
rm -rf "$dir"
