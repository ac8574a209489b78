#!/usr/bin/env bash
# The users' stories as tests on the real node. Arguments go to go test. A node that was not up before is
# taken down afterwards; KEEP=1 keeps it. Images that only some stories need are made and loaded by these.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(dirname "$0")/cluster.sh"

POSTGRES_IMG=${POSTGRES_IMG:-localhost/postgresql:15}

require_node
make --no-print-directory bin/local >/dev/null
if ! "$local" status >/dev/null 2>&1 && [ "${KEEP:-}" != 1 ]; then
    trap '"$local" down' EXIT
fi
use_local_node
load_local_images
deploy_operator
DBC_TEST_KUBECONFIG=$KUBECONFIG DBC_TEST_POSTGRES_IMG=$POSTGRES_IMG PATH=$(dirname "$KUBECTL"):$PATH \
    go test -tags e2e -count=1 -timeout=30m -v "$@" ./test/e2e/...
