/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"testing"
)

func TestAHandOverThatIsRefusedNamesItsCause(t *testing.T) {
	const program = `
import contextlib, io, sys, types

SYNC, NONE, TLS = "switchover is not possible: can not find sync_standby", "no good candidates have been found", "server does not support SSL, but SSL was required"
PLAIN = 'no pg_hba.conf entry for host "10.0.0.1", user "postgres", database "postgres", no encryption'

def fail(code, text):
    print("%s %s" % (code, text), file=sys.stderr)
    sys.exit(code)

def hand_over(status, text, mode="", error=""):
    """Runs the script once. The primary refuses with a status and a text, and connections fail with an error."""
    def connect(host, **settings):
        if error:
            fail(11, "No connection to %s now: %s" % (host, error))
        return types.SimpleNamespace(close=lambda: None)

    sys.modules["common"] = types.SimpleNamespace(
        env={"DBC_MEMBER": "orders-0", "DBC_MEMBERS": "orders-0 orders-1", "DBC_TLS_MODE": mode}, fail=fail, name=lambda host: host, connect=connect,
        cluster=lambda: {"members": [{"name": "orders-0", "role": "leader"}, {"name": "orders-1", "role": "replica"}]}, rest=lambda *_: (status, text))
    try:
        with open("handOver", encoding="utf-8") as file:
            exec(compile(file.read(), "handOver", "exec"), {"__name__": "__main__"})
    except SystemExit:
        pass


for arguments in ((412, SYNC), (412, SYNC, "Require"), (412, SYNC, "Require", TLS), (412, SYNC, "Allow", TLS), (412, SYNC, "", PLAIN), (412, SYNC, "Require", "timeout"), (412, NONE), (401, "not authenticated"), (0, "timed out")):
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        hand_over(*arguments)
    print(said.getvalue().splitlines()[-1])`
	const none, caughtUp = "20 No member can take over from orders-0", "20 No synchronous replica has caught up with orders-0 yet (Patroni: switchover is not possible: can not find sync_standby).\n"
	const tls = none + ", because spec.tls was added or removed. Set spec.tls.mode to Allow first.\n"
	const want = caughtUp + caughtUp + tls + caughtUp + tls + caughtUp +
		none + " now: no good candidates have been found.\n" +
		"20 orders-0 does not have the new password of Patroni yet. Members apply a changed Secret within two minutes.\n" +
		none + " now: timed out.\n"
	if got := python(t, "2", nil, program); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
