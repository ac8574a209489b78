#!/usr/bin/env bash
# Writes the OLM bundle from the manifests on stdin. `make bundle` runs it and sets:
#   VERSION IMG CHANNELS DEFAULT_CHANNEL   what the bundle is of
#   BUNDLE_OUT                             where bundle/ and bundle.Dockerfile go; "." is the checkout
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sdk=$(bin/local tool operator-sdk)
# operator-sdk writes to its working directory and removes no obsolete files. So it runs in another directory.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp PROJECT "$scratch/"
(cd "$scratch" && "$sdk" generate bundle -q --overwrite --version "$VERSION" \
	--channels="$CHANNELS" --default-channel="$DEFAULT_CHANNEL")
go run ./hack/bundle finish "$scratch/bundle" "$IMG"

mkdir -p "$BUNDLE_OUT"
rm -rf "$BUNDLE_OUT/bundle"
cp -r "$scratch/bundle" "$scratch/bundle.Dockerfile" "$BUNDLE_OUT/"
