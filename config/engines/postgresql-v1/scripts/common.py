"""What the scripts share: files of the Secret, connections, Patroni's REST API, passwords."""
import base64
import hashlib
import hmac
import json
import os
import re
import signal
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import psycopg2
from psycopg2.extensions import encrypt_password
from psycopg2.sql import SQL, Identifier, Literal

env = os.environ
DATA = env["DBC_DATA_DIR"] + "/pgdata"
REPLICATOR, POOLER = "replicator", "dbc_pooler"
METRICS, METRICS_KEY, POOLER_KEY = "dbc_metrics", "metrics-password", "pooler-password"
# The variables of a proxy are not for members.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))

# In members and some Jobs a script is process 1, which receives only signals that it handles.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def fail(code, text):
    print(text, file=sys.stderr)
    sys.exit(code)


def secret(key):
    try:
        with open(env["DBC_SECRETS_DIR"] + "/" + key, encoding="utf-8") as file:
            return file.read().rstrip("\n")
    except OSError:
        fail(20, "The Secret's key %s cannot be read." % key)


def secrets(key):
    """Yields the current value of a key, then the previous one during a rotation."""
    for name in (key, key + ".previous"):
        if os.path.exists(env["DBC_SECRETS_DIR"] + "/" + name):
            yield secret(name)


def tls(host):
    """Returns how libpq verifies a member. The certificate of a copy may lack the name localhost."""
    if not env.get("DBC_TLS_MODE"):
        return {}
    return {"sslmode": "verify-ca" if host == "localhost" else "verify-full", "sslrootcert": env["DBC_TLS_DIR"] + "/ca.crt"}


# A change of passwords appears in no log and no statistics. It does not wait for replicas, which may be absent: a
# member that becomes the primary sets the passwords of its files. It is possible although the default of clients is read only.
QUIET = ("-c log_statement=none -c log_min_duration_statement=-1 -c log_min_error_statement=panic "
         "-c pg_stat_statements.track_utility=off -c synchronous_commit=local -c default_transaction_read_only=off")


def connect(host, database="postgres", options=QUIET, **settings):
    """Connects as the superuser. host can be several hosts, separated by commas."""
    for password in secrets("password"):
        try:
            connection = negotiate(host, port=env["DBC_PORT"], user="postgres", password=password, dbname=database,
                                   options=options, connect_timeout=10, **settings)
            connection.autocommit = True
            return connection
        except psycopg2.OperationalError as error:
            reason = str(error).strip()
            if "password authentication failed" not in reason:
                fail(11, "No connection to %s now: %s" % (host, reason))
    fail(11, "%s does not accept the password in the Secret yet. Members apply a changed Secret within two minutes." % host)


def negotiate(host, **settings):
    """Connects with TLS. With the mode Allow, a member without TLS has not restarted yet since TLS was turned on."""
    try:
        return psycopg2.connect(host=host, **{**tls(host), **settings})
    except psycopg2.OperationalError as error:
        if env.get("DBC_TLS_MODE") != "Allow" or "sslmode" in settings or "server does not support SSL" not in str(error):
            raise
        return psycopg2.connect(host=host, sslmode="disable", **settings)


def primary():
    return connect(env["DBC_MEMBERS"].replace(" ", ","), target_session_attrs="read-write")


def source():
    """Connects to DBC_MEMBER when it has everything that the primary has now, or to the primary if it never has."""
    leader = primary()
    if leader.info.host == env["DBC_MEMBER"]:
        return leader
    now = query(leader, """
        SELECT pg_current_wal_flush_lsn()::text, ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int""")[0]
    deadline = time.monotonic() + 60
    try:
        replica = connect(env["DBC_MEMBER"])
        while time.monotonic() < deadline:
            # A replica on another timeline has other changes.
            if query(replica, """
                    SELECT FROM pg_stat_wal_receiver
                    WHERE pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn AND received_tli = %s""", *now):
                return replica
            time.sleep(0.5)
    except psycopg2.Error as error:
        print("%s: %s" % (env["DBC_MEMBER"], error), file=sys.stderr)
    except SystemExit as end:
        if end.code != 11:
            raise
    print("%s does not have the latest data: reading %s, the primary." % (env["DBC_MEMBER"], leader.info.host), file=sys.stderr)
    return leader


