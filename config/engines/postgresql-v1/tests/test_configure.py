import contextlib
import json
import subprocess
import sys
import types
import unittest
import unittest.mock

import container
import common


class World:
    """A Patroni of three members, whose time passes only in sleep. The first configuration of the database has max_connections 100. The
    script raises it to 200."""

    def __init__(self):
        self.old = {"loop_wait": 5, "ttl": 30, "postgresql": {"parameters": {"max_connections": "100"}}}
        self.config, self.time, self.answers, self.refused, self.pause = dict(self.old), 0, {}, set(), False
        self.members = {h: {"role": "replica", "state": "running", "runs": "100"} for h in ("orders-0", "orders-1", "orders-2")}
        self.members["orders-0"]["role"] = "primary"
        self.said, self.events = "", []

    def value(self):
        return self.config["postgresql"]["parameters"]["max_connections"]

    def patroni(self, host):
        is_ = self.members[host]
        change = {"old_value": is_["runs"], "new_value": self.value()}
        pending = {"pending_restart": True, "pending_restart_reason": {"max_connections": change}} if is_["runs"] != self.value() else {}
        return {"role": is_["role"], "state": is_["state"], **pending}

    def start(self, host):
        is_ = self.members[host]
        works = self.value() not in self.refused
        is_["state"], is_["runs"] = ("running", self.value()) if works else ("restart failed (start failed)", is_["runs"])
        return works

    @contextlib.contextmanager
    def paused(self, host):
        self.events.append("pause for " + host)
        yield
        self.events.append("resume")

    def restart(self, host):
        self.events.append("restart " + host)
        if self.answers.get(host):
            answer = self.answers[host].pop(0)
            return answer() if callable(answer) else answer
        return (200, "restarted successfully") if self.start(host) else (503, "restart failed")

    def rest(self, host, method, path, body=None, timeout=5):
        if self.members[host]["state"] == "gone":
            return 0, ""
        if (method, path) == ("GET", "patroni"):
            return 200, json.dumps(self.patroni(host))
        if (method, path) == ("GET", "config"):
            return 200, json.dumps(self.config)
        if (method, path) == ("PUT", "config"):
            self.config = body
            return 200, json.dumps(body)
        return self.restart(host)

    def sleep(self, seconds):
        self.time += seconds
        for host, is_ in self.members.items():
            if is_["state"] in ("start failed", "restart failed (start failed)"):
                self.start(host)

    def cluster(self):
        return {"pause": self.pause, "members": [{"role": "leader" if m["role"] == "primary" else "replica", "state": "streaming"}
                                                 for m in self.members.values()]}

    def configure(self):
        """Runs the script once. Returns its exit code, what Patroni has stored, and what the servers run with."""
        connection = types.SimpleNamespace(close=lambda: None)
        with container.environment(3, {"max_connections": "200"}, DBC_MEMBERS=" ".join(self.members)):
            patroni = types.SimpleNamespace(
                DATA="/nonexistent", env=common.env, fail=common.fail, name=lambda host: host, rest=self.rest, cluster=self.cluster,
                connect=lambda host: connection, primary=lambda: connection, query=lambda *_: [[json.dumps(self.config)]],
                set_passwords=lambda connection: None)
            time = types.SimpleNamespace(sleep=self.sleep, monotonic=lambda: self.time)
            pausing = types.SimpleNamespace(paused=self.paused)
            server = types.SimpleNamespace(initdb=lambda *_, **__: None)
            accepts = types.SimpleNamespace(returncode=0)
            with unittest.mock.patch.dict(sys.modules, common=patroni, pausing=pausing, server=server, time=time), unittest.mock.patch.object(subprocess, "run", return_value=accepts):
                sys.modules.pop("parameters", None)  # it imports this Patroni
                code, self.said = container.run("configure")
        previous = self.config.get("dbc_previous", {}).get("postgresql", {}).get("parameters", {}).get("max_connections")
        runs = [m["runs"] if m["state"] == "running" else m["state"] for m in self.members.values()]
        return code, self.value(), previous, runs


ALL, NONE = ["200", "200", "200"], ["100", "100", "100"]
DONE, NOT_YET, REFUSED = (0, "200", None, ALL), (11, "200", "100", NONE), (30, "100", None, NONE)


