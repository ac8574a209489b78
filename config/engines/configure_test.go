/*
SPDX-License-Identifier: Apache-2.0
*/

package engines

import (
	"strings"
	"testing"
)

// fakePatroni replaces common.py by a Patroni of three members, whose time passes only in sleep. The first configuration of the database
// has max_connections 100. The script raises it to 200.
const fakePatroni = `
import json, os, subprocess, sys, tempfile, types

class World:
    def __init__(self):
        self.old = {"loop_wait": 5, "ttl": 30, "postgresql": {"parameters": {"max_connections": "100"}}}
        self.config, self.time, self.answers, self.refused, self.pause = dict(self.old), 0, {}, set(), False
        self.members = {h: {"role": "replica", "state": "running", "runs": "100"} for h in ("orders-0", "orders-1", "orders-2")}
        self.members["orders-0"]["role"] = "primary"

    def value(self):
        return self.config["postgresql"]["parameters"]["max_connections"]

    def patroni(self, host):
        member = self.members[host]
        change = {"old_value": member["runs"], "new_value": self.value()}
        pending = {"pending_restart": True, "pending_restart_reason": {"max_connections": change}} if member["runs"] != self.value() else {}
        return {"role": member["role"], "state": member["state"], **pending}

    def start(self, host):
        member = self.members[host]
        works = self.value() not in self.refused
        member["state"], member["runs"] = ("running", self.value()) if works else ("restart failed (start failed)", member["runs"])
        return works

    def restart(self, host):
        if self.answers.get(host):
            answer = self.answers[host].pop(0)
            return answer() if callable(answer) else answer
        return (200, "restarted successfully") if self.start(host) else (503, "restart failed")

    def rest(self, host, method, path, body=None, timeout=5):
        if self.members[host]["state"] == "gone":
            return 0, ""
        if (method, path) == ("GET", "patroni"):
            return 200, json.dumps(self.patroni(host))
        if (method, path) == ("GET", "config"):
            return 200, json.dumps(self.config)
        if (method, path) == ("PUT", "config"):
            self.config = body
            return 200, json.dumps(body)
        return self.restart(host)

    def sleep(self, seconds):
        self.time += seconds
        for host, member in self.members.items():
            if member["state"] in ("start failed", "restart failed (start failed)"):
                self.start(host)

w = World()

def fail(code, text):
    print(text)
    sys.exit(code)

def cluster():
    return {"pause": w.pause, "members": [{"role": "leader" if m["role"] == "primary" else "replica", "state": "streaming"} for m in w.members.values()]}

def query(connection, statement, *values):
    return [[json.dumps(w.config)]]

connection = types.SimpleNamespace(close=lambda: None)
sys.modules["common"] = types.SimpleNamespace(
    DATA="/nonexistent", env={**os.environ, "DBC_MEMBERS": " ".join(w.members)}, fail=fail, name=lambda host: host, rest=w.rest, cluster=cluster,
    connect=lambda host: connection, primary=lambda: connection, query=query, set_passwords=lambda connection: None)
sys.modules["server"] = types.SimpleNamespace(initdb=lambda *_, **__: None)
sys.modules["time"] = types.SimpleNamespace(sleep=w.sleep, monotonic=lambda: w.time)

def configure():
    """Runs the script once, and returns its exit code."""
    try:
        with open("configure", encoding="utf-8") as file:
            exec(compile(file.read(), "configure", "exec"), {"__name__": "__main__"})
        return 0
    except SystemExit as end:
        return end.code

def report(code):
    """Prints the exit code, what Patroni has stored, and what the servers run with."""
    previous = w.config.get("dbc_previous")
    runs = " ".join(m["runs"] if m["state"] == "running" else m["state"] for m in w.members.values())
    print("exit %s: stored %s" % (code, w.value()), "(previous %s)" % previous["postgresql"]["parameters"]["max_connections"] if previous else "", "- runs", runs)
`

