/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

// smallest is the smallest manifest as the API server stores it, with its defaults.
func smallest() *dbv1.DatabaseCluster {
	grace := int64(120)
	cluster := &dbv1.DatabaseCluster{}
	cluster.Namespace, cluster.Name, cluster.UID = "shop", "orders", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
	cluster.Spec = dbv1.DatabaseClusterSpec{
		Replicas: 3,
		Image:    "example.test/database:1",
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1000m"), corev1.ResourceMemory: resource.MustParse("1Gi"),
		}},
		Storage:   dbv1.ClusterStorage{Size: resource.MustParse("10Gi")},
		Container: dbv1.ClusterContainer{Port: 9000, DataPath: "/var/lib/database"},
		Pod:       dbv1.ClusterPod{TerminationGracePeriodSeconds: &grace},
		Service:   dbv1.ClusterService{Type: corev1.ServiceTypeClusterIP},
		Deletion:  dbv1.ClusterDeletion{HookFailurePolicy: dbv1.HookFailureBlock, HookDeadlineSeconds: 600},
	}
	return cluster
}

// full uses every field.
func full(t *testing.T) *dbv1.DatabaseCluster { return golden.Input(t, "full") }

func TestTheObjectsOfAClusterMatchTheGoldenFiles(t *testing.T) {
	ephemeralCluster := smallest()
	isEphemeral := true
	ephemeralCluster.Spec.Storage.Ephemeral = &isEphemeral
	everything, spread, generated := full(t), smallest(), smallest()
	spread.Spec.Scheduling.Spread = dbv1.ClusterSpread{Nodes: dbv1.SpreadRequired, Zones: dbv1.SpreadRequired}
	generated.Spec.ServiceAccount.Annotations = map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/orders"}
	related, declared := golden.Replicated(smallest())
	for name, child := range map[string]objects.Child{
		"replicated.state":             StateConfigMap(related, declared, "orders-leader"),
		"replicated.service":           Service(related, declared),
		"replicated.replicas-service":  ReplicasService(related, declared),
		"replicated.statefulset":       StatefulSet(related, 3, state.Observed{}),
		"replicated.initialize-job":    InitializeJob(related, Restore{ID: "0a1b2c3d", Image: "example.test/operator:1", Command: []string{"initialize"}}, state.Volume{UID: "1c2d3e4f"}),
		"replicated.hand-over-job":     HandOverJob(related, declared, HandOver{Member: 2, To: []int32{0, 1}, Name: "orders-hand-over-0a1b2c3d", Companions: true}),
		"replicated.configure-job":     ConfigureJob(related, declared, Configure{Members: 3, Companions: true}),
		"replicated.member-remove-job": MemberRemoveJob(related, declared, 2, "1c2d3e4f"),
		"smallest.headless-service":    HeadlessService(smallest()),
		"smallest.service":             Service(smallest(), nil),
		"smallest.poddisruptionbudget": PodDisruptionBudget(smallest()),
		"smallest.statefulset":         StatefulSet(smallest(), 3, state.Observed{}),
		"ephemeral.statefulset":        StatefulSet(ephemeralCluster, 3, state.Observed{}),
		"spread.statefulset":           StatefulSet(spread, 3, state.Observed{}),
		"spread.restore-job":           RestoreJob(spread, Restore{Members: spread.Spec.Replicas, Image: "example.test/operator:1", Command: []string{"restore"}, Recover: []string{"recover", "$(DBC_IMAGE)"}, Point: "after $(APP_TOKEN) and $$"}, state.Volume{UID: "1c2d3e4f"}),
		"spread.search-job":            SearchJob(newest(spread), *state.SearchedFolder(newest(spread)), "example.test/operator:1"),
		"generated.statefulset":        StatefulSet(generated, 3, state.Observed{}),
		"full.service":                 Service(everything, nil),
		"full.statefulset":             StatefulSet(everything, everything.Spec.Replicas, state.Observed{}),
		"full.configmap":               ConfigMap(everything),
		"full.hook-job":                HookJob(everything, everything.Spec.Deletion.Hooks[0]),
		"full.backup-job":              jobs.Build(everything, backupAction(true)),
		"smallest.backup-job":          jobs.Build(smallest(), backupAction(false)),
		"full.verification-job":        jobs.Build(everything, verification()),
		"ephemeral.verification-job":   jobs.Build(ephemeralCluster, verification()),
	} {
		t.Run(name, func(t *testing.T) { golden.Compare(t, name, child) })
	}
}

