# Sourced by the scripts that need a cluster with the operator on it.
# shellcheck shell=bash

# say prints the next step.
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

# show prints a command and runs it.
show() {
    printf '\033[36m$ %s\033[0m\n' "$*"
    "$@"
}

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

[ -n "${IMG:-}" ] || fail "IMG does not name the operator's image: run this by make, which does"

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit
local=$root/bin/local
# shellcheck disable=SC2034 # used by those who source this
namespace=databasecluster-operator-system

# kubectl is the user's own for CLUSTER=current, and the node's for the local node.
kubectl() { command "${KUBECTL:-kubectl}" "$@"; }

# require_node fails early if the local node is impossible.
require_node() {
    [ "$(uname -s)" = Linux ] || fail "a node of its own needs Linux; use a cluster that you have: CLUSTER=current"
    [ "$(id -u)" = 0 ] || fail "a node of its own needs root: run it with sudo, or use a cluster that you have: CLUSTER=current"
}

# use_local_node starts the node and uses its kubeconfig, whatever KUBECONFIG is.
use_local_node() {
    require_node
    make --no-print-directory bin/local >/dev/null
    "$local" up
    KUBECONFIG=$("$local" kubeconfig)
    KUBECTL=$("$local" tool kubectl)
    export KUBECONFIG KUBECTL
}

# borrow_local_node is for tests: it stops a node at exit unless the node ran before. KEEP=1 keeps the node.
borrow_local_node() {
    require_node
    make --no-print-directory bin/local >/dev/null
    if ! "$local" status >/dev/null 2>&1 && [ "${KEEP:-}" != 1 ]; then
        trap '"$local" down' EXIT
    fi
    POSTGRES_IMG=${POSTGRES_IMG:-localhost/postgresql:15}
    use_local_node
}

# share_local_node is for tests on a node that runs, with the operator and the images.
share_local_node() {
    make --no-print-directory bin/local >/dev/null
    "$local" status >/dev/null || fail "NODE=shared needs a node that runs: bin/local up"
    KUBECONFIG=$("$local" kubeconfig)
    KUBECTL=$("$local" tool kubectl)
    export KUBECONFIG KUBECTL
}

# require_no_operator is for tests that install the operator.
require_no_operator() {
    [ -z "$(kubectl get crd databaseclusters.database.dbcluster.io --ignore-not-found -o name)" ] ||
        fail "the operator is already installed on this node, but these tests install it: remove it (make undeploy uninstall), or the node (bin/local down)"
}

use_current_context() {
    command -v kubectl >/dev/null || fail "kubectl is not on the PATH"
    KUBECTL=kubectl
    export KUBECTL
    context=$(kubectl config current-context 2>/dev/null) || fail "kubectl has no current context: set one with kubectl config use-context"
    say "Using the current context $context ($(kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}'))"
    kubectl version --request-timeout=10s >/dev/null || fail "the API server of context $context does not answer"
}

# load_into_current loads images into clusters on this machine. Other clusters pull them.
load_into_current() {
    case $context in
    kind-*) show kind load docker-image "$IMG" "$POSTGRES_IMG" --name "${context#kind-}" ;;
    minikube) show minikube image load "$IMG" && show minikube image load "$POSTGRES_IMG" ;;
    *) echo "This cluster has to be able to pull $IMG and $POSTGRES_IMG (IMG= and POSTGRES_IMG= name others)." ;;
    esac
}

# use_cluster starts the local node, without images, or, with CLUSTER=current, uses the current context.
use_cluster() {
    case ${CLUSTER:-} in
    current)
        POSTGRES_IMG=${POSTGRES_IMG:-docker.io/library/postgres:17}
        use_current_context
        load_into_current
        ;;
    "")
        say "A Kubernetes node of its own on this machine"
        use_local_node
        ;;
    *) fail "CLUSTER=$CLUSTER: the only value is \"current\"; without it a node of its own starts on this machine" ;;
    esac
}

# load_local_images builds the images and loads them into the node.
load_local_images() {
    make --no-print-directory image image-postgresql IMG="$IMG" POSTGRES_IMG="$POSTGRES_IMG"
    "$local" load dist/operator.tar dist/postgresql.tar
}

# load_replicas_image loads the image of PostgreSQL with replicas into a cluster on this machine. Others pull it.
load_replicas_image() {
    PATRONI_IMG=${PATRONI_IMG:-localhost/postgresql-patroni:17}
    echo "This cluster needs the image $PATRONI_IMG. To build it: docker build -t $PATRONI_IMG config/engines/postgresql-v1/image"
    case $context in
    kind-*) show kind load docker-image "$PATRONI_IMG" --name "${context#kind-}" ;;
    minikube) show minikube image load "$PATRONI_IMG" ;;
    esac
}

# load_bucket_image loads the image of an S3 server. Clusters that are not on this machine pull it.
load_bucket_image() {
    if [ "${CLUSTER:-}" != current ]; then
        make --no-print-directory image-versitygw
        "$local" load dist/versitygw.tar
        return
    fi
    export VERSITYGW_IMG=${VERSITYGW_IMG:-docker.io/versity/versitygw:v1.0.14}
}

# deploy_operator deploys config/default and waits for both replicas. An operator that ran before with the same tag may
# use another image, so it is restarted.
deploy_operator() {
    local ran_before
    ran_before=$(kubectl -n "$namespace" get deployments -o name 2>/dev/null || true)
    make --no-print-directory deploy IMG="$IMG" KUBECTL="$KUBECTL"
    if [ -n "$ran_before" ]; then
        kubectl -n "$namespace" rollout restart deployment
        kubectl -n "$namespace" rollout status deployment --timeout=180s
    fi
}

# sample prints the manifest of config/samples with the local image.
sample() {
    sed "s|docker.io/library/postgres:17|$POSTGRES_IMG|" config/samples/database_v1alpha1_databasecluster.yaml
}
