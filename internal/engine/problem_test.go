/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestAnUnsupportedRequestToAnEngineIsReported(t *testing.T) {
	set := func(name, value string) func(*dbv1.DatabaseCluster, *dbv1.DatabaseEngine) {
		return func(c *dbv1.DatabaseCluster, _ *dbv1.DatabaseEngine) {
			c.Spec.Parameters = map[string]string{name: value}
		}
	}
	restore := func(c *dbv1.DatabaseCluster) {
		c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: "b"}}
	}
	members := func(replicas int32, allowed dbv1.EngineReplicas) func(*dbv1.DatabaseCluster, *dbv1.DatabaseEngine) {
		return func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
			c.Spec.Replicas, e.Spec.Replicas = replicas, allowed
		}
	}
	cases := map[string]struct {
		change  func(*dbv1.DatabaseCluster, *dbv1.DatabaseEngine)
		reason  string
		message string
	}{
		"nothing":                              {func(*dbv1.DatabaseCluster, *dbv1.DatabaseEngine) {}, "", ""},
		"a value that matches":                 {set("cache", "20kB"), "", ""},
		"one of the values":                    {set("sync", "off"), "", ""},
		"the default, not in the enum":         {set("sync", ""), "", ""},
		"as many members as the engine allows": {members(3, dbv1.EngineReplicas{Min: 3, Max: 5}), "", ""},
		"two members of a single database": {
			members(2, dbv1.EngineReplicas{Min: 1, Max: 1}), dbv1.ReasonInvalidReplicas,
			"spec.replicas is 2, but DatabaseEngine ledger-v1 runs single databases without replication: set spec.replicas to 1, or create a DatabaseCluster for each database",
		},
		"too few members": {
			members(1, dbv1.EngineReplicas{Min: 3, Max: 5}), dbv1.ReasonInvalidReplicas,
			"spec.replicas is 1, but DatabaseEngine ledger-v1 allows 3 to 5 members: set spec.replicas to a number in this range",
		},
		"an unknown parameter": {
			set("cash", "1MB"), dbv1.ReasonInvalidParameter,
			`spec.parameters sets "cash", which DatabaseEngine ledger-v1 does not offer. It offers cache, sync. Correct or remove the parameter`,
		},
		"an engine without parameters": {
			func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
				e.Spec.Parameters, e.Spec.Container.Args, c.Spec.Parameters = nil, nil, map[string]string{"cache": "1MB"}
			}, dbv1.ReasonInvalidParameter,
			`spec.parameters sets "cache", which DatabaseEngine ledger-v1 does not offer. It offers none. Correct or remove the parameter`,
		},
		"a value that matches in part": {
			set("cache", "20kBx"), dbv1.ReasonInvalidParameter, `spec.parameters[cache] is "20kBx"; it must match [0-9]+(kB|MB)`,
		},
		"a value with a second line": {
			set("cache", "20kB\nx"), dbv1.ReasonInvalidParameter, `spec.parameters[cache] is "20kB\nx"; it must match [0-9]+(kB|MB)`,
		},
		"a value of no enum": {
			set("sync", "maybe"), dbv1.ReasonInvalidParameter, `spec.parameters[sync] is "maybe"; it must be one of on, off`,
		},
		"a declaration that is wrong": {
			func(_ *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
				e.Spec.Parameters = append(e.Spec.Parameters, dbv1.EngineParameter{Name: "a-b"}, dbv1.EngineParameter{Name: "a.b"})
			}, dbv1.ReasonInvalidEngine,
			wrong + `spec.parameters has "a-b" and "a.b", which map to the same environment variable DBC_PARAM_A_B` + corrected,
		},
		"a wrong action that no cluster needs": {
			func(_ *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) { e.Spec.Actions.Backup = aScript("bakcup") }, "", "",
		},
		"a wrong action that the cluster needs": {
			func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
				c.Spec.Backup, e.Spec.Actions.Backup = &dbv1.ClusterBackup{}, aScript("bakcup")
			}, dbv1.ReasonInvalidEngine,
			wrong + `spec.actions.backup.command[0] is "/dbc/scripts/bakcup", but spec.scripts has no "bakcup"; it has backup` + corrected,
		},
		"no Secret where one is needed": {
			func(c *dbv1.DatabaseCluster, _ *dbv1.DatabaseEngine) { c.Spec.Credentials.SecretName = "" }, dbv1.ReasonSecretIncomplete,
			"spec.credentials.secretName must name a Secret with the key password, which DatabaseEngine ledger-v1 needs",
		},
		"backups of an engine without": {
			func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
				c.Spec.Backup, e.Spec.Actions.Backup = &dbv1.ClusterBackup{}, nil
			},
			dbv1.ReasonActionMissing,
			"spec.backup needs the action backup, which DatabaseEngine ledger-v1 does not have: set spec.engine to another engine, or remove the field",
		},
		"verification without a probe": {
			func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
				c.Spec.Backup, e.Spec.Actions.Probe = &dbv1.ClusterBackup{Verification: &dbv1.BackupVerificationSchedule{}}, nil
			},
			dbv1.ReasonActionMissing,
			"spec.backup.verification without a command needs the action probe, which DatabaseEngine ledger-v1 does not have: set spec.engine to another engine, or remove the field",
		},
		"verification by a command": {
			func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
				c.Spec.Backup, e.Spec.Actions.Probe = &dbv1.ClusterBackup{Verification: &dbv1.BackupVerificationSchedule{Command: []string{"x"}}}, nil
			}, "", "",
		},
		"a restore by an engine without": {
			func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) { restore(c); e.Spec.Actions.Restore = nil },
			dbv1.ReasonActionMissing,
			"spec.bootstrap.fromBackup needs the action restore, which DatabaseEngine ledger-v1 does not have: set spec.engine to another engine, or remove the field",
		},
		"a named point of an engine without": {
			func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
				restore(c)
				c.Spec.Bootstrap.FromBackup.RecoveryTarget = &dbv1.RecoveryTarget{Name: "before"}
				e.Spec.Actions.Recover = &dbv1.EngineRecovery{Command: []string{"x"}}
			}, dbv1.ReasonFieldUnsupported,
			"spec.bootstrap.fromBackup.recoveryTarget: DatabaseEngine ledger-v1 can recover to a time, but not to a named point. Correct recoveryTarget",
		},
		"a named point": {
			func(c *dbv1.DatabaseCluster, e *dbv1.DatabaseEngine) {
				restore(c)
				c.Spec.Bootstrap.FromBackup.RecoveryTarget = &dbv1.RecoveryTarget{Name: "before"}
				e.Spec.Actions.Recover = &dbv1.EngineRecovery{Command: []string{"x"}, Targets: []dbv1.EngineRecoveryTarget{dbv1.RecoverToName}}
			}, "", "",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster, declared := orders(), ledger()
			c.change(cluster, declared)
			for _, given := range []*dbv1.DatabaseCluster{cluster, Resolve(cluster, declared)} {
				if reason, message := Refusal(given, declared, false); reason != c.reason || message != c.message {
					t.Errorf("got  %s: %s\nwant %s: %s", reason, message, c.reason, c.message)
				}
			}
		})
	}
}

