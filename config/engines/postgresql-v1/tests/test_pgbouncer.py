import importlib.machinery
import importlib.util
import os
import re
import tempfile
import threading
import unittest
import unittest.mock

import container

LOADER = importlib.machinery.SourceFileLoader("pooler", container.SCRIPTS + "/pgbouncer")
pooler = importlib.util.module_from_spec(importlib.util.spec_from_loader("pooler", LOADER))
LOADER.exec_module(pooler)

NAMES = ("pool_mode", "target", "default_pool_size", "reserve_pool_size", "max_db_connections", "max_client_conn", "max_prepared_statements",
         "query_wait_timeout", "idle_transaction_timeout", "server_idle_timeout", "server_lifetime", "ignore_startup_parameters")


def settings(tls="Off", **parameters):
    """Returns the configuration as a dictionary."""
    variables = {"DBC_PARAM_" + name.upper(): parameters.get(name, "1") for name in NAMES}
    with container.environment(DBC_TLS=tls, DBC_HOST="orders.shop.svc", DBC_REPLICAS_HOST="orders-replicas.shop.svc", DBC_LISTEN_PORT="5432",
                               **variables):
        return dict(line.split(" = ", 1) for line in pooler.configuration().splitlines() if " = " in line)


class Configuration(unittest.TestCase):
    def test_the_target_decides_which_service_is_used_and_which_poolers_wait(self):
        for target, host, database in (("primary", "orders.shop.svc", "dbc_primary"), ("replicas", "orders-replicas.shop.svc", "dbc_replicas")):
            with self.subTest(target=target):
                found = settings(target=target)
                self.assertEqual(found["*"], "host=%s port=5432" % host)
                self.assertEqual((found["auth_dbname"], found[database]), (database, "host=%s port=5432 dbname=postgres pool_size=1" % host))

    def test_tls_is_on_both_sides_and_servers_are_verified_if_it_is_required(self):
        for mode, client, server in (("Off", "disable", "disable"), ("Allow", "allow", "prefer"), ("Require", "require", "verify-full")):
            with self.subTest(mode=mode):
                found = settings(mode, target="primary")
                self.assertEqual((found["client_tls_sslmode"], found["server_tls_sslmode"]), (client, server))
                self.assertEqual("client_tls_key_file" in found, mode != "Off")

    def test_a_password_can_have_quotes(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(pooler, "FOLDER", folder):
            pooler.write_users('a"b')
            with open(os.path.join(folder, "userlist.txt"), encoding="utf-8") as file:
                self.assertEqual(file.read(), '"dbc_pooler" "a""b"\n')


class Pause(unittest.TestCase):
    """A server is (time of its start, whether it takes writes); None does not answer."""

    def observe(self, *steps):
        """Runs through (second, paused, server). Returns the seconds in which it ended the pause."""
        now, ends = [0, None], []

        def look():
            if now[1] is None:
                raise OSError("refused")
            return now[1]
        pause = pooler.Pause(look, lambda: ends.append(now[0]), lambda: now[0])
        for second, paused, server in steps:
            now[:] = second, server
            container.run(pause.observe, paused)
        return ends

    def test_it_ends_when_another_server_takes_writes(self):
        old, replica, new = ("1", True), ("2", False), ("2", True)
        self.assertEqual(self.observe((1, False, old), (2, True, old), (3, True, old), (4, True, None), (5, True, replica), (6, True, new)), [6])

    def test_it_ends_when_the_server_has_restarted(self):
        self.assertEqual(self.observe((1, True, ("1", True)), (2, True, None), (3, True, ("9", True))), [3])

    def test_it_lasts_while_the_server_is_the_same(self):
        self.assertEqual(self.observe(*((second, True, ("1", True)) for second in range(30))), [])

    def test_it_ends_after_a_bound_in_any_case(self):
        for server in (("1", True), ("2", False), None):
            with self.subTest(server=server):
                self.assertEqual(self.observe(*((second, True, server) for second in range(32))), [31])

    def test_the_next_pause_has_its_own_time(self):
        steps = [(second, True, None) for second in range(20)] + [(20, False, None)] + [(second, True, None) for second in range(21, 45)]
        self.assertEqual(self.observe(*steps), [])

    # A server that is down at the beginning of the pause is compared with the one before.
    def test_it_ends_if_the_server_changed_before_it_was_asked(self):
        pause = pooler.Pause(lambda: ("2", True), lambda: ended.append(1), lambda: 0)
        ended, pause.known = [], "1"
        pause.look = unittest.mock.Mock(side_effect=[OSError("refused"), ("2", True)])
        container.run(pause.observe, True)
        container.run(pause.observe, True)
        self.assertEqual(ended, [1])


class Stop(unittest.TestCase):
    # PgBouncer reports that it is paused while it shuts down. RESUME would cancel that.
    def test_a_pause_ends_until_pgbouncer_shuts_down(self):
        for stopping, observed in ((None, 1), ((0, 0), 1), ((0, 1), 0), ((0, 2), 0)):
            with self.subTest(stopping=stopping), container.environment(DBC_PARAM_TARGET="primary"):
                found = pooler.Pooler()
                found.stopping, found.pause, found.console = stopping, unittest.mock.Mock(), unittest.mock.Mock()
                found.console.paused.return_value = True
                found.observe()
                self.assertEqual(found.pause.observe.call_count, observed)


class Limit(unittest.TestCase):
    """The role of poolers can have a connection for logins and one that looks at the server, in each pod of the largest companion."""

    def test_each_pod_of_a_companion_finds_a_connection(self):
        pods = int(self.find(r"\n              replicas:(?:\n                .*)*?\n                maximum: ([0-9]+)",
                             container.FOLDER + "/../../crd/bases/database.dbcluster.io_databasecompanions.yaml"))
        limit = int(self.find("CONNECTION LIMIT ([0-9]+)", container.SCRIPTS + "/pooler.sql"))
        self.assertEqual(limit, int(self.find("rolconnlimit <> ([0-9]+)", container.SCRIPTS + "/pooler.sql")))
        logins = int(re.search("pool_size=([0-9]+)", settings(target="primary")["dbc_primary"])[1])
        self.assertGreaterEqual(limit, (pods + 1) * (logins + 1) + 1)  # a rollout has one pod more, and a Job looks at the server, too

    def find(self, pattern, path):
        with open(path, encoding="utf-8") as file:
            return re.search(pattern, file.read())[1]


class Bound(unittest.TestCase):
    def test_it_passes_on_what_a_function_returns_and_how_it_fails(self):
        self.assertEqual(pooler.Bounded(lambda: ("1", True), 5)(), ("1", True))
        with self.assertRaisesRegex(OSError, "refused"):
            pooler.Bounded(unittest.mock.Mock(side_effect=OSError("refused")), 5)()

    def test_a_name_that_is_not_resolved_stops_nothing(self):
        resolved = threading.Event()
        bounded = pooler.Bounded(lambda: resolved.wait(10), 0.05)
        for text in ("no answer in 0.05 seconds", "not resolved"):
            with self.assertRaisesRegex(OSError, text):
                bounded()
        resolved.set()
        bounded.thread.join()
        self.assertTrue(bounded())


class Probe(unittest.TestCase):
    def test_a_pooler_stays_ready_while_its_database_is_down(self):
        found = pooler.Pooler()
        self.assertTrue(found.answer().startswith("alive: "))
        with unittest.mock.patch.object(found, "server", return_value=("1", True)):
            found.look()
        self.assertEqual(found.answer(), "ready")
        with unittest.mock.patch.object(found, "server", side_effect=OSError("refused")):
            container.run(found.look)
        self.assertEqual(found.answer(), "ready")

    def test_it_is_dead_when_pgbouncer_does_not_answer(self):
        found = pooler.Pooler()
        found.answered -= pooler.SILENCE + 1
        self.assertTrue(found.answer().startswith("dead: "))


if __name__ == "__main__":
    unittest.main()
