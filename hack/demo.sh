#!/usr/bin/env bash
# The operator's main job on real input: three PostgreSQL databases, a row that survives the death of its
# pod, scaling. `make demo` runs it on a Kubernetes node that it starts on this machine; a set KUBECONFIG
# changes nothing about that. `make demo CLUSTER=current` runs it on the current context.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(dirname "$0")/cluster.sh"

demo=demo
started=$SECONDS

# await waits for a condition. After a timeout it prints the conditions of the cluster.
await() {
    show kubectl -n $demo wait --for=condition="$1" databasecluster/orders --timeout=300s && return
    kubectl -n $demo get databasecluster,pods -o wide || true
    kubectl -n $demo describe databasecluster orders || true
    fail "orders is not $1 after 300 s; its conditions above say why"
}

# sql runs a statement on a database, by the DNS name of its member, from the pod of another member.
sql() {
    local host=$1 statement=$2
    printf '\033[36mSQL on %s: %s\033[0m\n' "$host" "$statement"
    # shellcheck disable=SC2016 # the password is read in the pod
    kubectl -n $demo exec orders-1 -- sh -c 'PGPASSWORD=$POSTGRES_PASSWORD exec psql -X -q -h "$1" -U postgres -c "$2"' sh "$host" "$statement"
}

make_cluster() {
    kubectl create namespace $demo --dry-run=client -o yaml | kubectl apply -f - >/dev/null
    kubectl label namespace $demo pod-security.kubernetes.io/enforce=restricted --overwrite >/dev/null
    if ! kubectl -n $demo get secret orders >/dev/null 2>&1; then
        head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' | kubectl -n $demo create secret generic orders --from-file=password=/dev/stdin
    fi
    echo "config/samples/database_v1alpha1_databasecluster.yaml with the image $POSTGRES_IMG:"
    sample | kubectl -n $demo apply -f -
}

story() {
    say "Three PostgreSQL databases from one DatabaseCluster"
    make_cluster
    await Available
    show kubectl -n $demo get databaseclusters
    show kubectl -n $demo get pods,persistentvolumeclaims,services

    say "A row in the first database, written by that database's own name"
    echo "The three are independent of each other: nothing is replicated between them."
    sql orders-0.orders-headless "CREATE TABLE IF NOT EXISTS demo (id int PRIMARY KEY, note text)"
    sql orders-0.orders-headless "INSERT INTO demo VALUES (1, 'still here') ON CONFLICT DO NOTHING"

    say "Kill its pod"
    show kubectl -n $demo delete pod orders-0 --now
    show kubectl -n $demo wait pod/orders-0 --for=create --timeout=60s
    show kubectl -n $demo wait pod/orders-0 --for=condition=Ready --timeout=300s
    await Ready
    sql orders-0.orders-headless "SELECT * FROM demo"

    say "Scale to four"
    show kubectl -n $demo scale databasecluster orders --replicas=4
    await Ready
    show kubectl -n $demo get databaseclusters
}

what_next() {
    say "Done in $((SECONDS - started)) s. The cluster stays up. Try next:"
    if [ "${CLUSTER:-}" != current ]; then
        echo "  export KUBECONFIG=$KUBECONFIG PATH=$(dirname "$KUBECTL"):\$PATH"
    fi
    cat <<END
  kubectl -n $demo describe databasecluster orders        # conditions and events
  kubectl -n $demo get databaseclusters --watch
  kubectl -n $demo patch databasecluster orders --type merge -p '{"spec":{"image":"no/such:image"}}'
                                                       # one member goes down, the others stay
  kubectl -n $demo patch databasecluster orders --type merge -p '{"spec":{"image":"$POSTGRES_IMG"}}'
                                                       # and it recovers without a hand
  kubectl -n $demo delete databasecluster orders          # the hook runs, members stop one by one
  kubectl -n $demo get persistentvolumeclaims             # and the volumes are kept
  make demo-down                                       # removes everything
END
}

# down removes the demo: the node with everything on it or, on the current context, the demo's namespace and the
# operator.
down() {
    if [ "${CLUSTER:-}" = current ]; then
        use_current_context
        show kubectl -n $demo delete databaseclusters --all --ignore-not-found
        show kubectl delete namespace $demo --ignore-not-found
        make --no-print-directory undeploy uninstall ignore-not-found=true IMG="$IMG" KUBECTL="$KUBECTL"
        return
    fi
    require_node
    make --no-print-directory bin/local >/dev/null
    "$local" down
}

if [ "${1:-}" = down ]; then
    down
    exit
fi
use_cluster
say "The operator, with two replicas"
deploy_operator
show kubectl -n "$namespace" get pods
story
what_next
