"""Runs a server on the data volume that only this container can reach."""
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time

import psycopg2

from common import DATA, QUIET, env, fail
from parameters import options


def run(*words, **settings):
    """Runs a program. Only its errors go to the log."""
    if code := subprocess.run(words, stdout=subprocess.DEVNULL, text=True, check=False, **settings).returncode:
        fail(1, "%s failed with exit code %d. See its messages above." % (words[0], code))


def initdb(folder, *words, password):
    """Creates a database. initdb looks up the name of its user, which an arbitrary user ID does not have."""
    with tempfile.NamedTemporaryFile("w", dir="/tmp") as users:
        users.write("postgres:x:%d:%d::/:/bin/false\n" % (os.getuid(), os.getgid()))
        users.flush()
        run("initdb", "--pgdata", folder, "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "--data-checksums",
            "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile=/dev/stdin", "--no-instructions", *words, input=password + "\n",
            env={**env, "LD_PRELOAD": "libnss_wrapper.so", "NSS_WRAPPER_PASSWD": users.name, "NSS_WRAPPER_GROUP": "/etc/group"})


@contextlib.contextmanager
def server(settings):
    """Starts a server with these settings, yields a connection and the folder of its socket, and stops it cleanly."""
    with tempfile.TemporaryDirectory(prefix="dbc.", dir="/tmp") as folder:
        with open(folder + "/pg_hba.conf", "w", encoding="utf-8") as file:
            file.write("local all,replication all trust\n")
        # A copied configuration may name replicas, a primary or certificates of another cluster.
        alone = {"listen_addresses": "", "unix_socket_directories": folder, "hba_file": folder + "/pg_hba.conf", "ssl": "off",
                 "synchronous_standby_names": "", "primary_conninfo": "", "archive_mode": "off", "autovacuum": "off",
                 "port": env["DBC_PORT"]}
        # The PID file of a killed server. No server uses this volume: otherwise it would not be mounted here.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(DATA + "/postmaster.pid")
        os.chmod(DATA, 0o700)  # mounting may have added rights of the group, which PostgreSQL refuses
        process = subprocess.Popen(["postgres", "-D", DATA, *options({**settings, **alone})], stdout=sys.stderr)
        try:
            database = connection(process, folder)
            yield database, folder
            database.close()
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                if process.wait():
                    fail(1, "The server did not stop cleanly. See its log above.")


def connection(process, folder):
    while process.poll() is None:
        try:
            connected = psycopg2.connect(host=folder, port=env["DBC_PORT"], user="postgres", dbname="postgres", options=QUIET)
            connected.autocommit = True
            return connected
        except psycopg2.OperationalError:
            time.sleep(0.2)
    fail(1, "The server cannot start on %s. See its log above." % DATA)
