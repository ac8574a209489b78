/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
)

func environment(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, found := variables[name]; return value, found }
}

func TestEveryFlagIsReadFromTheEnvironmentToo(t *testing.T) {
	s, err := Parse(nil, environment(map[string]string{
		"WATCH_NAMESPACE": "a, b", "MAX_CONCURRENT_RECONCILES": "3", "LEADER_ELECT": "true", "LEASE_DURATION": "20s",
		"METRICS_BIND_ADDRESS": ":1", "ZAP_LOG_LEVEL": "debug", "KUBECONFIG": "a:b",
		"TRANSFER_IMAGE": "localhost/operator:dev",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.namespaces(); len(got) != 2 || got[0] != "a" || got[1] != "b" {
		t.Errorf("namespaces %v", got)
	}
	if s.concurrency != 3 || !s.leaderElect || s.leaseDuration != 20*time.Second || s.metricsAddress != ":1" || s.zap.Level == nil ||
		s.transferImage != "localhost/operator:dev" {
		t.Errorf("%+v", s)
	}
}

func TestTheCommandLineWinsOverTheEnvironment(t *testing.T) {
	s, err := Parse([]string{"--max-concurrent-reconciles=5"}, environment(map[string]string{"MAX_CONCURRENT_RECONCILES": "3"}))
	if err != nil || s.concurrency != 5 {
		t.Errorf("%d, %v", s.concurrency, err)
	}
}

func TestProfilesAreServedOnlyOnLoopbackAndOnlyOnRequest(t *testing.T) {
	for address, want := range map[string]string{"": "0", "127.0.0.1:6060": "127.0.0.1:6060", "[::1]:6060": "[::1]:6060", "0": "0"} {
		var args []string
		if address != "" {
			args = []string{"--pprof-bind-address=" + address}
		}
		s, err := Parse(args, environment(nil))
		if err != nil || s.options(runtime.NewScheme()).PprofBindAddress != want {
			t.Errorf("%q: %q, %v", address, s.options(runtime.NewScheme()).PprofBindAddress, err)
		}
	}
}

func TestInvalidSettingsAreRejectedByName(t *testing.T) {
	cases := map[string]struct {
		args      []string
		variables map[string]string
		want      string
	}{
		"a variable that does not parse": {nil, map[string]string{"LEASE_DURATION": "soon"}, `environment variable LEASE_DURATION is "soon", which is not valid for --lease-duration`},
		"an argument":                    {[]string{"start"}, nil, `unexpected argument "start"`},
		"no workers":                     {[]string{"--max-concurrent-reconciles=0"}, nil, "--max-concurrent-reconciles is 0: it must be at least 1"},
		"a lease shorter than its renewal": {
			[]string{"--lease-duration=1s"}, nil, "--lease-duration (1s) must be longer than --lease-renew-deadline (4s)",
		},
		"an image that cannot be":    {[]string{"--transfer-image=a b"}, nil, `--transfer-image is "a b": an image name must not contain white space`},
		"profiles for everybody":     {[]string{"--pprof-bind-address=:6060"}, nil, `--pprof-bind-address is ":6060": it must be an address on loopback`},
		"profiles for the network":   {nil, map[string]string{"PPROF_BIND_ADDRESS": "192.0.2.1:6060"}, `--pprof-bind-address is "192.0.2.1:6060": it must be an address on loopback`},
		"a namespace that cannot be": {[]string{"--watch-namespace=A"}, nil, `--watch-namespace names "A", which is not a valid namespace`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse(c.args, environment(c.variables)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestWithoutOLMNoUpgradeableConditionIsNeeded(t *testing.T) {
	t.Setenv(operatorConditionName, "")
	// A nil manager: the function must return before it touches it.
	if err := declareUpgradeable(nil, (&Settings{}).Logger()); err != nil {
		t.Error(err)
	}
}

func TestNoLevelLogsTheBodiesOfRequests(t *testing.T) {
	for level, logs := range map[string]bool{"info": false, "1": false, "7": true, "9": true, "127": true} {
		settings, err := Parse([]string{"--zap-log-level=" + level}, func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		log := settings.Logger()
		if log.V(7).Enabled() != logs || log.V(8).Enabled() || log.V(9).Enabled() {
			t.Errorf("--zap-log-level=%s: level 7 is %v, 8 is %v, 9 is %v", level, log.V(7).Enabled(), log.V(8).Enabled(), log.V(9).Enabled())
		}
	}
}
