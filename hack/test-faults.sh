#!/usr/bin/env bash
# Disturbs PostgreSQL clusters under load on the real node, and looks for every acknowledged row. `make test-faults`,
# `make test-faults-archive`, `make bench-failover` and `make bench-clients` run it. Arguments are passed to go test. The script
# stops the node afterward unless it ran before; KEEP=1 keeps it. With NODE=shared it uses a node with the operator and the
# images, and does not disturb other users of it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(dirname "$0")/cluster.sh"

# install_cloudnative_pg installs the operator CloudNativePG from its Go module, with images of our own.
install_cloudnative_pg() {
    local module=hack/tools/cloudnative-pg release
    make --no-print-directory image-pgbouncer image-cloudnative-pg image-cloudnative-pg-pgbouncer
    "$local" load dist/pgbouncer.tar dist/cloudnative-pg.tar dist/cloudnative-pg-pgbouncer.tar
    go -C $module mod download github.com/cloudnative-pg/cloudnative-pg
    release=$(go -C $module list -m -f '{{.Dir}}/releases/cnpg-{{slice .Version 1}}.yaml' github.com/cloudnative-pg/cloudnative-pg)
    sed 's/imagePullPolicy: Always/imagePullPolicy: IfNotPresent/' "$release" >dist/cloudnative-pg.yaml
    kubectl apply --server-side -f dist/cloudnative-pg.yaml
    kubectl -n cnpg-system rollout status deployment --timeout=180s
}

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
case "$*" in *BenchClients*) install_cloudnative_pg ;; esac
status=0
DBC_OUTPUT=$root/dist/faults DBC_LOCAL=$local PATH=$(dirname "$KUBECTL"):$PATH \
    go test -tags faults -count=1 -timeout=12h -v "$@" ./test/faults || status=$?
case "$*" in *BenchClients*) kubectl delete --ignore-not-found -f dist/cloudnative-pg.yaml ;; esac
exit $status
