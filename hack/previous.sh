#!/usr/bin/env bash
# Builds the artifacts of the previous release from the commit in hack/previous-release, and prints the path of the
# result. The cache of the pinned tools keeps each result.
#
#   hack/previous.sh crds      the folder with its CRDs
#   hack/previous.sh engines   the folder with its engines
#   hack/previous.sh bundle    the folder with its bundle for OLM
#   hack/previous.sh image     the file with the operator's image, under the name that the bundle gives it
#   hack/previous.sh version   its version, which is in hack/previous-release alone: a catalog cannot have two bundles of
#                              one name, so it differs from the VERSION of that commit
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

read -r version commit <hack/previous-release
home=${XDG_CACHE_HOME:-$HOME/.cache}/databasecluster-operator/previous-${commit:0:12}

fail() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

git cat-file -e "$commit^{commit}" 2>/dev/null ||
	fail "hack/previous-release names commit $commit for release $version, which this clone does not have: run \`git fetch --unshallow\`"

scratch=
trap '[[ -z $scratch ]] || rm -rf "$scratch"' EXIT

# make_once NAME runs the function of that name with a temporary folder, which becomes $home/NAME when it is complete.
make_once() {
	[[ ! -d $home/$1 ]] || return 0
	build "$1"
	# Another process may have created it in the meantime.
	mv -T "$scratch" "$home/$1" 2>/dev/null || rm -rf "$scratch"
}

build() {
	mkdir -p "$home"
	scratch=$(mktemp -d "$home/$1.XXXXXX")
	"$1" "$scratch" || fail "release $version: its $1 cannot be built"
}

# as_committed NAME is for results that are cheap to build: the cached result must match the commit.
as_committed() {
	make_once "$1"
	build "$1"
	diff -r "$home/$1" "$scratch" >&2 ||
		fail "$home/$1 differs from commit $commit (see above): it was changed, so remove it"
	echo "$home/$1"
}

crds() {
	local files file
	files=$(git ls-tree --name-only "$commit" config/crd/bases/) && [[ -n $files ]] || return
	for file in $files; do
		git show "$commit:$file" >"$1/${file##*/}" || return
	done
}

engines() {
	git archive "$commit:config/engines" | tar -x -C "$1"
}

bundle() {
	git archive "$commit:bundle" | tar -x -C "$1"
}

# image builds with the Makefile and the pinned tools of that commit, without the variables of the current make.
image() {
	local source=$1/source
	mkdir "$source" && git archive "$commit" | tar -x -C "$source" || return
	env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u VERSION -u IMG -u IMAGE_TAG_BASE \
		make -C "$source" --no-print-directory image >&2 || return
	mv "$source/dist/operator.tar" "$1/" && rm -rf "$source"
}

case ${1:-} in
crds | engines | bundle) as_committed "$1" ;;
image) make_once image && echo "$home/image/operator.tar" ;;
version) echo "$version" ;;
*) fail "name what you want of the previous release: crds, engines, bundle, image or version" ;;
esac
