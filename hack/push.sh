#!/usr/bin/env bash
# Pushes OCI layouts (*.oci.tar) with crane and Helm charts (*.tgz) with helm to one path in a registry, with the
# credentials of `docker login`. Prints NAME@DIGEST for each. Before it sends anything, it reads every file and looks up
# every name. It refuses a name that has other content in the registry, because that release may be in use.
#
#   hack/push.sh registry.example.com/you FILE...
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

to=${1%/}
shift
[[ $to == */* && $# -gt 0 ]] || fail "name a place in a registry, such as registry.example.com/you, and the files to push there"
crane=$("$root/bin/local" --repo "$root" tool crane)
helm=$("$root/bin/local" --repo "$root" tool helm)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
declare -A name content
plain=() full=$to
case $to in localhost[:/]* | 127.*) plain=(--plain-http) ;; docker.io/*) full=index.$to ;; esac

# layout FILE prints the folder in which crane finds the layout.
layout() { echo "$scratch/${1##*/}"; }

read_image() {
	local index
	mkdir "$(layout "$1")"
	if ! tar -xf "$1" -C "$(layout "$1")" || ! index=$(<"$(layout "$1")/index.json") || [[ $(grep -o '"digest"' <<<"$index") != '"digest"' ]] ||
		! name[$1]=$(grep -oP '"io.containerd.image.name": *"\K[^"]+' <<<"$index"); then
		fail "$1 is no OCI layout with one named image"
	fi
	content[$1]=$(grep -oP '"digest": *"\K[^"]+' <<<"$index")
	[[ ${name[$1]} == "$full"/* ]] ||
		fail "$1 is named ${name[$1]}, which is not below $to: build it with PUSH_TO=$to, or what refers to it would not find it"
}

# read_chart reads the name of the chart as helm uses it: a tag has no plus sign.
read_chart() {
	local metadata
	metadata=$("$helm" show chart "$1") || fail "$1 is no Helm chart"
	name[$1]=$to/charts/$(sed -n 's/^name: //p' <<<"$metadata"):$(sed -n 's/^version: //p' <<<"$metadata" | tr + _)
	content[$1]=sha256:$(sha256sum <"$1" | cut -d' ' -f1)
}

# there prints the content of a name in the registry: the digest of an image, or the layer of a chart, because helm
# writes the time into the manifest.
there() {
	case $1 in
	*.tgz) "$crane" manifest "${name[$1]}" | grep -oP '"layers":.*?"digest": *"\K[^"]+' ;;
	*) "$crane" digest "${name[$1]}" ;;
	esac 2>"$scratch/error"
}

# is_missing looks up the name of a file. Any error ends the push.
is_missing() {
	local found
	if ! found=$(there "$1"); then
		grep -qE 'MANIFEST_UNKNOWN|NAME_UNKNOWN|status code 404' "$scratch/error" && return
		fail "ask for ${name[$1]} before pushing $1 (is \"docker login ${to%%/*}\" done, and does the repository exist where the" \
			"registry does not create it?): $(<"$scratch/error")"
	fi
	[[ $found == "${content[$1]}" ]] || fail "${name[$1]} is already there as $found, and $1 is ${content[$1]}:" \
		"what was released is never changed, so release another version"
	echo "${name[$1]} is there already" >&2
	return 1
}

push() {
	case $1 in
	*.tgz) "$helm" push "$1" "oci://$to/charts" "${plain[@]}" ;;
	*) "$crane" push "$(layout "$1")" "${name[$1]}" ;;
	esac >&2 || fail "$1 was not pushed to ${name[$1]}"
}

for file in "$@"; do
	case $file in
	*.oci.tar) read_image "$file" ;;
	*.tgz) read_chart "$file" ;;
	*) fail "$file is neither an OCI layout (.oci.tar) nor a Helm chart (.tgz)" ;;
	esac
done
missing=()
for file in "$@"; do
	if is_missing "$file"; then missing+=("$file"); fi
done
for file in "${missing[@]}"; do push "$file"; done
for file in "$@"; do echo "${name[$file]}@$("$crane" digest "${name[$file]}")"; done
