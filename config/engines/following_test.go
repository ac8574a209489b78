/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"testing"
)

// A replica that copies its data again loses what it has. So every doubt keeps it as it is.
func TestAReplicaCopiesThePrimaryAgainOnlyIfItCannotFollowAndAnotherOneDoes(t *testing.T) {
	const program = `
import json, types, following

class World:
    position, waits, removed, others, said, calls = 100, [()], True, 1, [], []
    role, lag, state, pause, answers = "leader", 50, "streaming", False, True

def rest(host, method, path, body=None, timeout=5):
    if path == "reinitialize":
        w.calls.append(path)
        return 200, "reinitialize started"
    if not w.answers:
        return 0, ""
    if path == "patroni":
        return 200, json.dumps({"xlog": {"received_location": w.position, "replayed_location": 1} if w.position else {"location": 9}})
    members = [{"name": "orders-0", "role": w.role, "state": "running"}, {"name": "orders-1", "role": "replica", "state": "running", "lag": w.lag},
               {"name": "orders-2", "role": "replica", "state": w.state, "lag": 0}]
    return 200, json.dumps({"members": members, "pause": w.pause})

def query(connection, statement, *values):
    return w.waits if statement == following.WAITS else [(w.removed, w.others)]

def connect(host):
    assert host == "orders-0.orders-headless", host
    return types.SimpleNamespace(close=lambda: None)

following.rest, following.query, following.connect = rest, query, connect
following.env["DBC_PORT"] = "5432"

def minutes(change=None, looks=25):
    """Looks for two minutes, and returns whether the replica is ready, and how often it copies the data again."""
    global w
    w = World()
    w.calls = []
    member = following.Following("orders-1")
    for n in range(looks):
        if change:
            change(n)
        member.look()
    return "%s %d" % ("stuck" if member.stuck else "ready", len(w.calls))

def change(**values):
    return lambda n: [setattr(w, key, value(n) if callable(value) else value) for key, value in values.items()]

for what, result in (
    ("removed", minutes()), ("within a minute", minutes(looks=12)), ("no other", minutes(change(others=0))),
    ("not removed", minutes(change(removed=False))), ("a conflict", minutes(change(waits=[]))),
    ("progress", minutes(change(position=lambda n: 100 + n // 10))), ("no lag", minutes(change(lag=0))), ("unknown lag", minutes(change(lag="unknown"))),
    ("lag at times", minutes(change(lag=lambda n: n % 10))), ("a primary", minutes(change(position=0))), ("no leader", minutes(change(role="replica"))),
    ("paused", minutes(change(pause=True))), ("Patroni is silent", minutes(change(answers=False))), ("silent at times", minutes(change(answers=lambda n: n % 10))),
    ("another copies", minutes(change(state="creating replica"))), ("it follows again", minutes(change(position=lambda n: 100 + (n > 20)))),
): print("%s: %s" % (what, result))`
	const want = `removed: stuck 2
within a minute: ready 0
no other: stuck 0
not removed: stuck 0
a conflict: stuck 0
progress: ready 0
no lag: ready 0
unknown lag: ready 0
lag at times: ready 0
a primary: ready 0
no leader: ready 0
paused: ready 0
Patroni is silent: ready 0
silent at times: ready 0
another copies: stuck 0
it follows again: ready 1
`
	if got := python(t, "3", nil, "import sys\nsys.stderr = open('/dev/null', 'w')\n"+program); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
