#!/usr/bin/env bash
# The catalog of config/catalog/semver.yaml, from today's bundle and that of the release before, without a registry: as
# catalogs are published (dist/catalog), and with the bundles' manifests in it (dist/catalog-inline), for a cluster that
# cannot pull their images. Fails unless opm finds them valid and the release before leads to today's. Run by `make catalog`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

: "${VERSION:?run this by make catalog, which sets it}" "${IMAGE_TAG_BASE:?run this by make catalog, which sets it}"
readonly package=databasecluster-operator template=config/catalog/semver.yaml
opm=$(bin/local tool opm)
previous=$(hack/previous.sh version)
folder=$(hack/previous.sh bundle)

# opm's own code, from the go.mod that pins opm. It tells of optional files that a bundle does not have.
CGO_ENABLED=0 go -C hack/tools/opm build -tags containers_image_openpgp -o "$PWD/bin/render" ./render
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sed "s|ghcr.io/dbcluster/databasecluster-operator-bundle:|$IMAGE_TAG_BASE-bundle:|" "$template" >"$scratch/semver.yaml"
for kind in "" -inline; do
	made=dist/catalog$kind
	rm -rf "$made"
	bin/render ${kind:+-$kind} --from "$package.v$previous" --to "$package.v$VERSION" "$scratch/semver.yaml" "$made/catalog.yaml" \
		"$IMAGE_TAG_BASE-bundle:v$previous=$folder" "$IMAGE_TAG_BASE-bundle:v$VERSION=${BUNDLE:-bundle}" \
		2> >(grep -v 'Could not find optional' >&2)
	"$opm" validate "$made"
	echo "$made is valid"
done
"$opm" alpha list channels dist/catalog
"$opm" alpha list bundles dist/catalog
"$opm" alpha render-graph dist/catalog >dist/catalog.mermaid
echo "dist/catalog.mermaid draws the upgrades"
