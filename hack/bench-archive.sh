#!/usr/bin/env bash
# Compares the continuous archive with pg_receivewal, archive_command with zstd, and pgBackRest: `make bench-archive` runs this script. All
# servers are processes on loopback, so it needs neither a node nor root. Programs that are not installed come from the packages of the
# distribution, and are unpacked into the folder of the run: nothing is installed. PostgreSQL does not run as root, so root becomes the user `nobody`.
#
# QUICK=1 is a look of five minutes. ROUNDS, LOSSES, SECONDS_EACH, LAG, DRAIN_GIB, BASE_GIB and LOG_GIB are sizes. PHASES and ONLY are
# lists, separated by commas. OUT is the file for the tables, TMPDIR the folder of the run's folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command="make bench-archive"
for name in QUICK ROUNDS LOSSES SECONDS_EACH LAG DRAIN_GIB BASE_GIB LOG_GIB PHASES ONLY; do
    if [[ -n ${!name:-} ]]; then command+=" $name=${!name}"; fi
done
out=${OUT:-docs/benchmarks/archive.md}
rounds=${ROUNDS:-3} losses=${LOSSES:-7} seconds=${SECONDS_EACH:-20} lag=${LAG:-5} drain=${DRAIN_GIB:-1} base=${BASE_GIB:-10} log=${LOG_GIB:-5}
if [[ -n ${QUICK:-} ]]; then
    out=${OUT:-dist/bench/archive.md}
    rounds=${ROUNDS:-1} losses=${LOSSES:-1} seconds=${SECONDS_EACH:-4} lag=${LAG:-1}
    drain=${DRAIN_GIB:-0.25} base=${BASE_GIB:-0.5} log=${LOG_GIB:-0.25}
fi

make --no-print-directory bin/local >&2
versitygw=$(bin/local tool versitygw)
dir=$(mktemp -d -p "${TMPDIR:-/var/tmp}" dbc-bench.XXXXXX)
running=''
# shellcheck disable=SC2317
end() {
    trap '' INT TERM
    if [[ -n $running ]]; then
        kill -TERM "$running" 2>/dev/null || true
        wait "$running" || true
    fi
    rm -rf "$dir"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "Building the programs." >&2
CGO_ENABLED=0 go build -ldflags "-s -w" -o "$dir/transfer" ./cmd/transfer
CGO_ENABLED=0 go build -o "$dir/bench" ./test/bench/archive
cp "$versitygw" "$dir/versitygw"
mkdir -p "$dir/engines" "$dir/packages" "$dir/debs"
for engine in postgresql-v1 postgresql-single-v1; do
    cp -r "config/engines/$engine" "$dir/engines/"
    find "$dir/engines/$engine/scripts" -type f -exec sed -i "s|/dbc/scripts/|$dir/engines/$engine/scripts/|g" {} +
done

# unpack PACKAGE... gets packages with what they need and is not installed.
unpack() (
    cd "$dir/debs"
    wanted=$(LC_ALL=C apt-get install --simulate --no-install-recommends "$@" 2>/dev/null | awk '/^Inst/ {print $2}')
    [[ -n $wanted ]]
    # shellcheck disable=SC2086
    apt-get download $wanted >/dev/null 2>&1
    for file in *.deb; do dpkg --extract "$file" ../packages; done
    rm -f -- *.deb
)

absent=()
# ensure COMMAND... -- PACKAGE runs a command that looks for a program, and gets its package if it fails.
ensure() {
    local package=${!#}
    if "${@:1:$#-2}" >/dev/null 2>&1; then return; fi
    echo "Getting $package." >&2
    unpack "$package" || absent+=(--absent "$package=$package is not installed, and apt-get does not get it")
}
# The programs of the newest PostgreSQL, without the wrappers of Debian.
programs() {
    local found
    found=$(find "$dir/packages/usr/lib/postgresql" /usr/lib/postgresql -path '*/bin/initdb' 2>/dev/null | sort -V | tail -n 1)
    [[ -n $found ]] || found=$(command -v initdb) && [[ -n $found ]] && dirname "$(readlink -f "$found")"
}
ensure programs -- postgresql
ensure command -v pgbackrest -- pgbackrest
ensure command -v zstd -- zstd
ensure /usr/bin/python3 -c 'import psycopg2' -- python3-psycopg2
postgresql=$(programs) || {
    echo "PostgreSQL is not installed: apt-get install postgresql" >&2
    exit 1
}
library=$(printf '%s:' "$dir"/packages/usr/lib/*-linux-gnu)
export PATH=$postgresql:$dir/packages/usr/bin:$PATH PYTHONPATH=$dir/packages/usr/lib/python3/dist-packages HOME=$dir
case $library in *'*'*) ;; *) export LD_LIBRARY_PATH=${library%:} ;; esac

become=()
if [[ $EUID -eq 0 ]]; then
    chown -R nobody: "$dir"
    become=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups)
fi
mkdir -p "$(dirname "$out")"
commit=$(git describe --always --dirty)
cd "$dir"
arguments=(--folder "$dir" --out "$dir/tables.md" --commit "$commit" --command "$command" --rounds "$rounds" --losses "$losses"
    --seconds "$seconds" --lag "${lag}s" --drain-gib "$drain" --base-gib "$base" --log-gib "$log" "${absent[@]}")
if [[ -n ${PHASES:-} ]]; then arguments+=(--phases "$PHASES"); fi
if [[ -n ${ONLY:-} ]]; then arguments+=(--only "$ONLY"); fi
"${become[@]}" "$dir/bench" "${arguments[@]}" > >(tee "$dir/values.txt") &
running=$!
code=0
wait "$running" || code=$?
running=''
cd - >/dev/null
[[ $code -eq 0 ]] || exit "$code"
cp "$dir/tables.md" "$out"
cp "$dir/values.txt" "${out%.md}.txt"
echo "The tables are in $out." >&2
