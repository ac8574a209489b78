#!/usr/bin/env bash
# The operator's main job on real input: PostgreSQL with two replicas, whose primary is killed while a client writes. The
# client then looks for every row that was acknowledged. Then the table is dropped, and a DatabaseRestore brings back the
# second before. `make demo` runs it on a Kubernetes node that it starts on this
# machine; a set KUBECONFIG changes nothing about that. `make demo CLUSTER=current` runs it on the current context.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=cluster.sh
. "$(dirname "$0")/cluster.sh"

demo=${DEMO_NAMESPACE:-demo}
patroni_img=${PATRONI_IMG:-localhost/postgresql-patroni:17}
started=$SECONDS
writer=client-$(date +%s) # the rows of a previous run have another writer

in_demo() { kubectl -n "$demo" "$@"; }

# show_in_demo prints and runs a command of kubectl.
show_in_demo() { show kubectl -n "$demo" "$@"; }

# await waits for a condition. After a timeout it prints the conditions of the cluster.
await() {
    show_in_demo wait --for=condition="$1" databasecluster/payments --timeout=300s && return
    in_demo get databasecluster,pods -o wide || true
    in_demo describe databasecluster payments || true
    fail "payments is not $1 after 300 s; its conditions above say why"
}

primary() { in_demo get databasecluster payments -o jsonpath='{.status.primary}'; }

replica() { in_demo get databasecluster payments -o jsonpath='{.status.members[?(@.role=="Replica")].pod}' | cut -d ' ' -f 1; }

# acked prints the number of each row that was acknowledged, and when: seconds since 1970.
acked() { in_demo exec client -- cat "/acked/$writer"; }

# sql runs a statement on the primary, from the pod of a member.
sql() {
    # shellcheck disable=SC2016 # the password is read in the pod
    in_demo exec payments-0 -c database -- sh -c 'PGPASSWORD=$(cat /dbc/secrets/password) exec psql -X -q -t -A -h payments -U postgres -d app -c "$1"' sh "$1"
}

# load_images loads the images of the demo. Clusters that are not on this machine pull them. Those of the database are loaded in the
# background, beside the operator.
load_images() {
    if [ "${CLUSTER:-}" = current ]; then
        load_replicas_image
        load_bucket_image
        return
    fi
    say "Images: PostgreSQL from Debian's packages, an S3 server, and the operator"
    make --no-print-directory image-patroni image-versitygw
    loaded=$(mktemp)
    "$local" load dist/patroni.tar dist/versitygw.tar >"$loaded" 2>&1 &
    loading=$!
    make --no-print-directory image IMG="$IMG"
    "$local" load dist/operator.tar
}

# await_images waits for those that are loaded in the background.
await_images() {
    [ -n "${loading:-}" ] || return 0
    wait "$loading" || fail "the images cannot be loaded: $(cat "$loaded")"
    cat "$loaded"
    rm "$loaded"
}

make_cluster() {
    kubectl create namespace "$demo" --dry-run=client -o yaml | kubectl apply -f - >/dev/null
    kubectl label namespace "$demo" pod-security.kubernetes.io/enforce=restricted --overwrite >/dev/null
    echo "config/samples/gallery/postgresql-replicas.yaml with the image $patroni_img:"
    sed "s|localhost/postgresql-patroni:17|$patroni_img|" config/samples/gallery/postgresql-replicas.yaml | in_demo apply -f -
    sed "s|localhost/postgresql-patroni:17|$patroni_img|; s|localhost/versitygw:1.0.14|${VERSITYGW_IMG:-localhost/versitygw:1.0.14}|" hack/demo/bucket.yaml | in_demo apply -f - >/dev/null
    show_in_demo patch databasecluster payments --type=merge --patch-file=hack/demo/archive.yaml
}

start_client() {
    in_demo create configmap client --from-file=test/lab/writer.py --dry-run=client -o yaml | in_demo apply -f - >/dev/null
    in_demo delete pod client --ignore-not-found >/dev/null # of a previous run
    sed "s|localhost/postgresql-patroni:17|$patroni_img|; s|WRITER|$writer|" hack/demo/client.yaml | in_demo apply -f -
    show_in_demo wait pod/client --for=condition=Ready --timeout=60s
    in_demo exec client -- sh -c "until [ -s /acked/$writer ]; do sleep 0.1; done"
}

# server prints the address and the timeline of the server that acknowledged the last row.
server() { acked | tail -n 1 | cut -d ' ' -f 3,4; }

# progress prints who is the primary, and how many rows were acknowledged.
progress() {
    printf '%s  %6d rows acknowledged, primary %s\n' "$(date +%T)" "$(acked | wc -l)" "$(primary)"
    sleep 1
}

# watch prints the progress for some seconds.
watch() {
    local end=$((SECONDS + $1))
    while [ $SECONDS -lt $end ]; do progress; done
}

# await_failover prints the progress until another server than $1 acknowledges rows.
await_failover() {
    local end=$((SECONDS + 120))
    while [ "$(server)" = "$1" ]; do
        [ $SECONDS -lt $end ] || fail "no row was acknowledged for 120 s after the kill; see: kubectl -n $demo describe databasecluster payments"
        progress
    done
}

