#!/usr/bin/env bash
# The stories of Operator Lifecycle Manager users on the real node. OLM itself and the catalog run as programs on this
# machine and end with the tests. Arguments are passed to go test. The script stops the node afterward unless it ran
# before; KEEP=1 keeps it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(dirname "$0")/cluster.sh"

[ "$IMG" = "$IMAGE_TAG_BASE:v$VERSION" ] || fail "IMG is $IMG, and bundle/ installs $IMAGE_TAG_BASE:v$VERSION: leave IMG as it is"

borrow_local_node
require_no_operator # before the long builds
make --no-print-directory catalog VERSION="$VERSION" IMAGE_TAG_BASE="$IMAGE_TAG_BASE"
tools=$("$local" tool opm olm)
"$local" tool catalog >/dev/null # beside olm
previous=$(hack/previous.sh image)
load_local_images
"$local" load "$previous"
path=$root/bin:$(dirname "$KUBECTL")
for tool in $tools; do path=$path:$(dirname "$tool"); done
DBC_TEST_KUBECONFIG=$KUBECONFIG DBC_TEST_POSTGRES_IMG=$POSTGRES_IMG DBC_TEST_VERSION=$VERSION \
    DBC_TEST_PREVIOUS=$(hack/previous.sh version) DBC_TEST_PREVIOUS_BUNDLE=$(hack/previous.sh bundle) \
    DBC_TEST_PREVIOUS_ENGINES=$(hack/previous.sh engines) PATH=$path:$PATH \
    go test -tags e2e -count=1 -timeout=40m -v "$@" ./test/olm/...
