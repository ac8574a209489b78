#!/usr/bin/env bash
# What the previous release consists of, made from the commit that hack/previous-release names and from nothing
# else; prints the path of what it made. It is kept beside the pinned tools and made once.
#
#   hack/previous.sh crds      the folder with its CRDs
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

case ${1:-} in
crds) put crds crds ;;
*) fail "name what you want of the previous release: crds" ;;
esac
