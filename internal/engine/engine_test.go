/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func probe(path string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{path}}}}
}

// ledger is an engine that sets every field.
func ledger() *dbv1.DatabaseEngine {
	user, grace := int64(999), int64(300)
	e := &dbv1.DatabaseEngine{}
	e.Name = "ledger-v1"
	e.Spec = dbv1.DatabaseEngineSpec{
		Topology: dbv1.TopologyIndependent,
		Container: dbv1.EngineContainer{
			Command: []string{"ledgerd"}, Args: []string{"--cache=$(DBC_PARAM_CACHE)"},
			Env:  []dbv1.EngineVariable{{Name: "HOME", Value: "$(DBC_DATA_DIR)/home"}, {Name: "MODE", Value: "safe"}},
			Port: 7000, DataPath: "/ledger", RunAsUser: &user, TerminationGracePeriodSeconds: &grace,
			MemberProbes: dbv1.MemberProbes{StartupProbe: probe("started"), ReadinessProbe: probe("ready")},
		},
		Scripts: map[string]dbv1.EngineScript{"backup": "#!/bin/sh\n"},
		Parameters: []dbv1.EngineParameter{
			{Name: "cache", Default: "1MB", Pattern: "[0-9]+(kB|MB)"},
			{Name: "sync", Default: "", Enum: []string{"on", "off"}},
		},
		SecretKeys: []dbv1.EngineSecretKey{{Name: "password"}},
		Actions: dbv1.EngineActions{
			Backup:  &dbv1.EngineAction{Command: []string{"/dbc/scripts/backup"}},
			Restore: &dbv1.EngineAction{Command: []string{"ledger", "restore"}},
			Probe:   &dbv1.EngineAction{Command: []string{"ledger", "probe"}},
		},
	}
	return e
}

func orders() *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{Spec: dbv1.DatabaseClusterSpec{Replicas: 1}}
	c.Name, c.Spec.Engine, c.Spec.Credentials.SecretName = "orders", "ledger-v1", "orders"
	return c
}

// variables returns the environment as NAME=value.
func variables(cluster *dbv1.DatabaseCluster) string {
	var all []string
	for _, v := range cluster.Spec.Container.Env {
		all = append(all, v.Name+"="+v.Value)
	}
	return strings.Join(all, " ")
}

func TestAClusterGetsItsUnsetFieldsFromItsEngine(t *testing.T) {
	spec := Resolve(orders(), ledger()).Spec
	switch {
	case spec.Container.Port != 7000, spec.Container.DataPath != "/ledger", *spec.Pod.TerminationGracePeriodSeconds != 300:
		t.Errorf("port %d, data path %s, grace %d", spec.Container.Port, spec.Container.DataPath, *spec.Pod.TerminationGracePeriodSeconds)
	case *spec.Pod.SecurityContext.RunAsUser != 999:
		t.Errorf("user %v", spec.Pod.SecurityContext)
	case !reflect.DeepEqual(spec.Container.Command, []string{"ledgerd"}), !reflect.DeepEqual(spec.Container.Args, []string{"--cache=$(DBC_PARAM_CACHE)"}):
		t.Errorf("command %q, args %q", spec.Container.Command, spec.Container.Args)
	case spec.Container.StartupProbe == nil, spec.Container.ReadinessProbe == nil, spec.Container.LivenessProbe != nil:
		t.Errorf("probes %+v", spec.Container.MemberProbes)
	case spec.Pod.Annotations["scripts.database.dbcluster.io/backup"] != "#!/bin/sh\n":
		t.Errorf("annotations %v", spec.Pod.Annotations)
	}
}

