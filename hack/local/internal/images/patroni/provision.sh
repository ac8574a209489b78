#!/bin/sh
# Installs PostgreSQL and Patroni, then removes parts that a member in a container does not use.
set -eu

add_user postgres /var/lib/postgresql

# Databases are created in volumes, never in the image.
mkdir /etc/postgresql-common
echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf

add_packages postgresql-17 patroni libnss-wrapper zstd

# Only just-in-time compilation uses LLVM. PostgreSQL works without llvmjit.so. The other parts are the Perl wrappers
# for local clusters, locales other than C.UTF-8, and a self-signed certificate whose key must not be shared. The
# libraries of OpenSSL and the certificates of public authorities remain.
dpkg --purge --force-depends \
    libllvm19 libz3-4 libedit2 \
    postgresql-common postgresql-common-dev postgresql-client-common ucf procps libproc2-0 \
    libjson-perl libipc-run-perl libio-pty-perl perl perl-modules-5.40 libperl5.40 \
    locales libc-l10n \
    ssl-cert openssl
rm -rf /usr/lib/postgresql/17/lib/llvmjit* /usr/lib/postgresql/17/lib/bitcode

# Python compares compiled files with the times of their sources, which the image does not keep. Unchecked ones are
# valid without that comparison. Option -f also replaces the compiled files that the packages created.
PYTHONHASHSEED=0 python3 -m compileall -q -f --invalidation-mode unchecked-hash /usr/lib/python3 /usr/lib/python3.13

# Server and clients create their sockets here, for any user of the pod.
rm -rf /etc/patroni
rm -rf /run/* /tmp/*
mkdir -p /run/postgresql /var/lib/postgresql /var/lib/database
chown postgres:postgres /run/postgresql /var/lib/postgresql /var/lib/database
chmod 3777 /run/postgresql
chmod 0777 /var/lib/database
