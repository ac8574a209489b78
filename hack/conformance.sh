#!/usr/bin/env bash
# Runs engines through their contract on the real node: `make conformance ENGINE=FILE IMAGE=NAME`. Without ENGINE it runs all
# built-in engines and the sample for MariaDB, in images from Debian's packages. Arguments are passed to go test. The script stops
# the node afterward unless it ran before; KEEP=1 keeps it, and the clusters. With NODE=shared it uses a node with the operator.
# LOAD=FILE is an archive with the image, which the node loads first.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(dirname "$0")/cluster.sh"

# The built-in engines and the sample, with the kinds of their images.
profiles=(
    "config/engines/postgresql-v1.yaml patroni localhost/postgresql-patroni:17"
    "config/engines/etcd-v1.yaml etcd localhost/etcd:3.5"
    "config/engines/memcached-v1.yaml memcached localhost/memcached:1.6"
    "config/engines/postgresql-single-v1.yaml postgresql localhost/postgresql:15"
    "config/engines/redis-single-v1.yaml redis localhost/redis:7"
    "config/samples/gallery/own-engine.yaml mariadb localhost/mariadb:10.11"
)

[ -z "${ENGINE:-}" ] || [ -n "${IMAGE:-}" ] || fail "IMAGE names the image of the database: make conformance ENGINE=$ENGINE IMAGE=NAME"
[ -z "${ENGINE:-}" ] || [ -f "$ENGINE" ] || fail "ENGINE=$ENGINE is not a file"
[ -z "${LOAD:-}" ] || [ -f "$LOAD" ] || fail "LOAD=$LOAD is not a file"
[ -z "${CLIENT:-}" ] || [ -f "$CLIENT" ] || fail "CLIENT=$CLIENT is not a file"

if [ "${NODE:-mine}" = shared ]; then
    share_local_node
else
    borrow_local_node
    make --no-print-directory image IMG="$IMG"
    "$local" load dist/operator.tar
    deploy_operator
fi

# check FILE IMAGE runs one engine.
check() {
    DBC_ENGINE=$(realpath "$1") DBC_IMAGE=$2 DBC_CLIENT=${CLIENT:+$(realpath "$CLIENT")} DBC_ONLY=${ONLY:-} DBC_KEEP=${KEEP:-} \
        DBC_OUTPUT=$root/dist/conformance PATH=$(dirname "$KUBECTL"):$PATH \
        go test -tags conformance -count=1 -timeout=3h -v "${arguments[@]}" ./test/conformance
}

# matrix prints the results of several engines side by side: seconds, FAILED, or - for a check that an engine does not offer.
matrix() {
    awk -F ' *[|] *' '
        FNR == 1 { names[++n] = substr($0, 3) }
        FNR == 3 { match($0, /[0-9]+ scripts.*/); size[n] = substr($0, RSTART); sub(/ of them code./, "", size[n]) }
        FNR > 6 && $3 != "" {
            if (!($2 in known)) { known[$2] = 1; order[++rows] = $2 }
            if ($3 != "not offered") used[$2] = 1
            cell[$2, n] = $3 == "passed" ? $4 " s" : $3 == "FAILED" ? "**FAILED**" : "-"
        }
        END {
            head = "| check |"; line = "|---|"; last = "| scripts |"
            for (i = 1; i <= n; i++) { head = head " `" names[i] "` |"; line = line "---|"; last = last " " size[i] " code |" }
            print head; print line
            for (r = 1; r <= rows; r++) {
                if (!(order[r] in used)) continue
                text = "| `" order[r] "` |"
                for (i = 1; i <= n; i++) text = text " " ((order[r], i) in cell ? cell[order[r], i] : "-") " |"
                print text
            }
            print last
        }' "$@"
}

arguments=("$@")
if [ -n "${ENGINE:-}" ]; then
    [ -z "${LOAD:-}" ] || "$local" load "$LOAD"
    check "$ENGINE" "$IMAGE"
    exit
fi
failed=()
rm -rf dist/conformance
for profile in "${profiles[@]}"; do
    read -r file kind image <<<"$profile"
    mkdir -p dist
    "$local" image "$kind" --out "dist/$kind.tar"
    "$local" load "dist/$kind.tar"
    check "$file" "$image" || failed+=("$file")
done
matrix dist/conformance/{postgresql-v1,etcd-v1,memcached-v1,postgresql-single-v1,redis-single-v1,mariadb-v1}.md | tee dist/conformance/matrix.md
[ ${#failed[@]} = 0 ] || fail "${failed[*]}: see the tables in dist/conformance"
