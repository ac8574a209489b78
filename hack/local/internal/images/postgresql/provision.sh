#!/bin/sh
# Installs PostgreSQL, then removes parts that a server in a container does not use.
set -eu

add_user postgres /var/lib/postgresql

# Databases are created in volumes, never in the image.
mkdir /etc/postgresql-common
echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf

# The official image has zstd, too.
add_packages postgresql-15 libnss-wrapper zstd

# Only just-in-time compilation uses LLVM. PostgreSQL works without llvmjit.so. The other parts are the Perl wrappers
# for local clusters, locales other than C.UTF-8, and a self-signed certificate whose key must not be shared.
dpkg --purge --force-depends \
    libllvm14 libz3-4 \
    postgresql-common postgresql-client-common ucf libjson-perl perl perl-modules-5.36 libperl5.36 \
    locales libc-l10n \
    ssl-cert openssl
rm -rf /usr/lib/postgresql/15/lib/llvmjit* /usr/lib/postgresql/15/lib/bitcode

# Server and clients create their sockets here, for any user of the pod.
rm -rf /run/* /tmp/*
mkdir -p /run/postgresql /var/lib/postgresql /var/lib/database
chown postgres:postgres /run/postgresql /var/lib/postgresql /var/lib/database
chmod 3777 /run/postgresql
chmod 0777 /var/lib/database
