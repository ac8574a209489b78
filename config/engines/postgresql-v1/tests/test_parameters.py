import json
import subprocess
import types
import unittest
import unittest.mock

import container
import parameters


def patroni(replicas, given):
    """Returns Patroni's dynamic configuration of a cluster with these parameters, or why it is refused."""
    def configuration():
        configured.update(parameters.dynamic())
        parameters.check(configured["postgresql"]["parameters"])

    configured, accepts = {}, types.SimpleNamespace(returncode=0, stderr="")
    with container.environment(replicas, given), unittest.mock.patch.object(subprocess, "run", return_value=accepts):
        code, text = container.run(configuration)
    return text if code else json.dumps(configured)


class Parameters(unittest.TestCase):
    def test_three_members_replicate_synchronously_unless_the_user_decides(self):
        off, on, strict = (False, False), (True, False), (True, True)
        for replicas, value, want in ((1, "", off), (2, "", off), (3, "", on), (5, "", on), (3, "off", off), (2, "on", on), (2, "strict", strict)):
            with self.subTest(replicas=replicas, synchronous=value):
                got = json.loads(patroni(replicas, {"synchronous": value}))
                self.assertEqual((got["synchronous_mode"], got["synchronous_mode_strict"]), want)

    def test_one_member_refuses_to_wait_for_a_replica(self):
        self.assertIn("spec.parameters[synchronous]: strict waits for a replica, but spec.replicas is 1", patroni(1, {"synchronous": "strict"}))

    def test_the_copy_of_a_verification_waits_for_a_replica(self):
        with container.environment(1, {"synchronous": "strict"}, DBC_MEMBERS="localhost"):
            self.assertIs(parameters.dynamic()["synchronous_mode_strict"], True)

    def test_members_keep_a_slot_for_an_archive_but_a_copy_does_not(self):
        for archive, members, slots in (("true", "ledger-0", {"dbc_archive": {"type": "physical"}}), ("", "ledger-0", None), ("true", "localhost", None)):
            with self.subTest(archive=archive, members=members), container.environment(1, {}, DBC_ARCHIVE=archive, DBC_MEMBERS=members):
                self.assertEqual(parameters.dynamic().get("slots"), slots)

    def test_an_archive_is_no_replica_and_shares_its_slot_with_none(self):
        for given, want in (({"synchronous": "strict"}, "a commit would wait for the archive"),
                            ({"slots": "dbc_archive:app:pgoutput", "wal_level": "logical"}, "dbc_archive is the slot of the archive")):
            with self.subTest(given=given), container.environment(3, given, DBC_ARCHIVE="true"):
                self.assertIn(want, container.run(parameters.dynamic)[1])

    def test_parameters_that_patroni_owns_or_ignores_are_refused(self):
        for name, value, want in (
            ("random_page_cost", "1.1", '"random_page_cost": "1.1"'),
            ("wal_level", "logical", '"wal_level": "logical"'),
            ("wal_level", "minimal", "spec.parameters[wal_level]: must be replica or logical."),
            ("archive_command", "true", "spec.parameters[archive_command]: the engine sets it. Remove it."),
            ("ssl_ca_file", "x", "spec.parameters[ssl_ca_file]: the engine sets it. Remove it."),
            ("max_wal_senders", "9", "spec.parameters[max_wal_senders]: must be at least 10."),
            ("wal_keep_size", "15MB", '"wal_keep_size": "16MB"'),  # 5% of a volume below 320Mi
            ("max_wal_size", "31MB", '"max_wal_size": "32MB"'),
            ("retry_timeout", "13", "spec.parameters[ttl]: ttl must be at least loop_wait + 2 * retry_timeout."),
            ("loop_wait", "13", "spec.parameters[ttl]: ttl must be at least loop_wait + 2 * retry_timeout."),
        ):
            with self.subTest(name, value=value):
                self.assertIn(want, patroni(3, {name: value}))

    def test_a_frozen_primary_is_killed_before_another_one_is_elected(self):
        self.assertIn("ttl must be greater than loop_wait + 17", patroni(3, {"ttl": "22", "retry_timeout": "3"}))
