#!/usr/bin/env bash
# Runs the users' stories as tests on the real node or, with CLUSTER=current, on the current context. Arguments are
# passed to go test. The script stops the node afterward unless it ran before; KEEP=1 keeps it. Stories that need other
# images build and load them. On the current context, REDIS_IMG, MARIADB_IMG, PATRONI_IMG, PGBOUNCER_IMG, ETCD_IMG, MEMCACHED_IMG, VERSITYGW_IMG,
# NEXT_POSTGRES_IMG and PAUSE_IMG are images that it can pull.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(dirname "$0")/cluster.sh"

if [ -n "${CLUSTER:-}" ]; then
    use_cluster
    # Keep the current context, even if the user switches later.
    umask 077
    kubeconfig=$(mktemp)
    trap 'rm -f "$kubeconfig"' EXIT
    kubectl config view --minify --flatten --raw >"$kubeconfig"
    export KUBECONFIG=$kubeconfig PAUSE_IMG=${PAUSE_IMG:-registry.k8s.io/pause:3.10.1} REDIS_IMG=${REDIS_IMG:-docker.io/library/redis:7}
    export MARIADB_IMG=${MARIADB_IMG:-docker.io/library/mariadb:11.4}
else
    borrow_local_node
    load_local_images
fi
deploy_operator
DBC_TEST_CLUSTER=${CLUSTER:-} DBC_TEST_KUBECONFIG=$KUBECONFIG DBC_TEST_POSTGRES_IMG=$POSTGRES_IMG PATH=$(dirname "$KUBECTL"):$PATH \
    go test -tags e2e -count=1 -timeout=120m -v "$@" ./test/e2e/...
