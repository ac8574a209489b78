#!/usr/bin/env bash
# Renders the catalog of config/catalog/semver.yaml from the bundles of this and of the previous release, without a
# registry. dist/catalog is the catalog for publication. dist/catalog-inline contains the manifests of the bundles, for
# a cluster that cannot pull their images. Fails unless opm validates both and the previous release leads to this one.
# `make catalog` runs it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

: "${VERSION:?run this by make catalog, which sets it}" "${IMAGE_TAG_BASE:?run this by make catalog, which sets it}"
readonly package=databasecluster-operator template=config/catalog/semver.yaml
opm=$(bin/local tool opm)
previous=$(hack/previous.sh version)
folder=$(hack/previous.sh bundle)

# The code of opm, from the go.mod that pins opm. It warns about optional files that are missing in a bundle.
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
