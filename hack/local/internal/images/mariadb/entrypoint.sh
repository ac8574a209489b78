#!/bin/sh
# Becomes the server, or another command. It creates no database: the engine does that.
set -eu

case "${1:-}" in
-*) set -- mariadbd "$@" ;;
esac
exec "$@"
