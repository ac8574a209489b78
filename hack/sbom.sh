#!/usr/bin/env bash
# Lists the modules of binaries in CycloneDX format, and fails unless each list has exactly the modules of `go version -m`,
# all but Go itself with a license. The lists are reproducible: they have no time and no serial number. `make sbom` runs it:
#
#   hack/sbom.sh CYCLONEDX-GOMOD VERSION FOLDER BINARY...
set -euo pipefail

gomod=$1 version=$2 folder=$3
mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# inside prints the modules of a binary, with replacements applied.
inside() {
	awk 'NR == 1 { module = "std@" $NF } $1 == "dep" { print module; module = $2 "@" $3 ", licensed" }
		$1 == "=>" { module = $2 "@" $3 ", licensed" } END { print module }' <<<"$1"
}

# listed prints the modules of a list.
listed() {
	awk -F'"' '/^  "components"/ { here = 1 } /^  ]/ { here = 0 } !here { next } /^      "name"/ { name = $4 }
		/^      "version"/ { version = $4 } /^        "licenses"/ { licensed = ", licensed" }
		/^    }/ { print name "@" version licensed; licensed = "" }' "$1"
}

for binary in "${@:4}"; do
	built=$(go version -m "$binary")
	system=$(grep -oP '\tGOOS=\K.*' <<<"$built") architecture=$(grep -oP '\tGOARCH=\K.*' <<<"$built")
	# Read licenses from the modules of the build, which go.sum has verified. Use no network: the proxy does not have the
	# module version that is being released, and the list must not depend on it.
	GOPROXY=off GOSUMDB=off GOFLAGS='' GOOS=$system GOARCH=$architecture "$gomod" bin -json -noserial -notimestamp -std -licenses \
		-version "$version" -output "$scratch/list" "$binary" 2>"$scratch/log" || { cat "$scratch/log" >&2 && exit 1; }
	diff -U0 --label "in $binary" <(inside "$built" | sort) --label "in its list" <(listed "$scratch/list" | sort) >&2 || {
		echo "error: the list of $binary differs from its modules (see above). Without a license, the source of a module has left" \
			"the module cache: go mod download" >&2
		exit 1
	}
	list=$folder/${binary##*/}-$system-$architecture.cdx.json
	mv "$scratch/list" "$list"
	echo "$list"
done
