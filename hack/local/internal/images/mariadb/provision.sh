#!/bin/sh
# Installs MariaDB without the Debian service: no configuration and no data folders.
set -eu

add_user mysql /var/lib/mysql
add_packages mariadb-server-core mariadb-client

# Only scripts that a server in a container does not use need Perl.
dpkg --purge --force-depends perl perl-modules-5.36 libperl5.36
rm -rf /etc/mysql /var/lib/mysql /run/* /tmp/*
mkdir /var/lib/mysql
chown mysql:mysql /var/lib/mysql
