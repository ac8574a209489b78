#!/bin/sh
# Adds MariaDB without the service that Debian makes of it: no configuration, no folders of its own.
set -eu

add_user mysql /var/lib/mysql
add_packages mariadb-server-core mariadb-client

# Perl serves only scripts that a server in a container does not use.
dpkg --purge --force-depends perl perl-modules-5.36 libperl5.36
rm -rf /etc/mysql /var/lib/mysql /run/* /tmp/*
mkdir /var/lib/mysql
chown mysql:mysql /var/lib/mysql
