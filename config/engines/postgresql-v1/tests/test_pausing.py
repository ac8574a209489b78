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
        self.poolers, self.said, self.released = poolers, [], threading.Event()

    def ask(self, pooler, command):
        behavior = self.poolers[pooler.address]
        if behavior == "silent" or behavior == "busy" and command == "PAUSE":
            self.released.wait(10)
        if behavior == "refuses":
            raise container.OperationalError("no route to host")
        if command == "SHOW DATABASES":
            return [("pgbouncer", "x"), ("dbc_replicas" if behavior == "replicas" else "dbc_primary", "orders.shop.svc")]
        if command == "SHOW STATE":
            return [("active", "no"), ("paused", "yes"), ("suspended", "no")]
        self.said.append("%s %s" % (command, pooler.address))
        return []


def around(console, work, reaches=True):
    """Runs work while the poolers are paused. Returns what their consoles were told."""
    found = [(0, 0, 0, "", (address, 5432)) for address in console.poolers]
    answers = {"getaddrinfo": unittest.mock.Mock(side_effect=None if found else OSError("unknown name"), return_value=found)}
    with container.environment(DBC_CLUSTER="orders", DBC_NAMESPACE="shop"), unittest.mock.patch.multiple(
            pausing, TRANSACTIONS=0.3, WORK=1, SEEN=0.1, ANSWER=0.3, checkpoint=lambda _: console.said.append("CHECKPOINT"), reached=lambda _: reaches,
            socket=types.SimpleNamespace(SOCK_STREAM=socket.SOCK_STREAM, **answers)), unittest.mock.patch.object(
                pausing.Pooler, "ask", lambda pooler, command: console.ask(pooler, command)):
        def body():
            with pausing.paused("orders-0"):
                work()
        result = container.run(body)
    console.released.set()
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
        console = Console(a="primary", b="busy")
        code, text = around(console, lambda: console.said.append("work"))
        self.assertEqual((code, console.said), (0, ["CHECKPOINT", "PAUSE a", "RESUME b", "work", "RESUME a"]))
        self.assertIn("The pooler b is not paused", text)

    def test_a_pooler_that_does_not_answer_delays_nothing_for_long(self):
        for behavior in ("silent", "refuses"):
            with self.subTest(behavior=behavior):
                console = Console(a=behavior)
                around(console, lambda console=console: console.said.append("work"))
                self.assertEqual(console.said, ["CHECKPOINT", "work"])

    def test_the_pause_ends_before_work_that_takes_too_long(self):
        console, resumed = Console(a="primary"), threading.Event()
        ask = console.ask

        def told(pooler, command):
            answer = ask(pooler, command)
            if command == "RESUME":
                resumed.set()
            return answer
        console.ask = told
        around(console, lambda: console.said.append("work" if resumed.wait(10) else "never resumed"))
        self.assertEqual(console.said[:4], ["CHECKPOINT", "PAUSE a", "RESUME a", "work"])

    # The bounds of a Job together are less than the pause that a pooler allows.
    def test_a_job_resumes_before_the_pooler_does(self):
        with open(container.SCRIPTS + "/pgbouncer", encoding="utf-8") as file:
            longest = next(int(line.split("=")[1]) for line in file if line.startswith("LONGEST_PAUSE ="))
        self.assertLess(pausing.TRANSACTIONS + pausing.WORK + pausing.ANSWER, longest)
