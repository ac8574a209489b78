import contextlib
import types
import unittest
import unittest.mock

import container
import common


class Query(unittest.TestCase):
    # A restored database has its owner, so a query that does not find it fails when it creates it again.
    def test_it_returns_rows_without_columns(self):
        for description, found, rows in (((), [()], 1), ((), [], 0), (None, None, 0)):
            with self.subTest(description=description, found=found):
                connection = unittest.mock.MagicMock()
                cursor = connection.cursor.return_value.__enter__.return_value
                cursor.description, cursor.fetchall.return_value = description, found
                self.assertEqual(len(common.query(connection, "SELECT FROM pg_roles")), rows)


class Password(unittest.TestCase):
    # The client of Patroni sends a password in Latin-1, and its server compares it in UTF-8. With another alphabet, the client fails.
    def test_patroni_gets_it_in_ascii(self):
        for password, want in (("quote'\"\\:@#% -", "quote'\"\\:@#% -"), ("пароль", "%D0%BF%D0%B0%D1%80%D0%BE%D0%BB%D1%8C"), ("é", "%C3%A9")):
            self.assertEqual(common.rest_password(password), want)


class Verifier(unittest.TestCase):
    # A server created this one from the password "secret".
    def test_it_is_known_whether_the_server_has_a_password(self):
        of_secret = "SCRAM-SHA-256$4096:TF+rMqHtifFlEwSQXYMmyg==$3ldRKcD/6te2szIem9kLgqCuFCsfkRMvNFexllV4Fno=:O9D6Im/imUKF7tc01QWSgq1uINXfX2wTbluD2iUFR20="
        for verifier, password, want in ((of_secret, "secret", True), (of_secret, "Secret", False), (None, "secret", False), ("md5abc", "secret", False)):
            with self.subTest(verifier=verifier, password=password):
                self.assertEqual(common.verifies(verifier, password), want)


class Negotiate(unittest.TestCase):
    # Members that have not restarted since TLS was turned on have none. Only the mode Allow lets clients do without.
    def test_tls_is_given_up_only_where_the_mode_allows_it(self):
        for mode, reason, want in (("Allow", "server does not support SSL, but SSL was required", ["verify-full", "disable"]),
                                   ("Allow", "certificate verify failed", ["verify-full"]),
                                   ("Require", "server does not support SSL, but SSL was required", ["verify-full"])):
            with self.subTest(mode=mode, reason=reason):
                tried = []

                def connect(sslmode, reason=reason, tried=tried, **_):
                    tried.append(sslmode)
                    if sslmode != "disable":
                        raise container.OperationalError(reason)

                with container.environment(DBC_TLS_MODE=mode, DBC_TLS_DIR="/tls"), unittest.mock.patch.object(common.psycopg2, "connect", connect):
                    with contextlib.suppress(container.OperationalError):
                        common.negotiate("orders-0")
                self.assertEqual(tried, want)


class Restored(unittest.TestCase):
    # A table of a superuser is no reason to refuse the owner that could not read it before either.
    def test_it_is_refused_only_if_another_owner_reads_nothing(self):
        for before, owner, readable, want in (("app", "app", 0, 0), ("app", "app", 1, 0), ("seller", "app", 1, 0), ("seller", "app", 0, 30)):
            with self.subTest(before=before, owner=owner, readable=readable):
                answers = iter(([("shop", before)], [(1, readable)]))
                with container.environment(DBC_DATABASE="shop", DBC_OWNER=owner, DBC_PORT="5432"), unittest.mock.patch.multiple(
                        common, query=lambda *_: next(answers), create_database=lambda _: None, psycopg2=unittest.mock.MagicMock()):
                    code, text = container.run(lambda: common.adopt_database(unittest.mock.MagicMock()))
                self.assertEqual(code, want, text)


class Source(unittest.TestCase):
    def read(self, asked, until, failure):
        """Returns which member a backup reads, after how many seconds, and the exit code and text if it fails. DBC_MEMBER has the data of
        the primary after some seconds, or its server fails."""
        def server(host):
            return types.SimpleNamespace(info=types.SimpleNamespace(host=host))

        def connect(host):
            if failure:
                raise failure
            return server(host)

        def query(connection, statement, *values):
            if connection.info.host == "orders-0":
                return [("0/3000060", 2)]
            return [()] if clock["now"] >= until else []

        def sleep(seconds):
            clock["now"] += seconds

        clock, read = {"now": 0}, []
        time = types.SimpleNamespace(sleep=sleep, monotonic=lambda: clock["now"])
        with container.environment(DBC_MEMBER=asked), unittest.mock.patch.multiple(
                common, time=time, primary=lambda: server("orders-0"), connect=connect, query=query):
            code, text = container.run(lambda: read.append(common.source().info.host))
        return *read, clock["now"], code, text

    def test_a_backup_has_everything_that_the_primary_had_before(self):
        late = "orders-1 does not have the latest data: reading orders-0, the primary.\n"
        for asked, until, failure, want in (
            ("orders-1", 0, None, ("orders-1", 0, 0, "")),
            ("orders-1", 30, None, ("orders-1", 30, 0, "")),
            ("orders-1", 61, None, ("orders-0", 60, 0, late)),
            ("orders-0", 61, None, ("orders-0", 0, 0, "")),
            ("orders-1", 0, SystemExit(11), ("orders-0", 0, 0, late)),
            ("orders-1", 0, common.psycopg2.Error("terminated"), ("orders-0", 0, 0, "orders-1: terminated\n" + late)),
            ("orders-1", 0, SystemExit(143), (0, 143, "")),
            ("orders-1", 0, SystemExit(20), (0, 20, "")),
        ):
            with self.subTest(asked=asked, until=until, failure=failure):
                self.assertEqual(self.read(asked, until, failure), want)
