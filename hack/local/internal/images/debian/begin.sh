#!/bin/sh
# Runs as root inside a fresh Debian, before the script that installs a server.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

# add_user NAME HOME creates the user of the server. Its UID equals that of the official image, so that both can use the
# same volume.
add_user() {
    groupadd --system --gid 999 "$1"
    useradd --system --uid 999 --gid "$1" --no-create-home --home-dir "$2" "$1"
}

add_packages() {
    apt-get install --yes --no-install-recommends "$@"
}

apt-get update
apt-get upgrade --yes
