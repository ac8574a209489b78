#!/bin/sh
# Runs as root inside a fresh Debian: adds PostgreSQL, then takes away what a server in a
# container does not use and what would differ from one build to the next.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

# The user's number is that of docker.io/library/postgres, so that a volume fits both.
groupadd --system --gid 999 postgres
useradd --system --uid 999 --gid postgres --no-create-home --home-dir /var/lib/postgresql postgres

# Databases are made in volumes, never in the image.
mkdir /etc/postgresql-common
echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf

apt-get update
apt-get upgrade --yes
apt-get install --yes --no-install-recommends postgresql-15 libnss-wrapper

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

# Nothing in the container may gain rights.
find / -xdev -type f -perm /6000 -exec chmod ug-s '{}' +

# What is left of building, of this machine and of today.
find /usr/share/doc -type f ! -name copyright -delete
rm -rf /usr/share/man /usr/share/info /usr/share/locale /usr/share/bash-completion
rm -rf /var/lib/apt/lists /var/cache/apt /var/cache/debconf /var/cache/ldconfig /var/lib/dpkg/*-old
rm -f /etc/apt/sources.list /etc/resolv.conf /etc/hostname /etc/machine-id /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow-
find /var/log -type f -delete
sed -i 's/^\([^:]*:[^:]*\):[0-9]*:/\1::/' /etc/shadow