// A token lets its bearer change the pods of the cluster, so no sidecar, init container or Job gets it.
func TestOnlyTheDatabaseContainerHasTheToken(t *testing.T) {
	cluster, declared := golden.Replicated(full(t))
	template := golden.Live[appsv1.StatefulSet](t, StatefulSet(cluster, 3, state.Observed{})).Spec.Template.Spec
	for _, container := range slices.Concat(template.InitContainers, template.Containers) {
		has := slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == naming.TokenVolume })
		if has != (container.Name == naming.Container) {
			t.Errorf("container %s has the token: %v", container.Name, has)
		}
	}
	for _, job := range []objects.Child{
		HandOverJob(cluster, declared, HandOver{Name: "a"}), ConfigureJob(cluster, declared, Configure{Members: 3}), HookJob(cluster, cluster.Spec.Deletion.Hooks[0]),
		jobs.Build(cluster, backupAction(true)), jobs.Build(cluster, verification()),
	} {
		spec := golden.Live[batchv1.Job](t, job).Spec.Template.Spec
		if slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == naming.TokenVolume }) || *spec.AutomountServiceAccountToken {
			t.Errorf("%s has a token", job)
		}
	}
}

func TestAChangeOfParametersIsAnotherConfigurationAndTheSameTemplate(t *testing.T) {
	cluster, declared := golden.Replicated(smallest())
	before, job := StatefulSet(cluster, 3, state.Observed{}), ConfigureJob(cluster, declared, Configure{Members: 3})
	changed := cluster.DeepCopy()
	changed.Spec.Parameters["prefix"] = "another"
	if again := ConfigureJob(changed, declared, Configure{Members: 3}); again.Name() == job.Name() {
		t.Errorf("both configurations have Job %s", job.Name())
	}
	after := StatefulSet(changed, 3, state.Observed{})
	if one, other := golden.Live[appsv1.StatefulSet](t, before), golden.Live[appsv1.StatefulSet](t, after); !reflect.DeepEqual(one, other) {
		t.Errorf("the StatefulSets differ: %+v, %+v", one, other)
	}
}

// The primary may be a member that leaves.
// The action would run before the members have restarted, and could not connect with TLS.
func TestTLSIsNoOtherConfiguration(t *testing.T) {
	cluster, _ := golden.Replicated(smallest())
	password := pods.Reference{Kind: "Secret", Name: "orders-credentials", Content: "a"}
	before := Configuration(cluster, []pods.Reference{password}, "")
	cluster.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}
	certificate := pods.Reference{Kind: "Secret", Name: engine.TLSSecret(cluster)}
	if got := Configuration(cluster, []pods.Reference{password, certificate}, ""); got != before {
		t.Errorf("it is %s with TLS, and %s without", got, before)
	}
	password.Content = "b"
	if got := Configuration(cluster, []pods.Reference{password, certificate}, ""); got == before {
		t.Error("another password is no other configuration")
	}
}

func TestBeforeAScaleInAJobKnowsAllMembersAndTheNumberThatStays(t *testing.T) {
	cluster, declared := golden.Replicated(smallest())
	cluster.Spec.Replicas = 1
	for name, c := range map[string]struct {
		job  objects.Child
		want string
	}{
		"the configuration during a scale-in":  {ConfigureJob(cluster, declared, Configure{Members: 3}), "orders-0.orders-headless orders-1.orders-headless orders-2.orders-headless"},
		"a hand-over during a scale-in":        {HandOverJob(cluster, declared, HandOver{Name: "a", Members: 2}), "orders-0.orders-headless orders-1.orders-headless"},
		"the configuration during a scale-out": {ConfigureJob(cluster, declared, Configure{}), "orders-0.orders-headless"},
	} {
		env := golden.Live[batchv1.Job](t, c.job).Spec.Template.Spec.Containers[0].Env
		for variable, want := range map[string]string{"DBC_REPLICAS": "1", "DBC_MEMBERS": c.want} {
			if !slices.Contains(env, corev1.EnvVar{Name: variable, Value: want}) {
				t.Errorf("%s: %s is not %q in %v", name, variable, want, env)
			}
		}
	}
}