func TestTheFieldsOfTheClusterOverrideTheEngine(t *testing.T) {
	c := orders()
	user, group, grace := int64(7), int64(8), int64(0)
	c.Spec.Container.Port, c.Spec.Container.DataPath, c.Spec.Pod.TerminationGracePeriodSeconds = 1, "/mine", &grace
	c.Spec.Pod.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &user, RunAsGroup: &group}
	c.Spec.Container.Args, c.Spec.Container.ReadinessProbe = []string{"mine"}, probe("mine")
	spec := Resolve(c, ledger()).Spec
	switch {
	case spec.Container.Port != 1, spec.Container.DataPath != "/mine", *spec.Pod.TerminationGracePeriodSeconds != 0, *spec.Pod.SecurityContext.RunAsUser != 7:
		t.Errorf("%+v", spec)
	case !reflect.DeepEqual(spec.Container.Command, []string{"ledgerd"}), !reflect.DeepEqual(spec.Container.Args, []string{"mine"}):
		t.Errorf("command %q, args %q", spec.Container.Command, spec.Container.Args)
	case spec.Container.StartupProbe == nil, spec.Container.ReadinessProbe.Exec.Command[0] != "mine":
		t.Errorf("probes %+v", spec.Container.MemberProbes)
	}
	c.Spec.Container.Command, c.Spec.Container.Args, c.Spec.Pod.SecurityContext = []string{"mine"}, nil, &corev1.PodSecurityContext{RunAsGroup: &group}
	spec = Resolve(c, ledger()).Spec
	if len(spec.Container.Args) != 0 {
		t.Errorf("the arguments are for another command: %q", spec.Container.Args)
	}
	if *spec.Pod.SecurityContext.RunAsUser != 999 || *spec.Pod.SecurityContext.RunAsGroup != 8 {
		t.Errorf("%+v", spec.Pod.SecurityContext)
	}
}

func TestTheEnvironmentOrderIsOperatorEngineCluster(t *testing.T) {
	c := orders()
	c.Spec.Container.Env = []corev1.EnvVar{{Name: "MODE", Value: "fast"}, {Name: "MINE", Value: "$(HOME)"}}
	c.Spec.Parameters = map[string]string{"cache": "9$(MODE)MB"}
	want := "DBC_PORT=7000 DBC_DATA_DIR=/ledger DBC_SECRETS_DIR=/dbc/secrets DBC_PARAM_CACHE=9$$(MODE)MB DBC_PARAM_SYNC= " +
		"HOME=$(DBC_DATA_DIR)/home MODE=fast MINE=$(HOME)"
	if got := variables(Resolve(c, ledger())); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWithoutAnEngineNothingIsAddedButTheDefaults(t *testing.T) {
	c := orders()
	c.Spec.Engine, c.Spec.Container.Env = "", []corev1.EnvVar{{Name: "A", Value: "b"}}
	want := c.DeepCopy()
	grace := DefaultTerminationGracePeriodSeconds
	want.Spec.Container.Port, want.Spec.Container.DataPath, want.Spec.Pod.TerminationGracePeriodSeconds = 9000, "/var/lib/database", &grace
	if got := Resolve(c, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got.Spec)
	}
}

func TestResolvingIsIdempotentAndChangesNoArgument(t *testing.T) {
	c, e := orders(), ledger()
	c.Spec.Container.Env = []corev1.EnvVar{{Name: "MODE", Value: "fast"}, {Name: "A", Value: "b"}}
	c.Spec.Pod.Annotations = map[string]string{"a": "b"}
	c.Spec.Parameters = map[string]string{"cache": "2MB"}
	beforeCluster, beforeEngine := c.DeepCopy(), e.DeepCopy()
	once := Resolve(c, e)
	if twice := Resolve(once, e); !reflect.DeepEqual(once, twice) {
		t.Errorf("once  %+v\ntwice %+v", once.Spec, twice.Spec)
	}
	*once.Spec.Pod.SecurityContext.RunAsUser, once.Spec.Container.StartupProbe.PeriodSeconds, once.Spec.Container.Command[0] = 1, 1, "x"
	if !reflect.DeepEqual(c, beforeCluster) || !reflect.DeepEqual(e, beforeEngine) {
		t.Error("an argument has changed")
	}
}

func TestAParameterIsAVariableOfItsName(t *testing.T) {
	for name, want := range map[string]string{"cache": "DBC_PARAM_CACHE", "max-size.of_it2": "DBC_PARAM_MAX_SIZE_OF_IT2"} {
		if got := Variable(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
