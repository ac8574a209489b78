#!/bin/sh
# Creates the data folder at the first start, then becomes the server. The variables are those
# of docker.io/library/postgres: PGDATA, POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD or
# POSTGRES_PASSWORD_FILE, POSTGRES_HOST_AUTH_METHOD, POSTGRES_INITDB_ARGS. PostgreSQL itself
# reads PGPORT.
set -eu

fail() {
    echo "entrypoint: $*" >&2
    exit 1
}

# Prints the superuser's password, or nothing with authentication method trust.
password() {
    if [ -n "${POSTGRES_PASSWORD:-}" ] && [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
        fail "POSTGRES_PASSWORD and POSTGRES_PASSWORD_FILE are both set: keep one"
    fi
    if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then
        [ -s "$POSTGRES_PASSWORD_FILE" ] || fail "POSTGRES_PASSWORD_FILE=$POSTGRES_PASSWORD_FILE is missing or empty"
        cat "$POSTGRES_PASSWORD_FILE"
    elif [ -n "${POSTGRES_PASSWORD:-}" ]; then
        printf '%s\n' "$POSTGRES_PASSWORD"
    elif [ "${POSTGRES_HOST_AUTH_METHOD:-}" != trust ]; then
        fail "set POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE (POSTGRES_HOST_AUTH_METHOD=trust would accept every client)"
    fi
}

check_data_folder() {
    if mountpoint -q "$PGDATA"; then
        fail "PGDATA=$PGDATA is the volume itself: name a folder inside it, such as $PGDATA/pgdata"
    fi
    if [ -d "$PGDATA" ] && [ -n "$(ls -A "$PGDATA")" ]; then
        fail "PGDATA=$PGDATA contains files but no PG_VERSION: it is not a database, and nothing was changed"
    fi
}

# Runs a command that looks up the name of its user. An arbitrary UID has none.
named() {
    if getent passwd "$(id -u)" > "$staging/passwd"; then
        "$@"
        return
    fi
    echo "postgres:x:$(id -u):$(id -g)::/:/bin/false" > "$staging/passwd"
    env LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_PASSWD="$staging/passwd" NSS_WRAPPER_GROUP=/etc/group "$@"
}

init_database() {
    method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
    set -- --pgdata="$staging/data" --username="$user" --auth-local=trust --auth-host="$method" --no-sync
    if [ -n "$secret" ]; then
        set -- "$@" --pwfile=/dev/stdin
    fi
    # shellcheck disable=SC2086 # several arguments in one variable
    printf '%s\n' "$secret" | named initdb "$@" ${POSTGRES_INITDB_ARGS:-}
    echo "listen_addresses = '*'" >> "$staging/data/postgresql.conf"
    echo "host all all all $method" >> "$staging/data/pg_hba.conf"
}

# Single-user mode avoids starting and stopping a server.
create_database() {
    quoted=$(printf '%s' "$1" | sed 's/"/""/g')
    echo "CREATE DATABASE \"$quoted\"" |
        named postgres --single -D "$staging/data" -c exit_on_error=on postgres > /dev/null
}

# Create everything next to PGDATA and rename it at the end. After a crash the next start is a first start again.
initialise() {
    check_data_folder
    secret=$(password)
    user=${POSTGRES_USER:-postgres}
    database=${POSTGRES_DB:-$user}
    staging=$PGDATA.tmp
    rm -rf "$staging"
    mkdir -p "$staging"
    init_database
    if [ "$database" != postgres ]; then
        create_database "$database"
    fi
    sync --file-system "$staging/data"
    mv --no-target-directory "$staging/data" "$PGDATA"
    rm -rf "$staging"
    sync --file-system "$PGDATA"
}

umask 077
PGDATA=${PGDATA%/}
case "${1:-}" in
'' | -*) set -- postgres "$@" ;;
esac
if [ "$1" = postgres ]; then
    # Process 1 has no default signal handlers: handle a stop during the first start here.
    trap 'exit 143' INT TERM
    [ -s "$PGDATA/PG_VERSION" ] || initialise
    # The volume's fsGroup may have added group permissions, which the server rejects.
    chmod 00700 "$PGDATA" 2> /dev/null || :
fi
exec "$@"
