#!/usr/bin/env bash
# Checks that builds of the current commit are reproducible. It builds the images twice: in two folders, at two times,
# with other settings of the machine, and the second time with an empty build cache. `make reproducible` runs it;
# PLATFORMS are the platforms of the images.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset MAKEFLAGS MFLAGS MAKEOVERRIDES VERSION IMG SCORECARD_IMG

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
modules=$(go env GOMODCACHE)

# build FOLDER SETTING... builds the images in a clone there and lists their content.
build() {
	local folder=$1
	shift
	git clone -q --shared --no-checkout . "$folder"
	git -C "$folder" -c advice.detachedHead=false checkout -q "$(git rev-parse HEAD)"
	env GOMODCACHE="$modules" "$@" make -C "$folder" --no-print-directory PLATFORMS="$PLATFORMS" image image-multiarch >&2
	(cd "$folder" && sha256sum bin/linux-*/* dist/*.tar)
}

[[ -z $(git status --porcelain) ]] || echo "warning: the build ignores uncommitted changes" >&2
echo "once, with the build cache of this machine" >&2
build "$scratch/one" >"$scratch/once"
echo "again, with an empty one: this takes minutes" >&2
umask 077
build "$scratch/another/and/a-longer/path" GOCACHE="$scratch/cache" TZ=Pacific/Apia LC_ALL=C HOME="$scratch" \
	GOFLAGS=-buildvcs=true GOAMD64=v2 SOURCE_DATE_EPOCH=1 >"$scratch/again"

cat "$scratch/once"
diff "$scratch/once" "$scratch/again" >"$scratch/difference" || {
	echo "error: the second build of the same commit differs:"
	grep '^>' "$scratch/difference"
	exit 1
} >&2
echo "Built twice, the same bytes."
