#!/bin/sh
# Installs memcached without the Debian service. Probes need no other package: bash, which Debian always has, opens TCP
# connections.
set -eu

add_user memcache /nonexistent
add_packages memcached

# Only scripts that a server in a container does not use need Perl.
dpkg --purge --force-depends perl perl-modules-5.40 libperl5.40
rm -rf /etc/memcached.conf /usr/share/memcached /usr/include/memcached
rm -rf /run/* /tmp/*