class Parameters(unittest.TestCase):
    """Only a server that does not start refuses parameters."""

    def setUp(self):
        self.w = World()

    def answers(self, *answers):
        """Sets how orders-1 answers the next requests to restart."""
        self.w.answers["orders-1"] = list(answers)

    def then(self, answer, **state):
        """Returns an answer after which orders-1 has another state."""
        return lambda: (self.w.members["orders-1"].update(state), answer)[1]

    def expect(self, want, said=""):
        self.assertEqual(self.w.configure(), want)
        self.assertIn(said, self.w.said)

    # Without the primary, the clients of a pooler would lose nothing.
    def test_poolers_pause_while_the_primary_restarts(self):
        self.w.configure()
        self.assertEqual(self.w.events, ["restart orders-1", "restart orders-2", "pause for orders-0", "restart orders-0", "resume"])

    def test_all_servers_restart(self):
        self.expect(DONE)

    def test_a_member_was_drained_just_then(self):
        self.answers((0, ""))
        self.expect(NOT_YET)

    def test_the_answer_is_lost(self):
        self.answers((0, "timed out"))
        self.expect(NOT_YET, "The server of orders-1 cannot restart now: timed out")

    def test_the_server_has_restarted_meanwhile(self):
        self.answers(lambda: (self.w.start("orders-1"), (503, "restart conditions are not satisfied"))[1])
        self.expect(DONE)

    def test_another_restart_is_in_progress(self):
        self.answers((503, "restart already in progress"))
        self.expect(NOT_YET)

    def test_the_server_recovers_for_long(self):
        self.answers((503, "postgres is still starting"))
        self.expect(NOT_YET)

    def test_patroni_refuses_the_password(self):
        self.answers((401, "no auth header received"))
        self.expect(NOT_YET)

    def test_the_member_stops_during_its_restart(self):
        self.answers(self.then((503, "restart failed"), state="gone"))
        self.expect((11, "200", "100", ["100", "gone", "100"]), "The server of orders-1 does not run now. Patroni: no answer\n")

    def test_the_server_does_not_stop(self):
        self.answers(self.then((503, "restart failed"), state="restart failed (stop failed)"))
        self.expect((11, "200", "100", ["100", "restart failed (stop failed)", "100"]))

    def test_patroni_starts_the_server_in_its_next_loop(self):
        self.answers(self.then((503, "restart failed"), state="start failed"))
        self.expect(DONE)

    def test_the_server_does_not_start_with_the_parameters(self):
        self.w.refused = {"200"}
        self.expect(REFUSED, "The server of orders-1 does not start with spec.parameters. The previous ones apply. See its log.\n")

    def test_the_server_does_not_start_with_any_parameters(self):
        self.w.refused = {"200", "100"}
        self.expect((11, "100", None, ["100", "restart failed (start failed)", "100"]),
                    "Still waiting for orders-1 to start with the previous parameters. See its log.\n")

    def test_patroni_is_paused(self):
        self.w.pause = True
        self.expect((20, "100", None, NONE), "Patroni is paused. Run patronictl resume in a member.\n")


class Previous(unittest.TestCase):
    """The configuration before a change survives every attempt."""

    def setUp(self):
        self.w = World()

    def interrupt(self):
        """A newer change replaces one that is not complete."""
        self.w.config = {**self.w.old, "postgresql": {"parameters": {"max_connections": "150"}}, "dbc_previous": self.w.old}

    def watch(self, rest):
        """Replaces the requests to Patroni."""
        original, self.w.rest = self.w.rest, lambda host, *request: rest(*request) or original(host, *request)

    def test_of_the_same_job(self):
        self.w.answers["orders-1"] = [(0, "")]
        self.assertEqual(self.w.configure(), NOT_YET)
        self.w.refused = {"200"}
        self.assertEqual(self.w.configure(), REFUSED)

    def test_of_a_newer_change(self):
        self.interrupt()
        self.w.refused = {"150", "200"}
        self.assertEqual(self.w.configure(), REFUSED)

    def test_of_a_newer_change_after_one_server_has_restarted(self):
        self.interrupt()
        self.w.members["orders-2"]["runs"] = "150"
        self.w.refused = {"200"}
        self.assertEqual(self.w.configure(), REFUSED)

    def test_of_a_change_that_ended_before_it_recorded_its_success(self):
        self.assertEqual(self.w.configure(), DONE)
        self.w.config = {**self.w.config, "dbc_previous": self.w.old}
        self.assertEqual(self.w.configure(), DONE)

    def test_that_another_client_replaces_before_the_job_ends(self):
        original = self.w.sleep

        def meanwhile(seconds):
            original(seconds)
            if self.w.value() == "200" and "dbc_previous" not in self.w.config:
                self.w.config = self.w.old
        self.w.sleep = meanwhile
        self.assertEqual(self.w.configure(), DONE)

    def test_the_last_change_precedes_the_end_by_seconds(self):
        changes = []
        self.watch(lambda method, path, body=None, *_: changes.append(self.w.time) if method == "PUT" and body != self.w.config else None)
        self.assertEqual(self.w.configure(), DONE)
        self.assertEqual(self.w.time - changes[-1], 6)

    def test_a_change_of_passwords_alone_stores_nothing_else(self):
        self.assertEqual(self.w.configure(), DONE)
        requests = []
        self.watch(lambda *request: requests.append(str(request)))
        self.assertEqual(self.w.configure(), DONE)
        self.assertTrue(requests)
        self.assertFalse([request for request in requests if "dbc_previous" in request])

    def test_during_a_hand_over(self):
        self.w.config = {**self.w.old, "synchronous_node_count": 2}
        self.w.refused = {"200"}
        self.assertEqual(self.w.configure(), REFUSED)
        self.assertNotIn("synchronous_node_count", self.w.config)
