import json
import types
import unittest
import unittest.mock
import urllib.error

import container
import following


class Replica(unittest.TestCase):
    """Replicas that look for two minutes, in a world that may change with each look."""

    def minutes(self, change=None, looks=25, **world):
        """Returns whether the replica is ready, and how often it copies the data again."""
        w = types.SimpleNamespace(**{"position": 100, "waits": [()], "removed": True, "others": 1, "role": "leader", "lag": 50, "state": "streaming",
                                     "pause": False, "answers": True, **world})
        copies = []

        def rest(host, method, path, body=None, timeout=5):
            if path == "reinitialize":
                copies.append(path)
                return 200, "reinitialize started"
            if not w.answers:
                return 0, ""
            if path == "patroni":
                return 200, json.dumps({"xlog": {"received_location": w.position, "replayed_location": 1} if w.position else {"location": 9}})
            return 200, json.dumps({"pause": w.pause, "members": [
                {"name": "orders-0", "role": w.role, "state": "running"}, {"name": "orders-1", "role": "replica", "state": "running", "lag": w.lag},
                {"name": "orders-2", "role": "replica", "state": w.state, "lag": 0}]})

        def query(connection, statement, *values):
            return w.waits if statement == following.WAITS else [(w.removed, w.others)]

        def connect(host):
            self.assertEqual(host, "orders-0.orders-headless")
            return types.SimpleNamespace(close=lambda: None)

        local = types.SimpleNamespace(connect=lambda **_: types.SimpleNamespace(close=lambda: None), Error=following.psycopg2.Error)
        with unittest.mock.patch.multiple(following, rest=rest, query=query, connect=connect, psycopg2=local):
            member = following.Following("orders-1")
            for n in range(looks):
                vars(w).update({key: value(n) for key, value in (change or {}).items()})
                container.run(member.look)
        return "stuck" if member.stuck else "ready", len(copies)

    # A replica that copies its data again loses what it has. So every doubt keeps it as it is.
    def test_it_copies_the_primary_again_only_if_it_cannot_follow_and_another_one_does(self):
        for what, got, want in (
            ("removed", self.minutes(), ("stuck", 2)),
            ("within a minute", self.minutes(looks=12), ("ready", 0)),
            ("no other", self.minutes(others=0), ("stuck", 0)),
            ("not removed", self.minutes(removed=False), ("stuck", 0)),
            ("a conflict", self.minutes(waits=[]), ("stuck", 0)),
            ("progress", self.minutes({"position": lambda n: 100 + n // 10}), ("ready", 0)),
            ("no lag", self.minutes(lag=0), ("ready", 0)),
            ("unknown lag", self.minutes(lag="unknown"), ("ready", 0)),
            ("lag at times", self.minutes({"lag": lambda n: n % 10}), ("ready", 0)),
            ("a primary", self.minutes(position=0), ("ready", 0)),
            ("no leader", self.minutes(role="replica"), ("ready", 0)),
            ("paused", self.minutes(pause=True), ("ready", 0)),
            ("Patroni is silent", self.minutes(answers=False), ("ready", 0)),
            ("silent at times", self.minutes({"answers": lambda n: n % 10}), ("ready", 0)),
            ("another copies", self.minutes(state="creating replica"), ("stuck", 0)),
            ("it follows again", self.minutes({"position": lambda n: 100 + (n > 20)}), ("ready", 1)),
        ):
            with self.subTest(what):
                self.assertEqual(got, want)


class Succession(unittest.TestCase):
    """Ready members promise that the primary can fail, and that their data is recent. With synchronous replication no replica takes over
    before the primary waits for one. A new replica may have the volume of a member that was removed long ago."""

    def answers(self, first, *, mode=True, roles=("leader", "replica", "replica"), after=None, **values):
        """Returns the answers of a new member: in a world, and after a change. It has replayed the log up to a point, and the primary has
        written it up to another one, each on a timeline."""
        world = {"readiness": 200, "config": {"synchronous_mode": mode}, "replayed": (1, 500 << 20), "written": (1, 510 << 20),
                 "cluster": {"members": [{"name": "orders-%d" % n, "role": r} for n, r in enumerate(roles)]}}
        world = {path: value for path, value in {**world, **values}.items() if value}

        def rest(host, method, path, body=None, timeout=5):
            if path == "patroni":
                self.assertEqual(host, "orders-0.orders-headless")
                timeline, location = world.get("written", (0, 0))
                return (200, json.dumps({"timeline": timeline, "xlog": {"location": location}})) if timeline else (0, "")
            if path not in world:
                return 0, ""
            return (world[path], '{"state": "starting"}') if path == "readiness" else (200, json.dumps(world[path]))

        member = following.Following(first)
        with unittest.mock.patch.object(following, "rest", rest), unittest.mock.patch.multiple(
                following.Server, problem=lambda server: "", replayed=lambda server: world.get("replayed")):
            said = [member.answer()]
            if after:
                world.update(after)
                said.append(member.answer())
        return said

    def test_a_new_replica_is_ready_when_a_replica_can_take_over(self):
        chosen = {"members": [{"name": "orders-0", "role": "leader"}, {"name": "orders-2", "role": "sync_standby"}]}
        lost = {"members": [{"name": "orders-0", "role": "leader"}, {"name": "orders-2", "role": "replica"}]}
        none, not_ready = "no replica can take over without a loss yet", "Patroni reports that it is not ready, in the state: "
        for what, got, want in (
            ("the primary", self.answers("orders-0"), ["ready"]),
            ("no standby", self.answers("orders-1", after={"cluster": chosen}), [none, "ready"]),
            ("not synchronous", self.answers("orders-1", mode=False), ["ready"]),
            ("another standby", self.answers("orders-1", cluster=chosen, after={"cluster": lost}), ["ready", "ready"]),
            ("itself", self.answers("orders-2", cluster=chosen), ["ready"]),
            ("no primary", self.answers("orders-1", roles=("replica", "replica")), ["ready"]),
            ("paused", self.answers("orders-1", cluster={**lost, "pause": True}), ["ready"]),
            ("PostgreSQL starts", self.answers("orders-1", cluster=chosen, readiness=503), [not_ready + "starting"]),
            ("Patroni is silent", self.answers("orders-1", readiness=None), [not_ready + "unknown"]),
            ("no configuration", self.answers("orders-1", config=None), [none]),
            ("an old volume", self.answers("orders-1", mode=False, replayed=(1, 9 << 20), after={"replayed": (1, 495 << 20)}),
             ["this replica has not caught up: it lacks 501 MiB of the log of orders-0", "ready"]),
            ("behind later", self.answers("orders-1", mode=False, after={"written": (1, 999 << 20)}), ["ready", "ready"]),
            ("it streams nothing", self.answers("orders-1", mode=False, replayed=None, after={"replayed": (1, 510 << 20)}),
             ["this replica does not stream from orders-0 yet", "ready"]),
            ("the log of another primary", self.answers("orders-1", cluster=chosen, replayed=(2, 999 << 20)),
             ["this replica does not stream from orders-0 yet"]),
            ("the primary is silent", self.answers("orders-1", mode=False, written=None), ["this replica does not reach orders-0, the primary"]),
            ("a primary later", self.answers("orders-1", mode=False, cluster={"members": []}, replayed=(1, 9 << 20), after={"cluster": lost}),
             ["ready", "this replica has not caught up: it lacks 501 MiB of the log of orders-0"]),
            ("silent later", self.answers("orders-1", cluster=chosen, after={"config": {}, "readiness": 503}), ["ready", not_ready + "starting"]),
        ):
            with self.subTest(what):
                self.assertEqual(got, want)


class Readiness(unittest.TestCase):
    """Patroni answers 200 on /readiness and /primary while the server of a full volume ends in each attempt to start."""

    def answers(self, state, free=100, later=0, patroni=200, label=("replica",), then=None):
        """Returns the answer of a member with this server, or two. The state is a row, or the error of the query. The labels are those of
        its pod at each look; an error if the API server does not tell it."""
        def query(connection, statement, *values):
            if isinstance(state, str):
                raise following.psycopg2.Error(state)
            return [state]

        labels = iter(label)

        def labeled(name):
            if isinstance(found := next(labels), Exception):
                raise found
            return found

        clock = {"now": 0}
        disk = types.SimpleNamespace(f_bavail=free, f_frsize=1 << 20, f_blocks=700, f_favail=1, f_files=2)
        driver = types.SimpleNamespace(connect=lambda **_: types.SimpleNamespace(), Error=following.psycopg2.Error)
        with unittest.mock.patch.multiple(
                following, query=query, psycopg2=driver, label=labeled, standing=lambda name: (name, True), time=types.SimpleNamespace(monotonic=lambda: clock["now"]),
                os=types.SimpleNamespace(statvfs=lambda path: disk), rest=lambda *_, **__: (patroni, '{"state": "creating replica"}')):
            member = following.Following("orders-0")
            said = [member.answer()]
            if later:
                clock["now"], state = later, then or state
                said.append(member.answer())
        return said

    # Otherwise clients write to a server that refuses it, and the cluster looks available.
    def test_a_former_primary_is_not_ready_before_its_label_says_so(self):
        primary, replica = (False, False, []), (True, False, [])
        refused = urllib.error.HTTPError("", 401, "Unauthorized", {}, None)
        for what, got, want in (
            ("it still has the label", self.answers(primary, then=replica, later=3, label=["primary"]),
             ["ready", "Patroni has not changed the label of this former primary yet"]),
            ("its token is refused", self.answers(primary, then=replica, later=3, label=[refused]),
             ["ready", "the Kubernetes API server refuses this member: 401 Unauthorized"]),
            ("it is cut off", self.answers(primary, then=replica, later=3, label=[OSError("timed out")]),
             ["ready", "this member does not reach the Kubernetes API server: timed out"]),
            ("it has another label now", self.answers(replica, later=3, label=["primary", "replica"]),
             ["Patroni has not changed the label of this former primary yet", "ready"]),
            ("a new replica without a label", self.answers(replica, later=3, label=[""]), ["ready", "ready"]),
            ("a primary asks nothing", self.answers(primary, later=3, label=[]), ["ready", "ready"]),
            ("the same replica asks once", self.answers(replica, later=3, label=["replica"]), ["ready", "ready"]),
            ("it leads again", self.answers(replica, then=primary, later=3, label=["replica"]), ["ready", "ready"]),
        ):
            with self.subTest(what):
                self.assertEqual(got, want)

    def test_a_member_is_ready_only_while_its_server_answers_and_takes_writes(self):
        primary, replica, waits = (False, False, []), (True, False, []), (False, True, [])
        starts = 'connection to server on socket "/run/postgresql/.s.PGSQL.5432" failed: FATAL:  the database system is not yet accepting connections'
        full = "the data volume of 700 MiB is full. Raise spec.storage.size."
        for what, got, want in (
            ("a primary", self.answers(primary), ["ready"]),
            ("a replica", self.answers(replica), ["ready"]),
            ("it ends again and again", self.answers(starts), ["the server does not answer: " + starts]),
            ("a full volume without a server", self.answers(starts, free=3), ["no writes: " + full]),
            ("a full primary", self.answers(primary, free=3), ["no writes: " + full]),
            ("a full replica", self.answers(replica, free=3), [full]),
            ("commits wait", self.answers(waits, later=20), ["ready", "ready"]),
            ("commits wait for long", self.answers(waits, later=31), [
                "ready", "no writes: commits wait for a replica, and none streams. Repair one, or set spec.parameters[synchronous] to on."]),
            ("too many clients", self.answers("FATAL:  sorry, too many clients already"), ["ready"]),
            ("it copies", self.answers(starts, patroni=503), ["Patroni reports that it is not ready, in the state: creating replica"]),
        ):
            with self.subTest(what):
                self.assertEqual(got, want)
