#!/usr/bin/env bash
# All measurements of docs/benchmarks.md: `make bench` runs this script. It writes raw data, plots, tables and profiles to
# dist/bench. THIN and FULL are further arguments of each form, such as THIN="--sizes 10,20". OPERATORS lists files of
# operators to compare with, separated by commas.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=dist/bench
rm -rf "$out"
mkdir -p "$out"
others=()
if [[ -n ${OPERATORS:-} ]]; then others=(--operators "$OPERATORS"); fi
read -ra thin <<<"${THIN:-}"
read -ra full <<<"${FULL:-}"

# measure NAME FORM ARGUMENT... prints and keeps the figures of one run.
measure() {
    local name=$1
    shift
    echo "benchmark: $name" >&2
    hack/bench.sh "$@" | tee "$out/$name.txt"
}

measure thin thin --sizes 100,300,1000,3000,10000 --out "$out/thin.jsonl" "${others[@]}" "${thin[@]}"
measure full full --sizes 50 --rounds 3 --handovers 0 --out "$out/full.jsonl" "${others[@]}" "${full[@]}"
# A profiler uses CPU time and memory, so this run is apart. Its figures are not kept.
hack/bench.sh thin --sizes 300 --handovers 0 --phases create,rest,restart --profiles "$out/profiles" >/dev/null

go -C test/bench/report run . --dir "$PWD/$out" >"$out/tables.md"
echo "The tables are in $out/tables.md. make bench-docs publishes them in docs/benchmarks.md." >&2
