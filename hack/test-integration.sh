#!/usr/bin/env bash
# The integration tests on a control plane of their own, which notes who asked for what: by that log they judge the
# operator's rights. Most of them wait most of the time, so ten run side by side. Arguments go to go test:
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
