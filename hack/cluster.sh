# Sourced by demo.sh and e2e.sh: a cluster with the operator on it.
# shellcheck shell=bash

# say tells what comes next.
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

# kubectl is the user's own on a cluster of theirs, and the one that belongs to the node on ours.
kubectl() { command "${KUBECTL:-kubectl}" "$@"; }

# require_node says at once what is missing for a node of our own.
require_node() {
    [ "$(uname -s)" = Linux ] || fail "a node of its own needs Linux; use a cluster that you have: make demo CLUSTER=current"
    [ "$(id -u)" = 0 ] || fail "a node of its own needs root: run it with sudo, or use a cluster that you have: make demo CLUSTER=current"
}

# use_local_node starts the node and points kubectl at it, whatever KUBECONFIG says.
use_local_node() {
    require_node
    make --no-print-directory bin/local >/dev/null
    "$local" up
    KUBECONFIG=$("$local" kubeconfig)
    KUBECTL=$("$local" tool kubectl)
    export KUBECONFIG KUBECTL
}

# load_local_images makes the images and gives them to the node.
load_local_images() {
    make --no-print-directory image image-postgresql IMG="$IMG" POSTGRES_IMG="$POSTGRES_IMG"
    "$local" load dist/operator.tar dist/postgresql.tar
}

# deploy_operator deploys config/default and waits for both replicas. One that ran before under the same
# tag may run another image, so it starts anew.
deploy_operator() {
    local ran_before
    ran_before=$(kubectl -n "$namespace" get deployments -o name 2>/dev/null || true)
    make --no-print-directory deploy IMG="$IMG" KUBECTL="$KUBECTL"
    if [ -n "$ran_before" ]; then
        kubectl -n "$namespace" rollout restart deployment
        kubectl -n "$namespace" rollout status deployment --timeout=180s
    fi
}

# sample is the manifest of config/samples with the image that is there.
sample() {
    sed "s|docker.io/library/postgres:17|$POSTGRES_IMG|" config/samples/database_v1alpha1_databasecluster.yaml
}
