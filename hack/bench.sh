#!/usr/bin/env bash
# What does the operator cost, beside a bare client that writes the same objects? `make bench-quick` runs it,
# without root, on a control plane of its own. One figure a line goes to the standard output; how far it is goes
# to the other. Arguments go to the benchmark: hack/bench.sh --sizes 10,100 --rest 20s
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

make --no-print-directory bin/local bin/manager >&2

# What is left in there tells why a run failed.
dir=$(mktemp -d -t databasecluster-bench.XXXXXX)
go build -o "$dir/bench" ./test/bench
bin/local control-plane run \
    --audit-policy-file="$PWD/test/bench/audit-policy.yaml" --audit-log-path="$dir/audit.log" --audit-log-maxsize=8192 \
    -- "$dir/bench" --manager="$PWD/bin/manager" --audit-log="$dir/audit.log" "$@" || {
    echo "The logs of the operator and of the floor are in $dir." >&2
    exit 1
}
rm -rf "$dir"
