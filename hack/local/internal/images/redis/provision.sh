#!/bin/sh
# Installs Redis without the Debian service: no configuration and no data folders.
set -eu

add_user redis /data
add_packages redis-server redis-tools
rm -rf /etc/redis /var/lib/redis /run/* /tmp/*
mkdir /data
chown redis:redis /data
chmod 0777 /data