func TestAJobOfAnEngineThatConfiguresGetsAnObjectOfAllParameters(t *testing.T) {
	for name, c := range map[string]struct {
		given     map[string]string
		offered   []dbv1.EngineParameter
		configure bool
		want      string
	}{
		"some":                         {map[string]string{"a": "1"}, []dbv1.EngineParameter{{Name: "b", Default: "2"}}, true, `{"a":"1","b":"2"}`},
		"none":                         {nil, nil, true, "{}"},
		"an empty map":                 {map[string]string{}, nil, true, "{}"},
		"some, by a restart":           {map[string]string{"a": "1"}, nil, false, ""},
		"an empty map, by a restart":   {map[string]string{}, nil, false, ""},
		"none that a restart would do": {nil, nil, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, declared := smallest(), &dbv1.DatabaseEngine{}
			declared.Name, declared.Spec.Parameters = "ledger-v1", c.offered
			declared.Spec.Actions.Backup = &dbv1.EngineAction{Command: []string{"backup"}}
			if c.configure {
				declared.Spec.Actions.Configure = &dbv1.EngineAction{Command: []string{"configure"}}
			}
			cluster.Spec.Engine, cluster.Spec.Parameters = declared.Name, c.given
			cluster = engine.Resolve(engine.Resolve(cluster, declared), declared)
			got := ""
			for _, variable := range golden.Live[batchv1.Job](t, jobs.Build(cluster, backupAction(false))).Spec.Template.Spec.Containers[0].Env {
				if variable.Name == "DBC_PARAMETERS" {
					got = variable.Value
				}
			}
			if got != c.want {
				t.Errorf("the Job gets %q, want %q", got, c.want)
			}
		})
	}
}

// backupAction is one member's part of a backup: offline to a bucket, or online to a volume.
func backupAction(offline bool) jobs.Spec {
	at := &dbv1.BackupDestination{URL: "file:///backups/shop/orders", ClaimName: "backups"}
	if offline {
		at = &dbv1.BackupDestination{URL: "s3://backups/shop/everything", Endpoint: "https://s3.example.test", Region: "here", CredentialsSecretName: "bucket"}
		at.EncryptionSecretName, at.ServerSideEncryption = "age", &dbv1.BackupServerSideEncryption{Type: "aws:kms", KMSKeyID: "alias/backups"}
	}
	return jobs.Spec{
		Name:            "a-backup-0a1b2c3d-1",
		Kind:            transfers,
		Transfer:        &jobs.Transfer{Image: "example.test/operator:1", Call: &protocol.Backup{To: at.URL, Store: jobs.Store(at), Command: []string{"/dbc/scripts/backup"}}, At: at},
		Member:          new(int32(1)),
		Offline:         offline,
		DeadlineSeconds: 43200,
	}
}

func verification() jobs.Spec {
	action := backupAction(true)
	action.Kind.Component, action.Kind.Retries, action.Kind.Connects, action.Offline = dbv1.ComponentVerification, 2, false, false
	at := action.Transfer.At
	action.Transfer = &jobs.Transfer{Image: action.Transfer.Image, Call: &protocol.Probe{Command: []string{"probe"}}}
	action.Copy = &jobs.Copy{Restore: jobs.Transfer{Call: &protocol.Restore{From: at.URL, Store: jobs.Store(at), Command: []string{"restore"}}, At: at}}
	return action
}

// stored is a StatefulSet as it stands after a write.
func stored(t *testing.T, child objects.Child) *appsv1.StatefulSet {
	t.Helper()
	set := golden.Live[appsv1.StatefulSet](t, child)
	set.Annotations[dbv1.AnnotationStoredSpec] = objects.StoredSpecHash(set)
	return set
}

func TestAnUnchangedChildHasNoDrift(t *testing.T) {
	for _, cluster := range []*dbv1.DatabaseCluster{smallest(), full(t)} {
		if drift := Service(cluster, nil).Drift(golden.Live[corev1.Service](t, Service(cluster, nil))); drift != "" {
			t.Errorf("Service: %s", drift)
		}
		set := stored(t, StatefulSet(cluster, 3, state.Observed{}))
		if drift := StatefulSet(cluster, 3, state.Observed{StatefulSet: set}).Drift(set); drift != "" {
			t.Errorf("StatefulSet: %s", drift)
		}
	}
}

