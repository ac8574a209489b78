"""Watches whether this member can do its work: whether its server answers and takes writes, and whether a replica follows the primary.
One that does not follow copies the primary again if it never can."""
import contextlib
import http.client
import json
import os
import pathlib
import socketserver
import ssl
import sys
import threading
import time
import urllib.error
import urllib.request

import psycopg2

from common import QUIET, connect, env, query, rest

# Without progress in so many looks, which are five seconds apart, a replica does not follow.
LOOKS = 12
# A server needs so many MiB for the next segment of its log, and ends without it.
SEGMENT = 16
# A commit may wait for a replica for so many seconds, while Patroni looks for another one, until that counts.
WAITS_FOR_REPLICA = 30
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount/"
ROLE = "database.dbcluster.io/role"
# Whether the server is a replica, whether a commit waits for one, and its logical slots.
STATE = """
    SELECT pg_is_in_recovery(), current_setting('synchronous_standby_names') <> ''
            AND NOT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')),
        ARRAY(SELECT slot_name::text FROM pg_replication_slots WHERE slot_type = 'logical' AND NOT temporary ORDER BY 1)"""
# The startup process waits for the primary, and not for a query or a person.
WAITS = "SELECT FROM pg_stat_activity WHERE backend_type = 'startup' AND wait_event IN ('RecoveryRetrieveRetryInterval', 'RecoveryWalStream')"
# How far this replica has replayed the log that it streams.
REPLAYED = """
    SELECT received_tli, pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint
    FROM pg_stat_wal_receiver WHERE status = 'streaming' AND pg_last_wal_replay_lsn() IS NOT NULL"""
# Whether the primary has removed the next segment of the log, and how many of these members have nearly all of it.
REMOVED = """
    SELECT substr(pg_walfile_name('0/0'::pg_lsn + %s + 1), 9) COLLATE "C" <
            (SELECT min(substr(name, 9) COLLATE "C") FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'),
        (SELECT count(*) FROM pg_stat_replication WHERE application_name = ANY(%s) AND state = 'streaming'
            AND pg_wal_lsn_diff(pg_current_wal_flush_lsn(), flush_lsn) < 16777216)"""


def received():
    """Returns the end of the log that this replica has; 0 on a primary, or if it is not known."""
    status, text = rest("localhost", "GET", "patroni")
    log = json.loads(text).get("xlog", {}) if status == 200 else {}
    return max(log.get("received_location") or 0, log.get("replayed_location") or 0)


def view(name):
    """Returns the primary, the other replicas, and the bytes that this one lacks; no primary if Patroni does not know it, or is paused."""
    status, text = rest("localhost", "GET", "cluster")
    seen = json.loads(text) if status == 200 else {}
    members = {} if seen.get("pause") else {m["name"]: m for m in seen.get("members", [])}
    lag = members.pop(name, {}).get("lag")
    leader = next((other for other, m in members.items() if m["role"] == "leader"), "")
    members.pop(leader, None)
    return leader, members, lag if isinstance(lag, int) else 0


def standing(name):
    """Returns the primary, "" for none, and whether a replica can take over. With synchronous replication it must be one that the primary
    waits for, and the primary chooses one some seconds after the first replica streams. Both are None if Patroni does not answer."""
    answers = [rest("localhost", "GET", path, timeout=1) for path in ("config", "cluster")]
    if any(status != 200 for status, _ in answers):
        return None, None
    config, seen = (json.loads(text) for _, text in answers)
    roles = {m["name"]: m["role"] for m in seen["members"]}
    leader = next((other for other, role in roles.items() if role == "leader"), "")
    safe = not config.get("synchronous_mode") or bool(seen.get("pause")) or leader in ("", name) or "sync_standby" in roles.values()
    return leader, safe


def end(leader, name):
    """Returns the timeline of the primary, and the end of its log; None if it does not answer."""
    status, text = rest("%s.%s-headless" % (leader, name.rpartition("-")[0]), "GET", "patroni", timeout=1)
    seen = json.loads(text) if status == 200 else {}
    return (seen["timeline"], seen["xlog"]["location"]) if "location" in seen.get("xlog", {}) and "timeline" in seen else None


