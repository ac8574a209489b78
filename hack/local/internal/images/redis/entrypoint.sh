#!/bin/sh
# Becomes the server, as docker.io/library/redis does: arguments that begin with an option or with a
# file.conf are the server's, everything else is a command of its own.
set -eu

# Tells whether the server's arguments, or the file that they begin with, have a word on protected-mode.
protection_is_set() {
    case " $*" in
    *' --protected-mode '*) return 0 ;;
    esac
    [ -f "${1:-}" ] && grep -Eqi '^[[:space:]]*protected-mode[[:space:]]' "$1"
}

# Files of the database are nobody else's, unless somebody asked for other rights.
if [ "$(umask)" = 0022 ]; then
    umask 0077
fi
case "${1:-}" in
-* | *.conf) set -- redis-server "$@" ;;
esac
if [ "${1:-}" = redis-server ]; then
    shift
    # That image is compiled to answer other machines without a password, too. Debian's Redis has to be told.
    protection_is_set "$@" || set -- "$@" --protected-mode no
    set -- redis-server "$@"
fi
exec "$@"