func TestFieldsThatNeedAnEngineAreReportedWithoutOne(t *testing.T) {
	cases := map[string]struct {
		change  func(*dbv1.DatabaseCluster)
		message string
	}{
		"nothing": {func(*dbv1.DatabaseCluster) {}, ""},
		"one that does not exist": {
			func(c *dbv1.DatabaseCluster) { c.Spec.Engine = "ledger-v9" },
			"spec.engine names DatabaseEngine ledger-v9, which does not exist: create it, or choose one from kubectl get databaseengines",
		},
		"a parameter": {
			func(c *dbv1.DatabaseCluster) { c.Spec.Parameters = map[string]string{"cache": "1MB"} },
			`spec.parameters sets "cache", but only an engine has parameters: set spec.engine, or remove the parameter`,
		},
		"backups": {
			func(c *dbv1.DatabaseCluster) { c.Spec.Backup = &dbv1.ClusterBackup{} },
			"spec.backup needs an engine with the action backup: set spec.engine to one, or remove the field",
		},
		"a final backup": {
			func(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Type: dbv1.HookBackup}} },
			"a hook of type Backup in spec.deletion.hooks needs an engine with the action backup: set spec.engine to one, or remove the field",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := orders()
			cluster.Spec.Engine = ""
			c.change(cluster)
			if _, got := Refusal(cluster, nil, false); got != c.message {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestAMissingKeyOfTheSecretIsReported(t *testing.T) {
	declared := ledger()
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for want, have := range map[string][]string{
		"": {"c", "b", "a", "d"},
		"Secret orders in spec.credentials.secretName lacks the key b, which DatabaseEngine ledger-v1 needs: add it to the Secret":       {"a", "c"},
		"Secret orders in spec.credentials.secretName lacks the keys a, c, which DatabaseEngine ledger-v1 needs: add them to the Secret": {"b"},
	} {
		if got := KeyProblem(orders(), declared, have, nil, nil, nil); got != want {
			t.Errorf("got %s", got)
		}
	}
	if got := KeyProblem(orders(), nil, nil, nil, nil, nil); got != "" {
		t.Errorf("without an engine: %s", got)
	}
}

func TestAnEmptyKeyOfTheSecretIsReported(t *testing.T) {
	declared := ledger()
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for want, empty := range map[string][]string{
		"": {"d"},
		"Secret orders in spec.credentials.secretName has no value for the key b, which DatabaseEngine ledger-v1 needs: set it in the Secret":       {"b", "d"},
		"Secret orders in spec.credentials.secretName has no value for the keys a, c, which DatabaseEngine ledger-v1 needs: set them in the Secret": {"a", "c"},
	} {
		if got := KeyProblem(orders(), declared, []string{"a", "b", "c", "d"}, empty, nil, nil); got != want {
			t.Errorf("got %s", got)
		}
	}
	if got := KeyProblem(orders(), declared, []string{"a"}, []string{"a"}, nil, nil); got != "Secret orders in spec.credentials.secretName lacks the keys b, c, which DatabaseEngine ledger-v1 needs: add them to the Secret" {
		t.Errorf("got %s", got)
	}
}

func TestAPasswordWithSeveralLinesIsReported(t *testing.T) {
	declared, generate := ledger(), &dbv1.EngineSecretValue{}
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "a", Generate: generate}, {Name: "b", Generate: generate}, {Name: "c", Generate: generate}, {Name: "file"}}
	for want, unusable := range map[string][]string{
		"": {"file", "d"},
		"Secret orders in spec.credentials.secretName has a control character, a second line or invalid UTF-8 in the key b: set it to one line of text":       {"b", "d"},
		"Secret orders in spec.credentials.secretName has a control character, a second line or invalid UTF-8 in the keys a, c: set them to one line of text": {"a", "c"},
	} {
		if got := KeyProblem(orders(), declared, []string{"a", "b", "c", "d", "file"}, nil, unusable, nil); got != want {
			t.Errorf("got %s", got)
		}
	}
}

func TestAValueThatIsTooLongIsRefused(t *testing.T) {
	declared := &dbv1.DatabaseEngine{}
	declared.Name = "ledger-v1"
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{
		{Name: "a", Generate: &dbv1.EngineSecretValue{}, MaxBytes: 72}, {Name: "b", Generate: &dbv1.EngineSecretValue{}}, {Name: "file"},
	}
	for want, sizes := range map[string]map[string]int{
		"": {"a": 72, "b": 1024, "file": 1 << 19},
		"Secret orders in spec.credentials.secretName has 73 bytes in the key a, but DatabaseEngine ledger-v1 allows 72: set a shorter value":     {"a": 73},
		"Secret orders in spec.credentials.secretName has 1025 bytes in the key b, but DatabaseEngine ledger-v1 allows 1024: set a shorter value": {"b": 1025},
	} {
		if got := KeyProblem(orders(), declared, []string{"a", "b", "file"}, nil, nil, sizes); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