def label(name):
    """Returns the role in the labels of this pod, which Services select."""
    token, namespace = (pathlib.Path(ACCOUNT, file).read_text(encoding="utf-8").strip() for file in ("token", "namespace"))
    host = env["KUBERNETES_SERVICE_HOST"]
    request = urllib.request.Request(
        "https://%s:%s/api/v1/namespaces/%s/pods/%s" % ("[%s]" % host if ":" in host else host, env["KUBERNETES_SERVICE_PORT"], namespace, name),
        headers={"Authorization": "Bearer " + token, "Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"})
    # The variables of a proxy are not for this server.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                         urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=ACCOUNT + "ca.crt")))
    with direct.open(request, timeout=1) as answer:
        return json.load(answer)["metadata"].get("labels", {}).get(ROLE, "")


def full():
    """Returns a sentence if the data volume is full."""
    disk = os.statvfs(env["DBC_DATA_DIR"])
    if disk.f_bavail * disk.f_frsize >= SEGMENT << 20 and (disk.f_favail or not disk.f_files):
        return ""
    return "the data volume of %d MiB is full. Raise spec.storage.size." % (disk.f_blocks * disk.f_frsize >> 20)


class Server:
    """The server of this member, which answers over one connection."""

    def __init__(self):
        self.lock, self.connection, self.waits, self.slots = threading.Lock(), None, None, []
        self.replica, self.led = False, True  # what led before a restart of the container may still have the label of the primary

    def ask(self, statement):
        for attempt in (1, 2):
            try:
                if self.connection is None:
                    self.connection = psycopg2.connect(host="/run/postgresql", port=env["DBC_PORT"], user="postgres", dbname="postgres",
                                                       options=QUIET, connect_timeout=2)
                    self.connection.autocommit = True
                return query(self.connection, statement)
            except psycopg2.Error:
                self.connection = None
                if attempt == 2:
                    raise

    def problem(self):
        """Returns why this server cannot do its work; "" if it can. After "no writes:" follows why clients cannot write."""
        if not self.lock.acquire(timeout=2):  # an earlier question has no answer yet
            return "the server does not answer"
        try:
            return self.judge(full(), *self.ask(STATE)[0])
        except psycopg2.Error as error:
            text = str(error)
            if "too many clients" in text or "connection slots" in text:
                return ""
            return "no writes: " + full() if full() else "the server does not answer: " + (text.strip() or "no reason").splitlines()[-1]
        finally:
            self.lock.release()

    def replayed(self):
        """Returns the timeline that this replica streams, and how far it has replayed it; None if it streams none."""
        if not self.lock.acquire(timeout=1):
            return None
        try:
            return next(iter(self.ask(REPLAYED)), None)
        except psycopg2.Error:
            return None
        finally:
            self.lock.release()

    def judge(self, disk, replica, waits, slots):
        self.replica, self.led = replica, self.led or not replica
        if slots != self.slots and not replica:
            self.slots = slots
            warn(slots)
        if not waits or self.waits is None:
            self.waits = time.monotonic() if waits else None
        if disk:
            return disk if replica else "no writes: " + disk
        if waits and time.monotonic() - self.waits > WAITS_FOR_REPLICA:
            return "no writes: commits wait for a replica, and none streams. Repair one, or set spec.parameters[synchronous] to on."
        return ""


def warn(slots):
    """Names the slots that Patroni deletes when this member becomes a replica."""
    status, text = rest("localhost", "GET", "config", timeout=1)
    if status == 200 and slots:
        config = json.loads(text)
        known = set(config.get("slots") or {}) | {ignored.get("name") for ignored in config.get("ignore_slots") or []}
        if lost := [slot for slot in slots if slot not in known]:
            print("The next hand-over deletes the slots %s. To keep them, set spec.parameters[slots] or [ignore_slots]." % ", ".join(lost),
                  file=sys.stderr, flush=True)


