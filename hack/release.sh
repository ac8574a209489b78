#!/usr/bin/env bash
# Makes everything that a release consists of, as dist/release/VERSION, from the commit that is checked out and from
# nothing else: twice the same commit, name and version of Go, twice the same bytes. Pushes only where told. Run by
# `make release`, which says:
#   VERSION          the version, as in the Makefile
#   IMAGE_TAG_BASE   the operator's image without a tag; the others are named after it
#   PLATFORMS        what the images are for
#   PUSH_TO          registry and path to push to; empty: nothing leaves this machine
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What was given to make reaches the makes below by name, or not at all.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES IMG SCORECARD_IMG BUNDLE_IMG BUNDLE_OUT CHANNELS DEFAULT_CHANNEL TAR_OPTIONS GZIP
export LC_ALL=C TZ=UTC
umask 022

readonly name=databasecluster-operator
: "${VERSION:?}" "${IMAGE_TAG_BASE:?}" "${PLATFORMS:?}"
base=$IMAGE_TAG_BASE
[[ -z ${PUSH_TO:-} ]] || base=${PUSH_TO%/}/$name
tag=v$VERSION
made=$(git log -1 --format=%ct)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
readonly base tag made scratch source=$scratch/source out=$scratch/release

fail() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

say() { printf '\n=== %s\n' "$*"; }

# May this be released? Cheap questions first.
check() {
	local changes written previous _
	changes=$(git status --porcelain --untracked-files=all)
	[[ -z $changes ]] || fail "a release is made from a commit, and these files are not as committed: commit or remove them
$changes"
	written=$(sed -n 's/^VERSION ?= //p' Makefile)
	[[ $VERSION == "$written" ]] || fail "VERSION is $VERSION, and the Makefile of this commit says $written:" \
		"change it there, run \`make chart bundle\`, and commit"
	read -r previous _ <hack/previous-release
	[[ $VERSION != "$previous" ]] || fail "VERSION $VERSION is already released, as hack/previous-release says: raise VERSION in the Makefile"
	[[ $(printf '%s\n' "$previous" "$VERSION" | sort -V | tail -n 1) == "$VERSION" ]] ||
		fail "VERSION $VERSION comes before $previous, which hack/previous-release calls the release before: raise VERSION in the Makefile"
	hack/previous.sh version >/dev/null # it says what to do where the clone lacks that commit
	make --no-print-directory crd-compat ||
		fail "the CRDs do not take what those of release $previous took (see above): an upgrade would break clusters that run"
}

# The checkout itself is left alone: what is made from it is made in a clone of its own.
take_commit() {
	git clone -q --shared --no-checkout . "$source"
	git -C "$source" -c advice.detachedHead=false checkout -q "$(git rev-parse HEAD)"
}

# in_source runs make in that clone, for this version and these images.
in_source() {
	make -C "$source" --no-print-directory VERSION="$VERSION" IMAGE_TAG_BASE="$base" PLATFORMS="$PLATFORMS" "$@"
}

# digest is what every registry will call an image of this release: the operator's, or the one that is named.
digest() { tar -xOf "$out/$name${1:+-$1}-$VERSION.oci.tar" index.json | grep -oP '"digest": *"\K[^"]+'; }

images() {
	local bill
	in_source image-multiarch
	mv "$source/dist/operator.oci.tar" "$out/$name-$VERSION.oci.tar"
	mv "$source/dist/scorecard.oci.tar" "$out/$name-scorecard-$VERSION.oci.tar"
	operator=$(digest)
	scorecard=$(digest scorecard)
	in_source sbom
	for bill in "$source"/dist/sbom/*; do mv "$bill" "$out/$name-${bill##*/}"; done
}

manifests() {
	in_source build-installer IMG="$base@$operator"
	mv "$source"/dist/{crds,operator,install}.yaml "$out/"
}

# pack makes the image of a bundle or catalog: from scratch, labeled, with one layer.
pack() {
	"$source/bin/local" image "$1" --from "$source/dist/$1" --ref "$base-$1:$tag" --out "$out/$name-$1-$VERSION.oci.tar"
}

bundle() {
	in_source bundle IMG="$base@$operator" SCORECARD_IMG="$base-scorecard@$scorecard" BUNDLE_OUT=dist
	pack bundle
	# The same as files: OperatorHub's repository takes them so.
	tar -C "$source/dist" --format=ustar --sort=name --mtime="@$made" --owner=0 --group=0 --numeric-owner -cf - bundle |
		gzip -n >"$out/$name-bundle-$VERSION.tar.gz"
}

# The catalog names today's bundle by its digest, the one before as it was released.
catalog() {
	local bundle
	bundle=$(digest bundle)
	in_source catalog BUNDLE_OUT=dist
	sed -i "s|$base-bundle:$tag\$|$base-bundle@$bundle|" "$source/dist/catalog/catalog.yaml"
	"$(tool opm)" validate "$source/dist/catalog"
	pack catalog
	mv "$source/dist/catalog/catalog.yaml" "$out/"
}

tool() { "$source/bin/local" --repo "$source" tool "$1"; }

# Helm packs the times of files, so they become that of the commit.
chart() {
	local chart=$source/charts/$name values=$source/charts/$name/values.yaml
	sed -i "s|^  repository: .*|  repository: $base|; s|^  digest: .*|  digest: $operator|" "$values"
	find "$chart" -exec touch -d "@$made" {} +
	"$(tool helm)" package "$chart" --destination "$out"
}

# What a tag names may change; what is released must not.
only_digests() {
	local tags
	tags=$(grep -rnE --include='*.yaml' "${base}[a-z-]*:$tag" "$out" "$source/dist/bundle" || true)
	[[ -z $tags ]] || fail "these name an image by its tag, where a release names it by its digest:
$tags"
	[[ $(tar -xOzf "$out/$name-$VERSION.tgz" "$name/values.yaml") == *"digest: sha256:"* ]] || fail "the chart names no digest"
}

list_images() {
	local image digest
	for image in '' scorecard bundle catalog; do
		digest=$(digest "$image")
		echo "$base${image:+-$image}:$tag@$digest"
	done
}

notes() {
	local version commit
	read -r version commit <hack/previous-release
	cat <<-EOF
		# $name $VERSION

		Made from commit $(git rev-parse HEAD) with $(go env GOVERSION). docs/releasing.md says how to check that.

		## Images

		$(sed 's/^/- /' "$out/images.txt")

		## Changes since $version

		$(git log --no-merges --abbrev=12 --format='- %s (%h)' "$commit..HEAD")
	EOF
}

checksums() {
	(cd "$out" && sha256sum -- *) >"$scratch/SHA256SUMS"
	mv "$scratch/SHA256SUMS" "$out/"
}

push() {
	say "pushing to $PUSH_TO"
	"$source/hack/push.sh" "$PUSH_TO" "$1/$name-$VERSION.oci.tar" "$1/$name"-*-"$VERSION.oci.tar" "$1/$name-$VERSION.tgz"
}

say "may $VERSION be released?"
check
take_commit
mkdir -p "$out"
say "images and what they are made of"
images
say "manifests"
manifests
say "bundle"
bundle
say "catalog"
catalog
say "chart"
chart
only_digests
list_images >"$out/images.txt"
notes >"$out/release-notes.md"
checksums

final=dist/release/$VERSION
rm -rf "$final"
mkdir -p dist/release
mv "$out" "$final"
say "$final"
cat "$final/SHA256SUMS"
if [[ -n ${PUSH_TO:-} ]]; then
	push "$final"
else
	printf '\nNothing was pushed: make release PUSH_TO=registry.example.com/you does.\n'
fi
