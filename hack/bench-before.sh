#!/usr/bin/env bash
# Builds the operator of another commit as a contestant of the benchmark, and prints the path of its description:
#
#   hack/bench-before.sh COMMIT FOLDER
#
# That operator serves its profiles, even if its commit has no flag for them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$2
commit=$(git rev-parse --short --verify "$1^{commit}")
source=$folder/source
mkdir -p "$source"
git archive "$commit" | tar -x -C "$source"
cat >"$source/cmd/bench_profiles.go" <<'GO'
package main

import (
	"net/http"
	_ "net/http/pprof"
	"os"
)

func init() {
	if address := os.Getenv("BENCH_PROFILES"); address != "" {
		go func() { _ = http.ListenAndServe(address, nil) }()
	}
}
GO
env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES make --no-print-directory -C "$source" bin/manager >&2

# The older operator uses the CRDs and the policies of the current one. It has a lease of its own, and may do everything.
# shellcheck disable=SC2016 # placeholders of the description
sed -e '/^manifests:/d' -e '/^account:/d' -e '/--pprof-bind-address/d' \
    -e "s|^name: .*|name: before\nversion: \"$commit\"|" -e "s|^binary: .*|binary: source/bin/manager|" \
    -e 's|^health:|environment: {BENCH_PROFILES: "${PROFILES}"}\nhealth:|' \
    -e 's|--leader-election-namespace=.*|--leader-election-namespace=bench-before-system|' \
    test/bench/operator.yaml >"$folder/before.yaml"
printf '%s\n' "$folder/before.yaml"
