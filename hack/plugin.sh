#!/usr/bin/env bash
# Packs the kubectl plugin for each platform, and writes its manifest for krew. The same commit and Go version give the
# same bytes. `make plugins` runs it, with the VERSION and the folders of the binaries, such as bin/plugin/linux-amd64:
#
#   dist/plugin/kubectl-dbc-VERSION-SYSTEM-ARCHITECTURE.tar.gz
#   dist/plugin/dbc.yaml
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C TZ=UTC
: "${VERSION:?}"

out=dist/plugin
made=$(git log -1 --format=%ct)
releases=https://github.com/dbcluster/databasecluster-operator/releases/download
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# pack FOLDER FILE packs the program and the license, which krew requires.
pack() {
	local folder=$scratch/${1##*/}
	mkdir "$folder"
	cp "$1"/kubectl-dbc* LICENSE "$folder/"
	chmod 0755 "$folder"/kubectl-dbc*
	chmod 0644 "$folder/LICENSE"
	tar -C "$folder" --format=ustar --sort=name --mtime="@$made" --owner=0 --group=0 --numeric-owner -cf - . | gzip -n >"$2"
}

# platform FOLDER FILE prints the part of the manifest for a platform.
platform() {
	local system=${1##*/} program
	program=$(basename "$1"/kubectl-dbc*)
	cat <<-EOF
		  - selector:
		      matchLabels: {os: ${system%-*}, arch: ${system#*-}}
		    uri: $releases/v$VERSION/${2##*/}
		    sha256: $(sha256sum "$2" | cut -d' ' -f1)
		    bin: $program
	EOF
}

rm -rf "$out"
mkdir -p "$out"
sed "/^#/d; s/{{ version }}/v$VERSION/" hack/krew.yaml >"$out/dbc.yaml"
for folder in "$@"; do
	file=$out/kubectl-dbc-$VERSION-${folder##*/}.tar.gz
	pack "$folder" "$file"
	platform "$folder" "$file" >>"$out/dbc.yaml"
done
ls "$out"
