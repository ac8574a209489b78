"""Makes transactions of clients read-only, and undoes that. The setting is stored in the database: replicas have it, too, so another primary
does not begin to write, and a lifted protection is lifted everywhere. It writes a few records of the log."""
import time

from common import env, fail, name, query

# The mark distinguishes this setting from one of a user. The superuser, who also is Patroni, can write.
PROTECT = """
    ALTER ROLE ALL SET default_transaction_read_only = on;
    ALTER ROLE ALL SET dbc.protected = 'on';
    ALTER ROLE CURRENT_USER SET default_transaction_read_only = off"""
LIFT = """
    ALTER ROLE ALL RESET default_transaction_read_only;
    ALTER ROLE ALL RESET dbc.protected;
    ALTER ROLE CURRENT_USER RESET default_transaction_read_only"""
WRITE = "ALTER ROLE ALL RESET default_transaction_read_only"
MARKED = "SELECT FROM pg_db_role_setting WHERE setdatabase = 0 AND setrole = 0 AND 'dbc.protected=on' = ANY (setconfig)"
# A session has the setting with which it began. Backups and replicas are no client backends.
OLD = """FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND usename IS DISTINCT FROM current_user AND pid <> pg_backend_pid() AND backend_start <= %s::timestamptz"""
# The replicas that have not stored the log up to a position. One that does not stream is not the next primary.
BEHIND = """
    SELECT application_name FROM pg_stat_replication
    WHERE state = 'streaming' AND application_name = ANY(%s) AND (flush_lsn >= %s::pg_lsn) IS NOT TRUE"""
# Sessions end within so many seconds, and replicas store the change within so many.
PATIENCE = 20


def protect(database):
    query(database, PROTECT)  # one transaction
    disconnect(database)
    copied(database)


def lift(database):
    """Removes the mark at last: while it exists, another attempt completes this one. Without it, no session has the setting."""
    if query(database, MARKED):
        query(database, WRITE)
        copied(database)
        disconnect(database)
        query(database, LIFT)


def copied(database):
    """Waits until another primary would have the change."""
    (now,), = query(database, "SELECT pg_current_wal_flush_lsn()::text")
    deadline = time.monotonic() + PATIENCE
    while behind := query(database, BEHIND, [name(host) for host in env.get("DBC_MEMBERS", "").split()], now):
        if time.monotonic() > deadline:
            fail(11, "%s have not stored the change within %d seconds." % (", ".join(member for member, in behind), PATIENCE))
        time.sleep(0.2)


def disconnect(database):
    """Ends the sessions that began before now. Clients connect again, and have the new setting."""
    (now,), = query(database, "SELECT clock_timestamp()::text")
    deadline = time.monotonic() + PATIENCE
    while query(database, "SELECT pg_terminate_backend(pid) " + OLD, now):
        if time.monotonic() > deadline:
            fail(11, "Sessions of clients have not ended within %d seconds." % PATIENCE)
        time.sleep(0.2)