func TestDriftIsTheDifferentFieldAndOthersMayAddFields(t *testing.T) {
	cases := map[string]struct {
		change func(*appsv1.StatefulSet)
		want   string
	}{
		"a replica count is ours":               {func(s *appsv1.StatefulSet) { *s.Spec.Replicas = 1 }, "spec.replicas"},
		"a label is ours":                       {func(s *appsv1.StatefulSet) { delete(s.Labels, dbv1.LabelClusterUID) }, "metadata.labels.database.dbcluster.io/cluster-uid"},
		"the owner is ours":                     {func(s *appsv1.StatefulSet) { s.OwnerReferences = nil }, "metadata.ownerReferences"},
		"the image is ours":                     {func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "other" }, "spec.template.spec.containers"},
		"an annotation of another writer stays": {func(s *appsv1.StatefulSet) { s.Annotations["example.test/note"] = "x" }, ""},
		"an older rendering is drift":           {func(s *appsv1.StatefulSet) { s.Annotations[dbv1.AnnotationApplied] = "older" }, "metadata.annotations.database.dbcluster.io/applied"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			child := StatefulSet(smallest(), 3, state.Observed{})
			set := stored(t, child)
			c.change(set)
			if got := child.Drift(set); got != c.want {
				t.Errorf("drift %q, want %q", got, c.want)
			}
		})
	}
}

func TestForeignFieldsThatCutAServiceOffAreRemoved(t *testing.T) {
	const ports = "add /spec/ports [map[name:db port:9000 protocol:TCP targetPort:db]]"
	const selector = "add /spec/selector map[app.kubernetes.io/component:database app.kubernetes.io/instance:orders app.kubernetes.io/name:databasecluster]"
	cases := map[string]struct {
		change func(*corev1.Service)
		drift  string
		want   string
	}{
		"nothing":                         {func(*corev1.Service) {}, "", ""},
		"one more selector key":           {func(s *corev1.Service) { s.Spec.Selector["version"] = "2" }, "spec.selector", selector},
		"another port number":             {func(s *corev1.Service) { s.Spec.Ports[0].Port = 1 }, "spec.ports", ports},
		"one more port":                   {func(s *corev1.Service) { s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Port: 1}) }, "spec.ports", ports},
		"another name outside":            {func(s *corev1.Service) { s.Spec.ExternalName = "x" }, "spec.externalName", "remove /spec/externalName <nil>"},
		"members that are not ready":      {func(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = true }, "spec.publishNotReadyAddresses", ""},
		"a node port is the API server's": {func(s *corev1.Service) { s.Spec.Ports[0].NodePort = 30000 }, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			child := Service(smallest(), nil)
			service := golden.Live[corev1.Service](t, child)
			c.change(service)
			if got := child.Drift(service); got != c.drift {
				t.Errorf("drift %q, want %q", got, c.drift)
			}
			if got := operations(child.Removals(service)); got != c.want {
				t.Errorf("eviction %s, want %s", got, c.want)
			}
		})
	}
}

func TestTheFieldsOfALoadBalancerChangeTogetherWithItsType(t *testing.T) {
	balanced := func(c *dbv1.DatabaseCluster) {
		c.Spec.Service = dbv1.ClusterService{Type: corev1.ServiceTypeLoadBalancer, LoadBalancerClass: "example.test/lb", LoadBalancerSourceRanges: []string{"10.0.0.0/8"}}
	}
	plain := func(*dbv1.DatabaseCluster) {}
	unset := func(c *dbv1.DatabaseCluster) { c.Spec.Service.Type = corev1.ServiceTypeLoadBalancer }
	class := "given-by-the-platform"
	cases := map[string]struct {
		live, desired func(*dbv1.DatabaseCluster)
		change        func(*corev1.Service)
		want          string
	}{
		"a new load balancer": {plain, balanced, nil,
			"add /spec/loadBalancerSourceRanges [10.0.0.0/8]; add /spec/loadBalancerClass example.test/lb; add /spec/type LoadBalancer"},
		"removed ranges": {balanced, func(c *dbv1.DatabaseCluster) {
			balanced(c)
			c.Spec.Service.LoadBalancerSourceRanges = nil
		}, nil, "remove /spec/loadBalancerSourceRanges <nil>"},
		"a removed load balancer": {balanced, plain, nil, "remove /spec/loadBalancerSourceRanges <nil>; add /spec/type ClusterIP"},
		"another range of another writer": {balanced, balanced, func(s *corev1.Service) { s.Spec.LoadBalancerSourceRanges[0] = "0.0.0.0/0" },
			"add /spec/loadBalancerSourceRanges [10.0.0.0/8]"},
		"a class that the spec leaves to the platform": {unset, unset, func(s *corev1.Service) { s.Spec.LoadBalancerClass = &class }, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			before, after := smallest(), smallest()
			c.live(before)
			c.desired(after)
			service := golden.Live[corev1.Service](t, Service(before, nil))
			if c.change != nil {
				c.change(service)
			}
			if got := operations(Service(after, nil).Removals(service)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func operations(patch []objects.PatchOperation) string {
	var texts []string
	for _, o := range patch {
		texts = append(texts, fmt.Sprint(o.Op, " ", o.Path, " ", o.Value))
	}
	return strings.Join(texts, "; ")
}

func TestATemplateThatAnotherWriterChangedIsReplaced(t *testing.T) {
	changes := map[string]func(*appsv1.StatefulSet){
		"a node selector": func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.NodeSelector = map[string]string{"no": "such"} },
		"a container more": func(s *appsv1.StatefulSet) {
			s.Spec.Template.Spec.Containers = append(s.Spec.Template.Spec.Containers, corev1.Container{Name: "evil"})
		},
		"a first ordinal": func(s *appsv1.StatefulSet) { s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1} },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			child := StatefulSet(smallest(), 3, state.Observed{})
			set := stored(t, child)
			change(set)
			if drift := child.Drift(set); drift == "" {
				t.Error("no drift")
			}
			patch := child.Removals(set)
			if len(patch) == 0 || patch[0].Op != "add" || patch[0].Path != "/spec/template" {
				t.Errorf("%+v", patch)
			}
			if !slices.ContainsFunc(patch, func(o objects.PatchOperation) bool { return o.Path == "/spec/replicas" && o.Value == int64(3) }) {
				t.Errorf("the first ordinal and the number of members change in two writes: %+v", patch)
			}
		})
	}
}