def query(connection, statement, *values):
    """Returns the rows. A statement that returns rows without columns has an empty description."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return [] if cursor.description is None else cursor.fetchall()


def rest_password(password):
    """Patroni's client sends a password as Latin-1, and its server compares it as UTF-8. So both get one in ASCII."""
    return password if password.isascii() else urllib.parse.quote(password)


def rest(host, method, path, body=None, timeout=5):
    """Calls Patroni on a member. Returns the HTTP status, or 0 if there is no answer, and the text."""
    host = "[%s]" % host if ":" in host else host
    status, text = 0, ""
    for password in secrets("restapi-password"):
        credentials = base64.b64encode(("patroni:" + rest_password(password)).encode()).decode()
        request = urllib.request.Request("http://%s:8008/%s" % (host, path), method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": "Basic " + credentials})
        try:
            with DIRECT.open(request, timeout=timeout) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)
        if status != 401:
            break
    return status, text


def cluster():
    """Returns Patroni's view of the cluster, from the first member that answers."""
    for host in env["DBC_MEMBERS"].split():
        status, text = rest(host, "GET", "cluster")
        if status == 200:
            return json.loads(text)
    fail(11, "No member answers. Patroni runs on none of them.")


def name(host):
    return host.split(".")[0]


def roles(connection):
    """Returns the roles that exist, with their keys in the Secret. Those of exporters and poolers exist as soon as the Secret has their keys."""
    keys = {"postgres": "password", REPLICATOR: "replication-password", env["DBC_OWNER"]: "owner-password"}
    exist = query(connection, "SELECT rolname FROM pg_roles WHERE rolcanlogin AND rolname = ANY(%s)", list(keys))
    return [(role, keys[role]) for role, in exist] + [
        (role, key) for role, key in ((METRICS, METRICS_KEY), (POOLER, POOLER_KEY)) if given(key)]


def given(key):
    """Reports whether the Secret has a key. One of a user needs those of exporters and poolers only with them."""
    return os.path.exists(env["DBC_SECRETS_DIR"] + "/" + key)


def create_monitor(connection):
    """Creates the account of the exporter, where it is missing. It reads statistics, and no tables. The names in its queries are those of
    the server, whatever a user creates in a schema. Hanging or many queries of an exporter do not disturb applications."""
    if not given(METRICS_KEY):
        return
    if not query(connection, "SELECT FROM pg_roles WHERE rolname = %s", METRICS):
        query(connection, "CREATE ROLE %s" % METRICS)
    query(connection, "ALTER ROLE %s LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 5" % METRICS)
    query(connection, "GRANT pg_monitor TO %s" % METRICS)
    for setting in ("search_path = pg_catalog, pg_temp", "default_transaction_read_only = on", "statement_timeout = '10s'", "lock_timeout = '1s'"):
        query(connection, "ALTER ROLE %s SET %s" % (METRICS, setting))


def set_passwords(connection, only=None):
    """Sets the passwords of the Secret that the server does not have yet. It receives only their hashes. A password that is set again gets
    another salt, and poolers could not use the proofs of their clients any more. only is a role whose password alone is set."""
    create_monitor(connection)
    create_pooler(connection)
    has = dict(query(connection, "SELECT rolname, rolpassword FROM pg_authid"))
    statements = [SQL("ALTER ROLE {} PASSWORD {}").format(
        Identifier(role), Literal(encrypt_password(secret(key), role, connection, "scram-sha-256")))
        for role, key in roles(connection) if only in (None, role) and not verifies(has.get(role), secret(key))]
    if statements:
        query(connection, SQL("; ").join(statements))  # one transaction


def verifies(verifier, password):
    """Reports whether a hash of the server is of this password. It may not know that of one with other than ASCII characters."""
    parts = re.fullmatch(r"SCRAM-SHA-256\$([0-9]+):([^$]+)\$([^:]+):.+", verifier or "")
    if not parts:
        return False
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(parts[2]), int(parts[1]))
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    return hmac.compare_digest(base64.b64decode(parts[3]), stored)


def create_replicator(connection):
    """Creates the role of replicas, where it is missing. pg_rewind needs the functions."""
    if query(connection, "SELECT FROM pg_roles WHERE rolname = %s", REPLICATOR):
        return
    query(connection, "CREATE ROLE %s LOGIN REPLICATION" % REPLICATOR)
    for function in ("pg_ls_dir(text, boolean, boolean)", "pg_stat_file(text, boolean)", "pg_read_binary_file(text)",
                     "pg_read_binary_file(text, bigint, bigint, boolean)"):
        query(connection, "GRANT EXECUTE ON FUNCTION pg_catalog.%s TO %s" % (function, REPLICATOR))


