#!/usr/bin/env bash
# Builds all files of a release in dist/release/VERSION, only from the current commit. The same commit, name and Go
# version give the same bytes. It pushes only if PUSH_TO is set. `make release` runs it and sets:
#   VERSION          the version, as in the Makefile
#   IMAGE_TAG_BASE   the operator's image without a tag; the others are named after it
#   PLATFORMS        what the images are for
#   PUSH_TO          registry and path to push to; empty: nothing leaves this machine
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Variables of make reach the nested makes by name, or not at all.
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

# Check whether this version may be released. Cheap checks come first.
check() {
	local changes written previous _
	changes=$(git status --porcelain --untracked-files=all)
	[[ -z $changes ]] || fail "a release is made from a commit, and these files are not as committed: commit or remove them
$changes"
	written=$(sed -n 's/^VERSION ?= //p' Makefile)
	[[ $VERSION == "$written" ]] || fail "VERSION is $VERSION, and VERSION in the Makefile of this commit is $written:" \
		"change it there, run \`make chart bundle\`, and commit"
	read -r previous _ <hack/previous-release
	[[ $VERSION != "$previous" ]] || fail "VERSION $VERSION is already the release in hack/previous-release: raise VERSION in the Makefile"
	[[ $(printf '%s\n' "$previous" "$VERSION" | sort -V | tail -n 1) == "$VERSION" ]] ||
		fail "VERSION $VERSION comes before $previous, the previous release in hack/previous-release: raise VERSION in the Makefile"
	hack/previous.sh version >/dev/null # fails with instructions if the clone lacks that commit
	make --no-print-directory crd-compat ||
		fail "the CRDs do not accept all objects of release $previous (see above): an upgrade would break clusters that run"
}

# Build in a clone. The checkout itself does not change.
take_commit() {
	git clone -q --shared --no-checkout . "$source"
	git -C "$source" -c advice.detachedHead=false checkout -q "$(git rev-parse HEAD)"
}

# in_source runs make in that clone, for this version and these images.
in_source() {
	make -C "$source" --no-print-directory VERSION="$VERSION" IMAGE_TAG_BASE="$base" PLATFORMS="$PLATFORMS" "$@"
}

# digest prints the digest of an image of this release: the operator's, or the given one.
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

# The plugin of kubectl, for each platform, and the manifest for krew with its checksums.
plugin() {
	in_source plugins
	mv "$source"/dist/plugin/* "$out/"
}

manifests() {
	in_source build-installer IMG="$base@$operator"
	mv "$source"/dist/{crds,operator,install,secret-access,secret-writes}.yaml "$out/"
}

# pack builds the image of a bundle or catalog: from scratch, labeled, with one layer.
pack() {
	"$source/bin/local" image "$1" --from "$source/dist/$1" --ref "$base-$1:$tag" --out "$out/$name-$1-$VERSION.oci.tar"
}

bundle() {
	in_source bundle IMG="$base@$operator" SCORECARD_IMG="$base-scorecard@$scorecard" BUNDLE_OUT=dist
	pack bundle
	# The same as files, for the repository of OperatorHub.
	tar -C "$source/dist" --format=ustar --sort=name --mtime="@$made" --owner=0 --group=0 --numeric-owner -cf - bundle |
		gzip -n >"$out/$name-bundle-$VERSION.tar.gz"
}

# The catalog references the current bundle by digest, and the previous one as released.
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

# Helm stores the times of files, so set them to the time of the commit.
chart() {
	local chart=$source/charts/$name values=$source/charts/$name/values.yaml
	sed -i "s|^  repository: .*|  repository: $base|; s|^  digest: .*|  digest: $operator|" "$values"
	find "$chart" -exec touch -d "@$made" {} +
	"$(tool helm)" package "$chart" --destination "$out"
}

# Tags can change, so a release must reference images by digest.
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
say "images and their bills of materials"
images
say "plugin of kubectl"
plugin
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
