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
    return (w[path], '{"state": "starting"}') if path == "readiness" else (200, json.dumps(w[path]))

following.rest = rest
following.Server.problem = lambda server: ""

def answers(first, *, mode=True, roles=("leader", "replica", "replica"), after=None, **values):
    """Returns the answers of a new member: in a world, and after a change."""
    global w
    said = []
    member = following.Following(first)
    w = {"readiness": 200, "config": {"synchronous_mode": mode}, "cluster": {"members": [{"name": "orders-%d" % n, "role": r} for n, r in enumerate(roles)]}}
    w = {path: value for path, value in {**w, **values}.items() if value}
    said.append(member.answer())
    if after:
        w.update(after)
        said.append(member.answer())
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
	const want = `the primary: ready
no standby: no replica can take over without a loss yet, then ready
not synchronous: ready
another standby: ready, then ready
itself: ready
no primary: ready
paused: ready
PostgreSQL starts: Patroni reports that it is not ready, in the state: starting
Patroni is silent: Patroni reports that it is not ready, in the state: unknown
no configuration: no replica can take over without a loss yet
silent later: ready, then Patroni reports that it is not ready, in the state: starting
`
	if got := python(t, "3", nil, program); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// Patroni answers 200 on /readiness and /primary while the server of a full volume ends in each attempt to start.
func TestAMemberIsReadyOnlyWhileItsServerAnswersAndTakesWrites(t *testing.T) {
	const program = `
import os, types, psycopg2, following

class Refused(Exception):
    pass

psycopg2.Error = Refused
following.env["DBC_PORT"] = "5432"
following.rest = lambda host, method, path, body=None, timeout=5: (200, '{"state": "running"}')
following.succession = lambda name: True
psycopg2.connect = lambda **settings: types.SimpleNamespace()
now = 0
following.time.monotonic = lambda: now

def query(connection, statement, *values):
    if isinstance(w["state"], str):
        raise Refused(w["state"])
    return [w["state"]]

following.query = query
following.os.statvfs = lambda path: types.SimpleNamespace(f_bavail=w["free"], f_frsize=1 << 20, f_blocks=700, f_favail=1, f_files=2)

def answers(state, free=100, later=0, patroni=200):
    global w, now
    w, now = {"state": state, "free": free}, 0
    following.rest = lambda host, method, path, body=None, timeout=5: (patroni, '{"state": "creating replica"}')
    member = following.Following("orders-0")
    said = member.answer()
    now = later
    return said if not later else said + ", then " + member.answer()

primary, replica, waits = (False, False, []), (True, False, []), (False, True, [])
starts = 'connection to server on socket "/run/postgresql/.s.PGSQL.5432" failed: FATAL:  the database system is not yet accepting connections'
for what, result in (
    ("a primary", answers(primary)), ("a replica", answers(replica)), ("it ends again and again", answers(starts)),
    ("a full volume without a server", answers(starts, free=3)), ("a full primary", answers(primary, free=3)), ("a full replica", answers(replica, free=3)),
    ("commits wait", answers(waits, later=20)), ("commits wait for long", answers(waits, later=31)),
    ("too many clients", answers("FATAL:  sorry, too many clients already")), ("it copies", answers(starts, patroni=503)),
): print("%s: %s" % (what, result))`
	const want = `a primary: ready
a replica: ready
it ends again and again: the server does not answer: connection to server on socket "/run/postgresql/.s.PGSQL.5432" failed: FATAL:  the database system is not yet accepting connections
a full volume without a server: no writes: the data volume of 700 MiB is full. Raise spec.storage.size.
a full primary: no writes: the data volume of 700 MiB is full. Raise spec.storage.size.
a full replica: the data volume of 700 MiB is full. Raise spec.storage.size.
commits wait: ready, then ready
commits wait for long: ready, then no writes: commits wait for a replica, and none streams. Repair one, or set spec.parameters[synchronous] to on.
too many clients: ready
it copies: Patroni reports that it is not ready, in the state: creating replica
`
	if got := python(t, "3", nil, program); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
