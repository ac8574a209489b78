#!/bin/sh
# Installs etcd without the Debian service: no configuration and no data folders.
set -eu

add_user etcd /var/lib/database
add_packages etcd-server etcd-client
rm -rf /var/lib/etcd
rm -rf /run/* /tmp/*
mkdir -p /var/lib/database
chown etcd:etcd /var/lib/database
chmod 0777 /var/lib/database