class Following:
    """What is known about this member. A state that is not known is no reason to do anything."""

    def __init__(self, name):
        self.name, self.position, self.looks, self.stuck, self.joined, self.found = name, 0, 0, False, False, ""
        self.server = Server()

    def answer(self):
        """Returns "ready", or why this member is not ready."""
        status, text = rest("localhost", "GET", "readiness", timeout=1)
        problem = self.server.problem()
        if problem.startswith("no writes: "):
            return problem
        if status != 200:
            state = json.loads(text).get("state", "") if text.startswith("{") else ""
            return "Patroni reports that it is not ready, in the state: %s" % (state or "unknown")
        if self.stuck or problem:
            return problem or self.found or "this replica does not follow the primary"
        if mislabeled := self.mislabeled():
            return mislabeled
        return "ready" if self.joined else self.joins() or "ready"

    def joins(self):
        """Returns why this new member is not ready yet; "" if it is. A volume of a member that was removed before has old data, and clients
        read what a replica has replayed. Without a primary, a replica is ready, and is judged again when there is one."""
        leader, safe = standing(self.name)
        if not safe:
            return "no replica can take over without a loss yet"
        behind = self.behind(leader) if leader not in ("", self.name) else ""
        self.joined = leader != "" and not behind
        return behind

    def behind(self, leader):
        """Returns what this replica lacks of the log of the primary; "" if it has caught up."""
        wanted, has = end(leader, self.name), self.server.replayed()
        if wanted is None:
            return "this replica does not reach %s, the primary" % leader
        if has is None or has[0] != wanted[0]:
            return "this replica does not stream from %s yet" % leader
        lacks = (wanted[1] - has[1]) >> 20
        return "this replica has not caught up: it lacks %d MiB of the log of %s" % (lacks, leader) if lacks >= SEGMENT else ""

    def mislabeled(self):
        """Returns why Services may still take this replica for the primary; "" if they do not. Patroni needs the API server to change
        the label."""
        if not self.server.led or not self.server.replica:
            return ""
        try:
            self.server.led = label(self.name) == "primary"
        except urllib.error.HTTPError as error:
            return "the Kubernetes API server refuses this member: %d %s" % (error.code, error.reason)
        except (OSError, ValueError, http.client.HTTPException) as error:
            return "this member does not reach the Kubernetes API server: %s" % error
        return "Patroni has not changed the label of this former primary yet" if self.server.led else ""

    def look(self):
        """Runs every five seconds."""
        position = received()
        leader, others, lag = view(self.name) if position and position == self.position else ("", {}, 0)
        self.looks = self.looks + 1 if leader and lag else 0
        self.position, self.stuck = position, self.looks >= LOOKS
        if self.stuck and self.looks % LOOKS == 0:
            self.found = self.repair(leader, others)
            print(self.found, file=sys.stderr, flush=True)

    def repair(self, leader, others):
        """Lets Patroni copy the primary again if this replica cannot follow it any more. That removes the data of this replica, so the
        primary and another replica must have it. Returns what it has found and done."""
        with contextlib.closing(psycopg2.connect(host="/run/postgresql", port=env["DBC_PORT"], user="postgres", dbname="postgres", options=QUIET)) as server:
            waits = query(server, WAITS)
        with contextlib.closing(connect("%s.%s-headless" % (leader, self.name.rpartition("-")[0]))) as primary:
            removed, following = query(primary, REMOVED, self.position, list(others))[0]
        if not removed or not waits:
            return "this replica does not follow %s" % leader
        text = "%s has removed the write-ahead log that this replica needs. " % leader
        if any(m["state"] == "creating replica" for m in others.values()):
            return text + "It copies all data again after another member."
        if not following:
            return text + ("No other replica follows, so the data here stays until a person decides: "
                           "annotate the DatabaseCluster with database.dbcluster.io/rebuild=" + self.name)
        return text + "It copies all data again. Patroni: " + rest("localhost", "POST", "reinitialize", {}, 10)[1]


def serve(following):
    """Answers the readiness probe with one line."""
    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.sendall((following.answer().replace("\n", " ") + "\n").encode())

    class Probe(socketserver.ThreadingTCPServer):
        allow_reuse_address = daemon_threads = True

    threading.Thread(target=Probe(("127.0.0.1", 8009), Handler).serve_forever, daemon=True).start()
