import contextlib
import sys
import types
import unittest
import unittest.mock

import container
import common

SYNC, NONE, TLS = "switchover is not possible: can not find sync_standby", "no good candidates have been found", "server does not support SSL, but SSL was required"
PLAIN = 'no pg_hba.conf entry for host "10.0.0.1", user "postgres", database "postgres", no encryption'


EVENTS = []


@contextlib.contextmanager
def paused(host):
    EVENTS.append("pause for " + host)
    try:
        yield
    finally:
        EVENTS.append("resume")


def hand_over(status, text, mode="", error=""):
    """Runs the script. The primary refuses with a status and a text, and connections fail with an error. Returns the exit code and reason."""
    def connect(host, **settings):
        if error:
            common.fail(11, "No connection to %s now: %s" % (host, error))
        return types.SimpleNamespace(close=lambda: None)

    patroni = types.SimpleNamespace(
        env={"DBC_MEMBER": "orders-0", "DBC_MEMBERS": "orders-0 orders-1", "DBC_TLS_MODE": mode}, fail=common.fail, name=common.name, connect=connect,
        cluster=lambda: {"members": [{"name": "orders-0", "role": "leader"}, {"name": "orders-1", "role": "replica"}]}, rest=lambda *_: (status, text))
    with unittest.mock.patch.dict(sys.modules, common=patroni, pausing=types.SimpleNamespace(paused=paused)):
        code, said = container.run("handOver")
    return code, said.splitlines()[-1]


def candidates(targets, roles):
    """Runs the script with a primary that refuses everything. Returns the members for which it asks."""
    asked = []

    def rest(host, method, path, body=None, *_):
        if path == "switchover":
            asked.append(body.get("candidate", "any"))
        return 412, NONE

    members = [{"name": "orders-%d" % i, "role": role} for i, role in enumerate(roles)]
    patroni = types.SimpleNamespace(
        env={"DBC_MEMBER": "orders-0", "DBC_MEMBERS": "orders-0", "DBC_TARGETS": targets}, fail=common.fail, name=common.name,
        connect=lambda host, **settings: types.SimpleNamespace(close=lambda: None), cluster=lambda: {"members": members}, rest=rest)
    with unittest.mock.patch.dict(sys.modules, common=patroni, pausing=types.SimpleNamespace(paused=paused)):
        container.run("handOver")
    return asked


class HandOver(unittest.TestCase):
    def test_a_synchronous_target_comes_first_and_any_member_last(self):
        roles = ("leader", "replica", "sync_standby", "replica")
        self.assertEqual(candidates("orders-1.orders-headless orders-2.orders-headless", roles), ["orders-2", "orders-1", "any"])
        self.assertEqual(candidates("", roles), ["any"])

    def test_a_refusal_names_its_cause(self):
        none, sync = "No member can take over from orders-0", "No synchronous replica has caught up with orders-0 yet (Patroni: %s)." % SYNC
        tls = none + ", because spec.tls was added or removed. Set spec.tls.mode to Allow first."
        for arguments, want in (
            ((412, SYNC), sync), ((412, SYNC, "Require"), sync), ((412, SYNC, "Require", TLS), tls), ((412, SYNC, "Allow", TLS), sync),
            ((412, SYNC, "", PLAIN), tls), ((412, SYNC, "Require", "timeout"), sync), ((412, NONE), none + " now: %s." % NONE),
            ((401, "not authenticated"), "orders-0 does not have the new password of Patroni yet. Members apply a changed Secret within two minutes."),
            ((0, "timed out"), none + " now: timed out."),
        ):
            with self.subTest(arguments=arguments):
                self.assertEqual(hand_over(*arguments), (20, want))

    def test_poolers_are_resumed_after_a_refusal(self):
        EVENTS.clear()
        self.assertEqual(hand_over(412, SYNC)[0], 20)
        self.assertEqual(EVENTS, ["pause for orders-0", "resume"])