# verdict compares the rows that were acknowledged with those in the database.
verdict() {
    local written missing gap
    in_demo exec client -- sh -c 'touch /acked/stop; until [ -e /acked/stopped ]; do sleep 0.1; done'
    written=$(mktemp)
    acked >"$written"
    missing=$(comm -23 <(cut -d ' ' -f 1 "$written" | sort) <(sql "SELECT number FROM written WHERE writer = '$writer'" | sort) | wc -l)
    gap=$(awk 'NR > 1 && $2 - last > gap {gap = $2 - last} {last = $2} END {printf "%.1f", gap}' "$written")
    printf '\033[1mWrites failed for %s s. %d rows acknowledged, %d of them missing.\033[0m\n' "$gap" "$(wc -l <"$written")" "$missing"
    rm "$written"
    [ "$missing" = 0 ] || fail "the database lost acknowledged rows"
}

# rows is what the client has written.
rows() { sql "SELECT count(*) || ' rows, MD5 ' || md5(string_agg(number::text, ',' ORDER BY number)) FROM written"; }

# bring_back drops the table, and replaces the data with that of the second before.
bring_back() {
    local before moment dropped after manifest
    show_in_demo wait --for=condition=Ready databasebackup/first --timeout=300s
    before=$(rows)
    moment=$(sql "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
    sleep 1
    echo "$ DROP TABLE written    -- $before until $moment"
    sql "DROP TABLE written"
    dropped=$SECONDS
    manifest=$(sed "s|TIME|$moment|" hack/demo/restore.yaml)
    echo "$manifest"
    in_demo apply -f - <<<"$manifest"
    show_in_demo wait --for='jsonpath={.status.conditions[?(@.type=="Ready")].reason}=Replaced' databaserestore/before-the-mistake --timeout=300s
    after=$(rows)
    printf '\033[1mThe table is back %d s later: %s.\033[0m\n' "$((SECONDS - dropped))" "$after"
    [ "$after" = "$before" ] || fail "the restored table has $after, and had $before"
    show_in_demo get persistentvolumeclaims
}

story() {
    local victim killed
    say "PostgreSQL with two replicas, from one DatabaseCluster"
    make_cluster
    await Ready
    show_in_demo get databaseclusters -o wide
    show_in_demo get pods,persistentvolumeclaims,services
    show_in_demo apply -f hack/demo/backup.yaml

    say "A client writes rows, one after the other"
    start_client
    watch 3

    victim=$(primary)
    killed=$(server)
    say "Kill the primary: its pod ends at once, without a grace period"
    show_in_demo delete pod "$victim" --grace-period=0 --force
    await_failover "$killed"
    watch 3
    verdict
    await Ready

    say "Drop the table by mistake, and bring back the second before"
    bring_back
    await Ready
    show_in_demo get databaseclusters -o wide
}

what_next() {
    say "Done in $((SECONDS - started)) s. The cluster stays up. Try next:"
    if [ "${CLUSTER:-}" != current ]; then
        echo "  export KUBECONFIG=$KUBECONFIG PATH=$(dirname "$KUBECTL"):\$PATH"
    fi
    cat <<END
  kubectl -n $demo describe databasecluster payments       # conditions and events
  kubectl -n $demo annotate databasecluster payments database.dbcluster.io/hand-over=$(replica)
                                                       # another member becomes the primary
  kubectl -n $demo patch databasecluster payments --type merge -p '{"spec":{"parameters":{"max_connections":"50"}}}'
                                                       # PostgreSQL restarts, and no pod does
  kubectl -n $demo patch databaserestore before-the-mistake --type merge -p '{"spec":{"mode":"Undo"}}'
                                                       # the volumes from before come back, without the table
  kubectl -n $demo delete databaserestore before-the-mistake # keeps the table, and deletes the other volumes
  kubectl -n $demo scale databasecluster payments --replicas=5
  kubectl -n $demo delete databasecluster payments         # members stop one by one
  kubectl -n $demo get persistentvolumeclaims             # and the volumes are kept
  make demo-down                                       # removes everything
END
}

# down removes the demo: the node with everything on it or, on the current context, the demo's namespace and the
# operator.
down() {
    if [ "${CLUSTER:-}" = current ]; then
        use_current_context
        show_in_demo delete databaseclusters --all --ignore-not-found
        show kubectl delete namespace "$demo" --ignore-not-found
        make --no-print-directory undeploy uninstall ignore-not-found=true IMG="$IMG" KUBECTL="$KUBECTL"
        return
    fi
    require_node
    make --no-print-directory bin/local >/dev/null
    "$local" down
}

case "${1:-}" in
down) down ;;
story) story ;; # on a cluster that has the operator
*)
    use_cluster
    load_images
    say "The operator, with two replicas"
    deploy_operator
    show kubectl -n "$namespace" get pods
    await_images
    story
    what_next
    ;;
esac