func TestOnlyAServerThatDoesNotStartRefusesParameters(t *testing.T) {
	for name, c := range map[string]struct{ program, want string }{
		"all servers restart": {``, "exit 0: stored 200  - runs 200 200 200"},
		"a member was drained just then": {`
w.answers["orders-1"] = [(0, "")]`, "exit 11: stored 200 (previous 100) - runs 100 100 100"},
		"the answer is lost": {`
w.answers["orders-1"] = [(0, "timed out")]`, "The server of orders-1 cannot restart now: timed out"},
		"the server has restarted meanwhile": {`
w.answers["orders-1"] = [lambda: (w.start("orders-1"), (503, "restart conditions are not satisfied"))[1]]`, "exit 0: stored 200  - runs 200 200 200"},
		"another restart is in progress": {`
w.answers["orders-1"] = [(503, "restart already in progress")]`, "exit 11: stored 200 (previous 100) - runs 100 100 100"},
		"the server recovers for long": {`
w.answers["orders-1"] = [(503, "postgres is still starting")]`, "exit 11: stored 200 (previous 100) - runs 100 100 100"},
		"Patroni refuses the password": {`
w.answers["orders-1"] = [(401, "no auth header received")]`, "exit 11: stored 200 (previous 100) - runs 100 100 100"},
		"the member stops during its restart": {`
w.answers["orders-1"] = [lambda: (w.members["orders-1"].update(state="gone"), (503, "restart failed"))[1]]`,
			"The server of orders-1 does not run now. Patroni: no answer\nexit 11: stored 200 (previous 100) - runs 100 gone 100"},
		"the server does not stop": {`
w.answers["orders-1"] = [lambda: (w.members["orders-1"].update(state="restart failed (stop failed)"), (503, "restart failed"))[1]]`,
			"exit 11: stored 200 (previous 100) - runs 100 restart failed (stop failed) 100"},
		"Patroni starts the server in its next loop": {`
w.answers["orders-1"] = [lambda: (w.members["orders-1"].update(state="start failed"), (503, "restart failed"))[1]]`, "exit 0: stored 200  - runs 200 200 200"},
		"the server does not start with the parameters": {`
w.refused = {"200"}`, "The server of orders-1 does not start with spec.parameters. The previous ones apply. See its log.\nexit 30: stored 100  - runs 100 100 100"},
		"the server does not start with any parameters": {`
w.refused = {"200", "100"}`, "Still waiting for orders-1 to start with the previous parameters. See its log.\nexit 11: stored 100  - runs 100 restart failed (start failed) 100"},
		"Patroni is paused": {`
w.pause = True`, "Patroni is paused. Run patronictl resume in a member.\nexit 20: stored 100  - runs 100 100 100"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := python(t, "3", map[string]string{"max_connections": "200"}, fakePatroni+c.program+"\nreport(configure())")
			if !strings.Contains(got, c.want) {
				t.Errorf("got %swant %s", got, c.want)
			}
		})
	}
}

func TestTheConfigurationBeforeAChangeSurvivesEveryAttempt(t *testing.T) {
	const refused = "exit 30: stored 100  - runs 100 100 100"
	for name, c := range map[string]struct{ program, want string }{
		"of the same Job": {`
w.answers["orders-1"] = [(0, "")]
report(configure())
w.refused = {"200"}
report(configure())`, refused},
		"of a newer change": {`
w.config = {**w.old, "postgresql": {"parameters": {"max_connections": "150"}}, "dbc_previous": w.old}
w.refused = {"150", "200"}
report(configure())`, refused},
		"of a newer change, after one server has restarted": {`
w.config = {**w.old, "postgresql": {"parameters": {"max_connections": "150"}}, "dbc_previous": w.old}
w.members["orders-2"]["runs"] = "150"
w.refused = {"200"}
report(configure())`, refused},
		"that ended before it recorded its success": {`
report(configure())
w.config = {**w.config, "dbc_previous": w.old}
report(configure())`, "exit 0: stored 200  - runs 200 200 200\nexit 0: stored 200  - runs 200 200 200"},
		"that another client replaces before the Job ends": {`
def meanwhile(seconds):
    w.sleep(seconds)
    if w.value() == "200" and "dbc_previous" not in w.config:
        w.config = w.old
sys.modules["time"].sleep = meanwhile
report(configure())`, "exit 0: stored 200  - runs 200 200 200"},
		"that has been stored for seconds when the Job ends": {`
stored = []
sys.modules["common"].rest = lambda host, *request: request[0] == "PUT" and request[2] != w.config and stored.append(w.time) or w.rest(host, *request)
report(configure())
print("the last change precedes the end by", w.time - stored[-1], "s")`, "the last change precedes the end by 6 s"},
		"that changes only passwords": {`
report(configure())
stored = []
sys.modules["common"].rest = lambda host, *request: stored.append(str(request)) or w.rest(host, *request)
report(configure())
print("changed", sum("dbc_previous" in request for request in stored), "times")`, "exit 0: stored 200  - runs 200 200 200\nchanged 0 times"},
		"during a hand-over": {`
w.config = {**w.old, "synchronous_node_count": 2}
w.refused = {"200"}
report(configure())
print(w.config.get("synchronous_node_count"))`, refused + "\nNone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := python(t, "3", map[string]string{"max_connections": "200"}, fakePatroni+c.program)
			if !strings.Contains(got, c.want) {
				t.Errorf("got %swant %s", got, c.want)
			}
		})
	}
}
