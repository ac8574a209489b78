#!/usr/bin/env bash
# Runs the integration tests on their own control plane. Its audit log records all requests, and the tests compare it
# with the operator's permissions. Most tests mostly wait, so ten run in parallel. Arguments are passed to go test:
# hack/test-integration.sh -race, or -run TestTheSmallest
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

make --no-print-directory bin/local >&2
dir=$(mktemp -d -t databasecluster-audit.XXXXXX)
trap 'rm -rf "$dir"' EXIT
DBC_TEST_AUDIT_LOG=$dir/audit.log bin/local control-plane run \
    kube-apiserver:--audit-policy-file="$PWD/test/integration/audit-policy.yaml" \
    kube-apiserver:--audit-log-path="$dir/audit.log" kube-apiserver:--audit-log-maxsize=8192 \
    kube-controller-manager:--kube-api-qps=500 kube-controller-manager:--kube-api-burst=500 \
    -- go test -count=1 -timeout 30m -parallel 10 -tags integration "$@" ./test/integration/...
