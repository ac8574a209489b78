#!/usr/bin/env bash
# What the previous release consists of, made from the commit that hack/previous-release names and from nothing
# else; prints the path of what it made. It is kept beside the pinned tools and made once.
#
#   hack/previous.sh crds      the folder with its CRDs
#   hack/previous.sh bundle    the folder with its bundle for OLM
#   hack/previous.sh image     the file with the operator's image, under the name that the bundle gives it
#   hack/previous.sh version   its version, which is in hack/previous-release alone
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

# make_once NAME runs the function of that name with a folder, which becomes $home/NAME only when all of it is there.
make_once() {
	[[ ! -d $home/$1 ]] || return 0
	make_anew "$1"
	# Somebody else may have made it meanwhile.
	mv -T "$scratch" "$home/$1" 2>/dev/null || rm -rf "$scratch"
}

make_anew() {
	mkdir -p "$home"
	scratch=$(mktemp -d "$home/$1.XXXXXX")
	"$1" "$scratch" || fail "release $version: making its $1 failed"
}

# as_committed NAME is for what costs nothing to make: what is kept must be what the commit has.
as_committed() {
	make_once "$1"
	make_anew "$1"
	diff -r "$home/$1" "$scratch" >&2 ||
		fail "$home/$1 is not as commit $commit has it (see above): somebody changed it, so remove it"
	echo "$home/$1"
}

crds() {
	local files file
	files=$(git ls-tree --name-only "$commit" config/crd/bases/) && [[ -n $files ]] || return
	for file in $files; do
		git show "$commit:$file" >"$1/${file##*/}" || return
	done
}

bundle() {
	git archive "$commit:bundle" | tar -x -C "$1"
}

# image builds with that commit's own Makefile and the tools that it pins, whatever was given to make today.
image() {
	local source=$1/source
	mkdir "$source" && git archive "$commit" | tar -x -C "$source" || return
	env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u VERSION -u IMG -u IMAGE_TAG_BASE \
		make -C "$source" --no-print-directory image >&2 || return
	mv "$source/dist/operator.tar" "$1/" && rm -rf "$source"
}

case ${1:-} in
crds | bundle) as_committed "$1" ;;
image) make_once image && echo "$home/image/operator.tar" ;;
version) echo "$version" ;;
*) fail "name what you want of the previous release: crds, bundle, image or version" ;;
esac
