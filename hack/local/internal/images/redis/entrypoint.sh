#!/bin/sh
# Becomes the server like docker.io/library/redis: arguments that begin with an option or a file.conf are for the
# server. Any other argument is a command.
set -eu

# Reports whether the server's arguments, or their configuration file, set protected-mode.
protection_is_set() {
    case " $*" in
    *' --protected-mode '*) return 0 ;;
    esac
    [ -f "${1:-}" ] && grep -Eqi '^[[:space:]]*protected-mode[[:space:]]' "$1"
}

# Files of the database are private, unless the user set another umask.
if [ "$(umask)" = 0022 ]; then
    umask 0077
fi
case "${1:-}" in
-* | *.conf) set -- redis-server "$@" ;;
esac
if [ "${1:-}" = redis-server ]; then
    shift
    # The official image is compiled to accept remote clients without a password. Debian's Redis needs the option.
    protection_is_set "$@" || set -- "$@" --protected-mode no
    set -- redis-server "$@"
fi
exec "$@"
