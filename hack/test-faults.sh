#!/usr/bin/env bash
# Disturbs PostgreSQL clusters under load on the real node, and looks for every acknowledged row. `make test-faults`,
# `make test-faults-archive` and `make bench-failover` run it. Arguments are passed to go test. The script stops the node
# afterward unless it ran before; KEEP=1 keeps it. With NODE=shared it uses a node with the operator and the images, and does
# not disturb other users of it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(dirname "$0")/cluster.sh"

if [ "${NODE:-mine}" = shared ]; then
    share_local_node
else
    borrow_local_node
    make --no-print-directory image image-patroni IMG="$IMG"
    "$local" load dist/operator.tar dist/patroni.tar
    case "$*" in *EveryMoment*) load_bucket_image ;; esac
    deploy_operator
    export DBC_WHOLE_NODE=yes
fi
DBC_OUTPUT=$root/dist/faults DBC_LOCAL=$local PATH=$(dirname "$KUBECTL"):$PATH \
    go test -tags faults -count=1 -timeout=12h -v "$@" ./test/faults
