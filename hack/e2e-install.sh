#!/usr/bin/env bash
# Installs and uninstalls the operator on the real node, with Helm and with plain manifests, also in the wrong order.
# Arguments are passed to go test. The script stops the node afterward unless it ran before; KEEP=1 keeps it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(dirname "$0")/cluster.sh"

borrow_local_node
helm=$("$local" tool helm)
require_no_operator
load_local_images
make --no-print-directory build-installer IMG="$IMG"
export IMG
DBC_TEST_KUBECONFIG=$KUBECONFIG DBC_TEST_POSTGRES_IMG=$POSTGRES_IMG DBC_PREVIOUS_CRDS=$(hack/previous.sh crds) \
    PATH=$(dirname "$KUBECTL"):$(dirname "$helm"):$PATH \
    go test -tags e2e -count=1 -timeout=30m -v "$@" ./test/install/...
