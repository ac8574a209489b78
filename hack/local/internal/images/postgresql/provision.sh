#!/bin/sh
# Adds PostgreSQL, then takes away what a server in a container does not use.
set -eu

add_user postgres /var/lib/postgresql

# Databases are made in volumes, never in the image.
mkdir /etc/postgresql-common
echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf

# The official image has zstd, too.
add_packages postgresql-15 libnss-wrapper zstd

# LLVM serves only just-in-time compilation, which PostgreSQL does without when llvmjit.so is
# absent. The rest are the Perl wrappers around several local clusters, locales beyond C.UTF-8,
# and a self-signed certificate whose key nobody should share.
dpkg --purge --force-depends \
    libllvm14 libz3-4 \
    postgresql-common postgresql-client-common ucf libjson-perl perl perl-modules-5.36 libperl5.36 \
    locales libc-l10n \
    ssl-cert openssl
rm -rf /usr/lib/postgresql/15/lib/llvmjit* /usr/lib/postgresql/15/lib/bitcode

# Server and clients make their sockets here, whatever user the pod runs as.
rm -rf /run/* /tmp/*
mkdir -p /run/postgresql /var/lib/postgresql /var/lib/database
chown postgres:postgres /run/postgresql /var/lib/postgresql /var/lib/database
chmod 3777 /run/postgresql
chmod 0777 /var/lib/database
