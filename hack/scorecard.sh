#!/usr/bin/env bash
# Runs the scorecard of Operator SDK on the real node: its six built-in tests, and ours. The script builds the images
# with the names in the bundle, so the node pulls none. Results are in dist/scorecard.json. The script stops the node
# afterward unless it ran before; KEEP=1 keeps it.
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

# The node cannot pull from docker.io: use the bundle's configuration with the local PostgreSQL image.
sed -E "s#^( *)- (sample-becomes-available|conditions-are-complete|backup-is-restored)\$#&\n\1- --image=$POSTGRES_IMG#" \
    bundle/tests/scorecard/config.yaml >dist/scorecard-config.yaml
say "operator-sdk scorecard"
"$("$local" tool operator-sdk)" scorecard ./bundle --config dist/scorecard-config.yaml --namespace databasecluster-scorecard \
    --service-account databasecluster-operator-scorecard --pod-security restricted --untar-image "$SCORECARD_IMG" \
    --wait-time 5m --output json >dist/scorecard.json || true # the results have the failures
go run ./hack/scorecard bundle/tests/scorecard/config.yaml dist/scorecard.json
