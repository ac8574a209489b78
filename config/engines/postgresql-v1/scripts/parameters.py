"""Turns spec.parameters into Patroni's dynamic configuration."""
import json
import re
import subprocess

from common import DATA, env, fail

OWNED = re.compile("archive_.*|recovery_(target.*|end_command|min_apply_delay)|restore_command|primary_(conninfo|slot_name)|"
                   "ssl|ssl_(ca|cert|crl|key)_.*|synchronous_standby_names|hot_standby|cluster_name|listen_addresses|port|"
                   "unix_socket_.*|data_directory|config_file|hba_file|ident_file|external_pid_file|password_encryption|"
                   "full_page_writes|wal_log_hints|logging_collector")
# Patroni ignores lower values.
LEAST = {"max_connections": 25, "max_wal_senders": 10, "max_replication_slots": 10, "max_worker_processes": 2, "max_locks_per_transaction": 32}
# The members keep in this slot what the archive does not have yet.
ARCHIVE = "dbc_archive"
# Seconds until the kubelet has killed a frozen member: see the liveness probe.
KILLED = 17


def refuse(parameter, reason):
    fail(30, "spec.parameters[%s]: %s" % (parameter, reason))


def dynamic():
    """Returns the complete dynamic configuration. It replaces the previous one, so no other change survives."""
    settings = json.loads(env["DBC_PARAMETERS"])
    timing = {key: int(settings.pop(key)) for key in ("ttl", "loop_wait", "retry_timeout", "maximum_lag_on_failover")}
    if timing["loop_wait"] + 2 * timing["retry_timeout"] > timing["ttl"]:
        refuse("ttl", "ttl must be at least loop_wait + 2 * retry_timeout.")
    if timing["ttl"] - timing["loop_wait"] <= KILLED:
        refuse("ttl", "ttl must be greater than loop_wait + %d, so that a frozen primary is killed before another one is elected." % KILLED)
    slots = [slot.split(":") for slot in settings.pop("slots", "").split(",") if slot]
    if ARCHIVE in [slot[0] for slot in slots]:
        refuse("slots", "%s is the slot of the archive. Choose another name." % ARCHIVE)
    if slots and settings.get("wal_level") != "logical":
        refuse("slots", "logical slots need spec.parameters[wal_level] logical.")
    ignored = [{"name": slot} for slot in settings.pop("ignore_slots", "").split(",") if slot]
    synchronous = settings.pop("synchronous") or ("on" if int(env["DBC_REPLICAS"]) > 2 else "off")
    copy = env.get("DBC_MEMBERS") == "localhost"  # of a verification, which has one member
    if synchronous == "strict" and env["DBC_REPLICAS"] == "1" and not copy:
        refuse("synchronous", "strict waits for a replica, but spec.replicas is 1, so no commit would end. Set on or off, or raise spec.replicas.")
    archives = env.get("DBC_ARCHIVE") == "true" and not copy
    if archives and synchronous == "strict":
        refuse("synchronous", "with strict, a commit would wait for the archive when no replica runs. Set on, or remove spec.backup.archive.")
    all_slots = {name: {"type": "logical", "database": database, "plugin": plugin} for name, database, plugin in slots}
    if archives:
        all_slots[ARCHIVE] = {"type": "physical"}
    return {
        **timing,
        "failsafe_mode": True,
        "synchronous_mode": synchronous != "off", "synchronous_mode_strict": synchronous == "strict",
        "postgresql": {"use_pg_rewind": True, "use_slots": True, "parameters": settings},
        **({"slots": all_slots} if all_slots else {}),
        **({"ignore_slots": ignored} if ignored else {}),
    }


def check(settings, database=DATA):
    """Refuses settings that Patroni owns, or with which a server does not start on a new database. Raises a log that is too small."""
    for parameter, value in settings.items():
        if OWNED.fullmatch(parameter):
            refuse(parameter, "the engine sets it. Remove it.")
        if value.isdecimal() and int(value) < LEAST.get(parameter, 0):
            refuse(parameter, "must be at least %d." % LEAST[parameter])
    if settings.get("wal_level", "replica") not in ("replica", "logical"):
        refuse("wal_level", "must be replica or logical.")
    for parameter, least in (("wal_keep_size", 16), ("max_wal_size", 32)):
        megabytes = re.fullmatch("([0-9]+)MB", settings[parameter])
        if megabytes and int(megabytes[1]) < least:  # also the default of a small volume
            settings[parameter] = "%dMB" % least
    # The server loads its libraries and computes the size of its memory, and ends.
    test = subprocess.run(["postgres", "-D", database, *options({"log_line_prefix": "", **settings}), "-C", "shared_memory_size"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if test.returncode:
        named = re.search('parameter "([^"]+)"', test.stderr)
        fail(30, "spec.parameters%s: PostgreSQL does not accept it: %s" % ("[%s]" % named[1] if named else "", " ".join(test.stderr.split())))


def options(settings):
    return [word for key, value in settings.items() for word in ("-c", "%s=%s" % (key, value))]