func TestDefaultsOfTheAPIServerAreNoDrift(t *testing.T) {
	child := StatefulSet(smallest(), 3, state.Observed{})
	set := golden.Live[appsv1.StatefulSet](t, child)
	set.Spec.RevisionHistoryLimit, set.Spec.Template.Spec.SchedulerName = new(int32), "default-scheduler"
	set.Annotations[dbv1.AnnotationStoredSpec] = objects.StoredSpecHash(set)
	if drift := child.Drift(set); drift != "" {
		t.Error(drift)
	}
}

func TestTheFirstOrdinalOfAStatefulSetIsRestored(t *testing.T) {
	const differs = "spec.ordinals.start"
	cluster := smallest()
	for _, c := range []struct {
		from, to int32
		want     string
	}{{0, 0, ""}, {2, 2, ""}, {0, 2, "spec.ordinals"}, {2, 0, differs}, {1, 2, differs}} {
		set := stored(t, StatefulSetFrom(c.from, cluster, 3, state.Observed{}))
		child := StatefulSetFrom(c.to, cluster, 3, state.Observed{StatefulSet: set})
		if drift := child.Drift(set); drift != c.want || child.Removals(set) != nil {
			t.Errorf("from %d to %d: %q, want %q, and %v", c.from, c.to, drift, c.want, child.Removals(set))
		}
	}
}

func TestEqualSpellingsOfAQuantityAreNoDrift(t *testing.T) {
	cluster := smallest()
	set := stored(t, StatefulSet(cluster, 3, state.Observed{}))
	cluster.Spec.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
	if drift := StatefulSet(cluster, 3, state.Observed{StatefulSet: set}).Drift(set); drift != "" {
		t.Error(drift)
	}
}

func TestASecurityContextKeepsTheDefaultsOfItsUnsetFields(t *testing.T) {
	cluster := smallest()
	user, escalate := int64(999), true
	cluster.Spec.Pod.SecurityContext = &corev1.PodSecurityContext{RunAsUser: &user}
	cluster.Spec.Container.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: &escalate}
	pod := golden.Live[appsv1.StatefulSet](t, StatefulSet(cluster, 3, state.Observed{})).Spec.Template.Spec
	if !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser != 999 || *pod.SecurityContext.FSGroup != 65532 {
		t.Errorf("pod: %+v", pod.SecurityContext)
	}
	container := pod.Containers[0].SecurityContext
	if !*container.AllowPrivilegeEscalation || container.Capabilities.Drop[0] != "ALL" {
		t.Errorf("container: %+v", container)
	}
}

// newest is a cluster that starts with the newest backup of another one.
func newest(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseCluster {
	cluster = cluster.DeepCopy()
	at := dbv1.BackupDestination{URL: "s3://bucket/prod", Region: "eu-central-1", CredentialsSecretName: "keys", EncryptionSecretName: "age"}
	cluster.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{
		Newest: &dbv1.NewestBackup{Destination: at, ClusterNamespace: "shop", ClusterName: "ledger"}, RecoveryTarget: &dbv1.RecoveryTarget{},
	}}
	return cluster
}