def create_pooler(connection):
    """Creates the role of poolers and its function, or puts them right."""
    if not given(POOLER_KEY):
        return
    with open(os.path.dirname(os.path.abspath(__file__)) + "/pooler.sql", encoding="utf-8") as file:
        query(connection, file.read())


def check_owner():
    owner = env["DBC_OWNER"]
    if owner in ("postgres", REPLICATOR, POOLER, METRICS, "public", "none") or owner.startswith("pg_"):
        fail(20, "spec.bootstrap.owner is %s, which PostgreSQL or this engine reserves. Create the cluster again with another owner." % owner)


def create_database(connection):
    """Creates the database for applications and its owner, where they are missing. A database that exists gets that owner. It has the
    rights of the previous one, but never those of a superuser."""
    owner, database = Identifier(env["DBC_OWNER"]), Identifier(env["DBC_DATABASE"])
    if not query(connection, "SELECT FROM pg_roles WHERE rolname = %s", env["DBC_OWNER"]):
        query(connection, SQL("CREATE ROLE {} LOGIN").format(owner))
    previous = query(connection, "SELECT rolname, rolsuper FROM pg_database d JOIN pg_roles r ON r.oid = d.datdba WHERE datname = %s", env["DBC_DATABASE"])
    if not previous:
        query(connection, SQL("CREATE DATABASE {} OWNER {}").format(database, owner))
    elif previous[0][0] != env["DBC_OWNER"]:
        query(connection, SQL("ALTER DATABASE {} OWNER TO {}").format(database, owner))
        if previous[0][1]:
            grant_tables(connection, owner)
        else:
            query(connection, SQL("GRANT {} TO {}").format(Identifier(previous[0][0]), owner))
    set_passwords(connection)


def grant_tables(connection, owner):
    inside = psycopg2.connect(host=connection.info.host, port=env["DBC_PORT"], user="postgres", dbname=env["DBC_DATABASE"], options=QUIET)
    inside.autocommit = True
    for schema, in query(inside, "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'"):
        for what in ("SCHEMA", "ALL TABLES IN SCHEMA", "ALL SEQUENCES IN SCHEMA"):
            query(inside, SQL("GRANT ALL ON " + what + " {} TO {}").format(Identifier(schema), owner))
    inside.close()


# Tables of users, not of PostgreSQL.
TABLES = """FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'm') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"""


def adopt_database(connection):
    """Lets applications use restored data, or refuses it: another database would be empty."""
    check_owner()
    names = query(connection, """
        SELECT datname, rolname FROM pg_database d JOIN pg_roles r ON r.oid = d.datdba
        WHERE NOT datistemplate AND (datname <> 'postgres' OR EXISTS (SELECT """ + TABLES + ")) ORDER BY datname")
    if names and env["DBC_DATABASE"] not in dict(names):
        fail(30, "The backup has no data in a database %s, but has: %s. Create the cluster again with this spec.bootstrap.database and owner."
             % (env["DBC_DATABASE"], ", ".join("%s (owner %s)" % pair for pair in names)))
    create_database(connection)
    # A look with the role of applications.
    try:
        application = psycopg2.connect(host=connection.info.host, port=env["DBC_PORT"], user=env["DBC_OWNER"], dbname=env["DBC_DATABASE"])
    except psycopg2.OperationalError as error:
        fail(30, "The role %s cannot connect to the restored database %s: %s. Create the cluster again with another spec.bootstrap.owner."
             % (env["DBC_OWNER"], env["DBC_DATABASE"], str(error).strip()))
    tables, readable = query(application, "SELECT count(*), count(*) FILTER (WHERE has_schema_privilege(n.oid, 'USAGE') "
                                          "AND has_table_privilege(c.oid, 'SELECT')) " + TABLES)[0]
    application.close()
    # The owner of the backup can read what it could before: tables of another role, or none.
    if tables and not readable and dict(names).get(env["DBC_DATABASE"]) != env["DBC_OWNER"]:
        fail(30, "The role %s can read none of the %d tables in the restored database %s. Create the cluster again with the spec.bootstrap.owner of the backup."
             % (env["DBC_OWNER"], tables, env["DBC_DATABASE"]))
