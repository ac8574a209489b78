"""Pauses the poolers of the primary while it changes or restarts: their clients wait, and see no error. A pooler that does not answer, or whose
transactions do not end, never delays the work for long."""
import contextlib
import socket
import sys
import threading
import time

import psycopg2

from common import connect, env, negotiate, query, secrets

PORT = 5432  # of the companion in engine.yaml
ROLE = "dbc_pooler"
PRIMARY = "dbc_primary"  # the script pgbouncer names a database so
# Seconds in which transactions have to end, the work has to end, poolers see the new primary by themselves, and they answer to RESUME. The
# pooler allows a longer pause: see LONGEST_PAUSE of the script pgbouncer.
TRANSACTIONS, WORK, SEEN, ANSWER = 5, 18, 3, 3


def say(text):
    print(text, file=sys.stderr, flush=True)


def addresses():
    """Returns the addresses of the poolers. Without one, their name does not exist. The operator names no Service of another owner."""
    try:
        found = socket.getaddrinfo(env["DBC_COMPANIONS_HOST"], PORT, type=socket.SOCK_STREAM)
    except (KeyError, OSError):
        return []
    return sorted({entry[4][0] for entry in found})


def console(address):
    """Connects to the console of a pooler. Its certificate has the name of its Service, which is not known here."""
    tls = {"Require": {"sslmode": "verify-ca", "sslrootcert": env.get("DBC_TLS_DIR", "") + "/ca.crt"}}.get(
        env.get("DBC_TLS_MODE", ""), {"sslmode": "prefer", "sslrootcert": ""})
    tls["require_auth"] = "scram-sha-256"  # another server of this address cannot ask for the password itself. libpq before 16 refuses this.
    problem = None
    for password in secrets("pooler-password"):
        try:
            connection = psycopg2.connect(host=address, port=PORT, user=ROLE, password=password, dbname="pgbouncer", connect_timeout=2,
                                          tcp_user_timeout=2000, keepalives_idle=2, keepalives_interval=1, keepalives_count=2, **tls)
            connection.autocommit = True
            return connection
        except psycopg2.OperationalError as error:
            problem = error
    raise problem or psycopg2.OperationalError("there is no password")


class Pooler:
    """A pooler. Each command runs in a thread of its own, because nothing bounds its time."""

    def __init__(self, address):
        self.address, self.problem, self.late, self.pauses = address, "it did not answer in time", False, False

    def ask(self, command):
        with contextlib.closing(console(self.address)) as connection:
            return query(connection, command)

    def pause(self):
        """Pauses it if it is a pooler of the primary. That ends when its transactions have ended and its connections are closed."""
        with contextlib.closing(console(self.address)) as connection:
            if PRIMARY not in [row[0] for row in query(connection, "SHOW DATABASES")]:
                self.problem = ""
                return False
            self.problem, self.pauses = "its transactions did not end within %d seconds" % TRANSACTIONS, True
            if self.late:
                return False
            try:
                query(connection, "PAUSE")
            except psycopg2.Error as error:
                self.pauses = error.pgcode is None  # it refuses: it stops, or another client has paused it
                raise
        if self.late:  # the other thread may have asked before the pause began
            self.resume()
        return not self.late

    def paused(self):
        """It ends its pause itself when it sees the new primary."""
        return ("paused", "yes") in [row[:2] for row in self.ask("SHOW STATE")]

    def resume(self):
        if self.paused():
            self.ask("RESUME")
        return True


def together(poolers, work, seconds):
    """Runs the work for all poolers at once. Returns those for which it returned True in time."""
    done = {}

    def run(pooler):
        try:
            done[pooler] = work(pooler)
        except (psycopg2.Error, SystemExit) as error:
            pooler.problem = (str(error).strip() or "no reason").splitlines()[-1]

    threads = [threading.Thread(target=run, args=(pooler,), daemon=True) for pooler in poolers]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    return [pooler for pooler in poolers if done.get(pooler)]


def resume(poolers):
    """Ends the pauses, also those that have not begun yet."""
    if poolers and len(together(poolers, Pooler.resume, ANSWER)) < len(poolers):
        say("Some poolers did not answer. They end their pause themselves within 30 seconds.")


def pause():
    """Pauses the poolers of the primary. Returns them. The clients of the others can still use the primary."""
    poolers = [Pooler(address) for address in addresses()]
    paused = together(poolers, Pooler.pause, TRANSACTIONS)
    busy = [pooler for pooler in poolers if pooler not in paused and pooler.problem]
    for pooler in busy:
        pooler.late = True
        say("The pooler %s is not paused: %s." % (pooler.address, pooler.problem))
    resume([pooler for pooler in busy if pooler.pauses])
    if paused or busy:
        say("Paused %d of %d poolers." % (len(paused), len(paused + busy)))
    return paused


def reached(deadline):
    """Waits until the Service of the cluster leads to a server that takes writes, then until the poolers have seen that, too."""
    while time.monotonic() < deadline:
        try:
            with contextlib.closing(negotiate("%s.%s.svc" % (env["DBC_CLUSTER"], env["DBC_NAMESPACE"]), port=env["DBC_PORT"], user=ROLE,
                                              password=next(secrets("pooler-password")), dbname="postgres", connect_timeout=2)) as connection:
                if not query(connection, "SELECT pg_is_in_recovery()")[0][0]:
                    return True
        except psycopg2.Error:
            pass
        time.sleep(0.2)
    return False


@contextlib.contextmanager
def paused(host):
    """Pauses the poolers while the primary on this host changes or restarts. The pause ends with the work, and at the latest after WORK
    seconds. Then the work continues, and clients see what happens."""
    if addresses():
        checkpoint(host)
    poolers = pause()
    if not poolers:
        yield
        return
    deadline = time.monotonic() + WORK
    timer = threading.Timer(WORK, resume, [poolers])
    timer.daemon = True
    timer.start()
    try:
        yield
        reached(deadline)
        seen = min(deadline, time.monotonic() + SEEN)
        while time.monotonic() < seen and together(poolers, Pooler.paused, 1):
            time.sleep(0.1)
    finally:
        timer.cancel()
        resume(poolers)
        say("Resumed the poolers.")


def checkpoint(host):
    """A server that stops writes everything to disk. Most of it can be written before clients wait for that."""
    with contextlib.suppress(psycopg2.Error, SystemExit):
        with contextlib.closing(connect(host)) as server:
            query(server, "SET statement_timeout = '60s'")
            query(server, "CHECKPOINT")
