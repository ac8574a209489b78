#!/usr/bin/env bash
# Checks whether the operator calls functions with known vulnerabilities, in the given binaries and in the sources of
# the programs and the API. `make vulncheck` runs it; DB is another database than Go's own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

db=${DB:-https://vuln.go.dev}
govulncheck=$(bin/local tool govulncheck)
output=$(mktemp)
trap 'rm -f "$output"' EXIT
found=

# scan NAME ARGUMENT... prints the findings. Any other result ends the check.
scan() {
	local name=$1 result=0
	shift
	echo "$name:"
	"$govulncheck" -db "$db" "$@" >"$output" 2>&1 || result=$?
	sed 's/^/    /' "$output"
	case $result in
	0) ;;
	3) found+=${found:+, }$name ;;
	*)
		if grep -q 'fetching vulnerabilities\|creating client' "$output"; then
			echo "error: the database of vulnerabilities at $db cannot be read, so nothing is known about $name." \
				"Make it reachable, or name a copy of it: make vulncheck DB=file:///folder"
		else
			echo "error: govulncheck could not check $name: see above"
		fi >&2
		exit 1
		;;
	esac
}

# Binaries first: they are quick, and show whether the database exists.
for binary in "$@"; do scan "$binary" -mode=binary "$binary"; done
scan "the sources" ./cmd/... ./api/...

if [[ -n $found ]]; then
	echo "error: vulnerabilities that are called were found in $found: raise the modules that are named above, or Go" >&2
	exit 1
fi
