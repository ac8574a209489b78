#!/usr/bin/env bash
# The scorecard of Operator SDK on the real node: the six tests that come with it, and ours. Its images come from
# here, under the names that the bundle has for them, so nothing is pulled. Results are in dist/scorecard.json. A
# node that was not up before is taken down afterwards; KEEP=1 keeps it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(dirname "$0")/cluster.sh"

borrow_local_node
load_local_images
make --no-print-directory image-scorecard SCORECARD_IMG="$SCORECARD_IMG"
"$local" image scorecard-test --out dist/scorecard-test.tar
"$local" load dist/scorecard.tar dist/scorecard-test.tar
deploy_operator
kubectl apply --server-side -k config/scorecard/rbac

# The node has no docker.io: the bundle's own configuration, with the image of PostgreSQL that there is.
sed -E "s#^( *)- (sample-becomes-available|conditions-are-complete|backup-is-restored)\$#&\n\1- --image=$POSTGRES_IMG#" \
    bundle/tests/scorecard/config.yaml >dist/scorecard-config.yaml
say "operator-sdk scorecard"
"$("$local" tool operator-sdk)" scorecard ./bundle --config dist/scorecard-config.yaml --namespace databasecluster-scorecard \
    --service-account databasecluster-operator-scorecard --pod-security restricted --untar-image "$SCORECARD_IMG" \
    --wait-time 5m --output json >dist/scorecard.json || true # what has failed stands in the results
go run ./hack/scorecard bundle/tests/scorecard/config.yaml dist/scorecard.json
