import socket
import threading
import types
import unittest
import unittest.mock

import container
import pausing


class Console:
    """The consoles of poolers: which databases they have, and how they answer."""

    def __init__(self, **poolers):
        self.poolers, self.said, self.paused, self.connected = poolers, [], set(), []
        self.released, self.looked, self.resumed = threading.Event(), threading.Event(), threading.Event()

    def connect(self, address):
        self.connected.append(address)
        if self.poolers[address] == "silent":
            self.released.wait(10)
        if self.poolers[address] in ("refuses", "silent"):
            raise container.OperationalError("no route to host")
        return types.SimpleNamespace(address=address, close=lambda: None)

    def query(self, connection, command):
        address, behavior = connection.address, self.poolers[connection.address]
        if command == "SHOW DATABASES":
            return [("pgbouncer", "x"), ("dbc_replicas" if behavior == "replicas" else "dbc_primary", "orders.shop.svc")]
        if command == "SHOW STATE":
            state = "yes" if address in self.paused or behavior == "stops" else "no"
            self.looked.set()
            return [("active", "no"), ("paused", state), ("suspended", "no")]
        if command == "PAUSE" and behavior == "stops":
            error = container.OperationalError("already suspended/paused")
            error.pgcode = "08P01"
            raise error
        if command == "PAUSE" and behavior == "slow":  # the command arrives after the other thread has given up
            self.looked.wait(10)
        self.said.append("%s %s" % (command, address))
        (self.paused.add if command == "PAUSE" else self.paused.discard)(address)
        if command == "PAUSE" and behavior == "busy":
            self.released.wait(10)
        if command == "RESUME":
            self.resumed.set()
        return []


def around(console, work, reaches=True, companions="orders-companions.shop.svc"):
    """Runs work while the poolers are paused. Returns the exit code, and the text for the log."""
    found = [(0, 0, 0, "", (address, 5432)) for address in console.poolers]
    answers = {"getaddrinfo": unittest.mock.Mock(side_effect=None if found else OSError("unknown name"), return_value=found)}
    names, before = {"DBC_COMPANIONS_HOST": companions} if companions else {}, set(threading.enumerate())
    with container.environment(DBC_CLUSTER="orders", DBC_NAMESPACE="shop", **names), unittest.mock.patch.multiple(
            pausing, TRANSACTIONS=0.3, WORK=1, SEEN=0.1, ANSWER=0.3, checkpoint=lambda _: console.said.append("CHECKPOINT"), reached=lambda _: reaches,
            socket=types.SimpleNamespace(SOCK_STREAM=socket.SOCK_STREAM, **answers), console=console.connect, query=console.query):
        def body():
            with pausing.paused("orders-0"):
                work()
        result = container.run(body)
        if "slow" in console.poolers.values():
            console.resumed.wait(10)
        console.released.set()
        for thread in set(threading.enumerate()) - before:  # so that none asks the console of another test
            thread.join(10)
    return result


class Paused(unittest.TestCase):
    def test_the_poolers_of_the_primary_wait_and_those_of_replicas_do_not(self):
        console = Console(a="primary", b="replicas", c="primary")
        around(console, lambda: console.said.append("work"))
        self.assertEqual((sorted(console.said[1:3]), console.said[0], console.said[3], sorted(console.said[4:])),
                         (["PAUSE a", "PAUSE c"], "CHECKPOINT", "work", ["RESUME a", "RESUME c"]))

    def test_without_poolers_only_the_work_is_done(self):
        console = Console()
        self.assertEqual(around(console, lambda: console.said.append("work")), (0, ""))
        self.assertEqual(console.said, ["work"])

    def test_poolers_are_resumed_when_the_work_fails(self):
        def work():
            raise SystemExit(20)
        console = Console(a="primary")
        self.assertEqual(around(console, work)[0], 20)
        self.assertEqual(console.said, ["CHECKPOINT", "PAUSE a", "RESUME a"])

    def test_a_pooler_that_cannot_pause_is_resumed_before_the_work(self):
        console = Console(a="primary", b="busy", c="replicas")
        code, text = around(console, lambda: console.said.append("work"))
        self.assertEqual((code, sorted(console.said[1:3]), console.said[3:]), (0, ["PAUSE a", "PAUSE b"], ["RESUME b", "work", "RESUME a"]))
        self.assertIn("The pooler b is not paused: its transactions did not end", text)
        self.assertIn("Paused 1 of 2 poolers.", text)

    def test_a_pooler_that_pauses_after_it_was_given_up_is_resumed(self):
        console = Console(a="slow")
        around(console, lambda: console.said.append("work"))
        console.said.remove("work")  # it may come first
        self.assertEqual((console.said, console.paused), (["CHECKPOINT", "PAUSE a", "RESUME a"], set()))

    # A RESUME would cancel its shutdown, or the pause of another client.
    def test_a_pooler_that_refuses_to_pause_is_not_resumed(self):
        console = Console(a="stops", b="primary")
        _, text = around(console, lambda: console.said.append("work"))
        self.assertEqual(console.said, ["CHECKPOINT", "PAUSE b", "work", "RESUME b"])
        self.assertIn("The pooler a is not paused: already suspended/paused.", text)

    def test_a_pooler_that_does_not_answer_delays_nothing_for_long(self):
        for behavior, why in (("silent", "it did not answer in time"), ("refuses", "no route to host")):
            with self.subTest(behavior=behavior):
                console = Console(a=behavior)
                _, text = around(console, lambda console=console: console.said.append("work"))
                self.assertEqual((console.said, console.connected), (["CHECKPOINT", "work"], ["a"]))
                self.assertIn("The pooler a is not paused: %s.\nPaused 0 of 1 poolers.\n" % why, text)

    # The operator names no Service of another owner.
    def test_an_action_without_the_name_of_the_poolers_connects_to_none(self):
        console = Console(a="primary")
        around(console, lambda: console.said.append("work"), companions="")
        self.assertEqual((console.said, console.connected), (["work"], []))

    def test_no_server_can_ask_for_the_password_of_the_poolers_itself(self):
        with container.environment(), unittest.mock.patch.multiple(pausing, secrets=lambda _: ["secret"]), unittest.mock.patch.object(
                pausing.psycopg2, "connect") as connect:
            pausing.console("a")
            self.assertEqual(connect.call_args.kwargs["require_auth"], "scram-sha-256")

    def test_the_pause_ends_before_work_that_takes_too_long(self):
        console = Console(a="primary")
        around(console, lambda: console.said.append("work" if console.resumed.wait(10) else "never resumed"))
        self.assertEqual(console.said[:4], ["CHECKPOINT", "PAUSE a", "RESUME a", "work"])

    # The bounds of a Job together are less than the pause that a pooler allows.
    def test_a_job_resumes_before_the_pooler_does(self):
        with open(container.SCRIPTS + "/pgbouncer", encoding="utf-8") as file:
            longest = next(int(line.split("=")[1]) for line in file if line.startswith("LONGEST_PAUSE ="))
        self.assertLess(pausing.TRANSACTIONS + pausing.WORK + pausing.ANSWER, longest)
