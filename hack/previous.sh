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

# put MAKE... runs the function with a folder, which becomes $home/NAME only when all of it is there.
put() {
	local name=$1 folder
	shift
	if [[ ! -d $home/$name ]]; then
		mkdir -p "$home"
		folder=$(mktemp -d "$home/$name.XXXXXX")
		"$@" "$folder" || { rm -rf "$folder"; fail "release $version: making its $name failed"; }
		# Somebody else may have made it meanwhile.
		mv -T "$folder" "$home/$name" 2>/dev/null || rm -rf "$folder"
	fi
	echo "$home/$name"
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
crds) put crds crds ;;
bundle) put bundle bundle ;;
image) folder=$(put image image) && echo "$folder/operator.tar" ;;
version) echo "$version" ;;
*) fail "name what you want of the previous release: crds, bundle, image or version" ;;
esac
