#!/bin/sh
# Adds Redis without the service that Debian makes of it: no configuration, no folders of its own.
set -eu

add_user redis /data
add_packages redis-server redis-tools
rm -rf /etc/redis /var/lib/redis /run/* /tmp/*
mkdir /data
chown redis:redis /data
chmod 0777 /data
