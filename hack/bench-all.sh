#!/usr/bin/env bash
# All measurements of docs/benchmarks.md: `make bench` runs this script. It writes raw data, plots, tables and profiles to
# dist/bench, and keeps those of the run before in dist/bench.previous. BASE is an older commit of this operator to
# compare with. SIZES are the numbers of clusters in the thin form; THIN, FULL and PROFILED are further arguments of each
# run. OPERATORS lists files of operators to compare with, separated by commas.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=dist/bench
if compgen -G "$out/*.jsonl" >/dev/null; then
    rm -rf "$out.previous"
    mv "$out" "$out.previous"
fi
rm -rf "$out"
mkdir -p "$out"
build=$(mktemp -d -t databasecluster-before.XXXXXX)
trap 'rm -rf "$build"' EXIT
operators=${OPERATORS:-}
if [[ -n ${BASE:-} ]]; then operators=$(hack/bench-before.sh "$BASE" "$build")${operators:+,$operators}; fi
others=()
if [[ -n $operators ]]; then others=(--operators "$operators"); fi
read -ra thin <<<"${THIN:-}"
read -ra full <<<"${FULL:-}"
read -ra profiled <<<"${PROFILED:-}"

# measure NAME FORM ARGUMENT... keeps the figures of one run.
measure() {
    local name=$1
    shift
    echo "$(date +%T) benchmark: $name" >&2
    hack/bench.sh "$@" >"$out/$name.txt"
}

# The largest run is the last one: after an interruption, make bench-docs publishes what exists.
measure full full --sizes 100 --changes 40 --rest 20s --handovers 0 --out "$out/full.jsonl" "${others[@]}" "${full[@]}"
# A profiler uses CPU time and memory, so this run is apart. Its figures are not published.
measure profiled thin --sizes 300 --handovers 0 --phases create,restart --profiles "$out/profiles" "${others[@]}" "${profiled[@]}"
# The phases whose cost may depend on the number of clusters. Above 1,000 clusters, only this operator takes part.
measure thin thin --sizes "${SIZES:-100,300,1000,3000,10000}" --compare-up-to 1000 --changes 100 --rest 20s --handovers 0 \
    --phases create,rest,scale_up,scale_down,drift,restart --out "$out/thin.jsonl" "${others[@]}" "${thin[@]}"

go -C test/bench/report run . --dir "$PWD/$out" >"$out/tables.md"
echo "$(date +%T) The tables are in $out/tables.md. make bench-docs publishes them in docs/benchmarks." >&2
