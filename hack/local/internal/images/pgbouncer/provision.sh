#!/bin/sh
# Installs PgBouncer and Python with psycopg2, then removes parts that a pooler in a container does not use.
set -eu

add_user postgres /var/lib/postgresql

add_packages pgbouncer python3-psycopg2

# The Perl wrappers for local clusters, and a self-signed certificate whose key must not be shared. The libraries of OpenSSL remain.
dpkg --purge --force-depends \
    postgresql-common postgresql-common-dev postgresql-client-common ucf procps libproc2-0 \
    libjson-perl libipc-run-perl libio-pty-perl perl perl-modules-5.40 libperl5.40 libgdbm-compat4t64 libgdbm6t64 \
    libtext-wrapi18n-perl libtext-charwidth-perl liblocale-gettext-perl sensible-utils \
    ssl-cert openssl

# Python compares compiled files with the times of their sources, which the image does not keep. Unchecked ones are
# valid without that comparison. Option -f also replaces the compiled files that the packages created.
PYTHONHASHSEED=0 python3 -m compileall -q -f --invalidation-mode unchecked-hash /usr/lib/python3 /usr/lib/python3.13

# The image has no configuration and no password.
rm -rf /etc/pgbouncer
rm -rf /run/* /tmp/*
