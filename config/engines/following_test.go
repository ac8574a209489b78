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

// Ready members promise that the primary can fail. With synchronous replication no replica takes over before the primary waits for one.
func TestANewReplicaIsReadyWhenAReplicaCanTakeOver(t *testing.T) {
	const program = `
import json, following

def rest(host, method, path, body=None, timeout=5):
    if path not in w:
        return 0, ""
    return (w[path], "") if path == "readiness" else (200, json.dumps(w[path]))

following.rest = rest

def answers(first, *, mode=True, roles=("leader", "replica", "replica"), after=None, **values):
    """Returns the answers of a new member: in a world, and after a change."""
    global w
    said = []
    member = following.Following(first)
    w = {"readiness": 200, "config": {"synchronous_mode": mode}, "cluster": {"members": [{"name": "orders-%d" % n, "role": r} for n, r in enumerate(roles)]}}
    w = {path: value for path, value in {**w, **values}.items() if value}
    said.append(member.ready())
    if after:
        w.update(after)
        said.append(member.ready())
    return said

chosen = {"members": [{"name": "orders-0", "role": "leader"}, {"name": "orders-2", "role": "sync_standby"}]}
lost = {"members": [{"name": "orders-0", "role": "leader"}, {"name": "orders-2", "role": "replica"}]}
for what, result in (
    ("the primary", answers("orders-0")), ("no standby", answers("orders-1", after={"cluster": chosen})), ("not synchronous", answers("orders-1", mode=False)),
    ("another standby", answers("orders-1", cluster=chosen, after={"cluster": lost})), ("itself", answers("orders-2", cluster=chosen)),
    ("no primary", answers("orders-1", roles=("replica", "replica"))), ("paused", answers("orders-1", cluster={**lost, "pause": True})),
    ("PostgreSQL starts", answers("orders-1", cluster=chosen, readiness=503)), ("Patroni is silent", answers("orders-1", readiness=None)),
    ("no configuration", answers("orders-1", config=None)), ("silent later", answers("orders-1", cluster=chosen, after={"config": {}, "readiness": 503})),
): print("%s: %s" % (what, *result) if len(result) == 1 else "%s: %s, then %s" % (what, *result))`
	const want = `the primary: 200
no standby: 503, then 200
not synchronous: 200
another standby: 200, then 200
itself: 200
no primary: 200
paused: 200
PostgreSQL starts: 503
Patroni is silent: 503
no configuration: 503
silent later: 200, then 503
`
	if got := python(t, "3", nil, program); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
