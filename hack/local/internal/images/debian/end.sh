#!/bin/sh
# Runs after the installation of a server: removes everything that would differ between builds.
set -eu

# No program in the container may gain privileges.
find / -xdev -type f -perm /6000 -exec chmod ug-s '{}' +

# Remove traces of the build, of this machine and of the current time.
find /usr/share/doc -type f ! -name copyright -delete
rm -rf /usr/share/man /usr/share/info /usr/share/locale /usr/share/bash-completion
rm -rf /var/lib/apt/lists /var/cache/apt /var/cache/debconf /var/cache/ldconfig /var/lib/dpkg/*-old
rm -f /etc/apt/sources.list /etc/resolv.conf /etc/hostname /etc/machine-id /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow-
find /var/log -type f -delete
sed -i 's/^\([^:]*:[^:]*\):[0-9]*:/\1::/' /etc/shadow
