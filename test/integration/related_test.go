//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// replicated creates an engine whose members have one database, for one test.
func replicated(t *testing.T, change func(*dbv1.DatabaseEngineSpec)) string {
	t.Helper()
	command := func(name string) *dbv1.EngineAction { return &dbv1.EngineAction{Command: []string{name}} }
	declared := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{GenerateName: "replicated-"}}
	declared.Spec = dbv1.DatabaseEngineSpec{
		Topology:  dbv1.TopologyPrimaryReplica,
		Container: dbv1.EngineContainer{MemberProbes: dbv1.MemberProbes{ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"ready"}}}}}},
		Roles:     &dbv1.EngineRoles{Label: roleLabel, Primary: "primary", Replica: "replica"},
		State: &dbv1.EngineState{
			ConfigMaps: []string{"leader", "members"}, Lock: &dbv1.EngineLock{ConfigMap: "leader", Holder: "leader", Term: "term"},
		},
		Actions: dbv1.EngineActions{Initialize: command("initialize"), HandOver: command("hand-over")},
	}
	if change != nil {
		change(&declared.Spec)
	}
	createFor(t, declared)
	return declared.Name
}

// elector is the engine's software in the members of a cluster, and their kubelet. It writes as the ServiceAccount of the members.
type elector struct {
	primary atomic.Int32
	// holder is the primary that has the lock, and term counts how often another one got it.
	holder, term int32
	// down lets all members fail their readiness probes.
	down atomic.Bool
}

// startElector runs the members of cluster orders.
func startElector(t *testing.T, ns string) *elector {
	t.Helper()
	e := &elector{}
	members := as(t, "system:serviceaccount:"+ns+":orders")
	kubelet(t, ns, e.act)
	repeat(t, func(ctx context.Context) { e.vote(ctx, members, ns) })
	return e
}

func (e *elector) act(pod *corev1.Pod) {
	switch component := pod.Labels[dbv1.LabelComponent]; component {
	case dbv1.ComponentRestore, dbv1.ComponentConfigure, dbv1.ComponentHandOver:
		if pod.Status.Phase != corev1.PodSucceeded {
			e.obey(pod, component)
		}
		exits(pod, 0, `{}`)
	case dbv1.ComponentBackup:
		yields(pod)
	default:
		if e.down.Load() {
			setReady(pod, corev1.ConditionFalse)
			return
		}
		healthy(pod)
	}
}

// obey lets the member become the primary that a Job names. A hand-over without a name selects the next one.
func (e *elector) obey(pod *corev1.Pod, component string) {
	if target, named := targetOf(pod); named {
		e.primary.Store(target)
	} else if component == dbv1.ComponentHandOver {
		e.primary.Store((e.primary.Load() + 1) % 3)
	}
}

// targetOf is the member that should become the primary.
func targetOf(pod *corev1.Pod) (ordinal int32, named bool) {
	for _, variable := range pod.Spec.Containers[0].Env {
		if variable.Name == "DBC_TARGET" {
			member, _, _ := strings.Cut(variable.Value, ".")
			return naming.Ordinal("orders", member)
		}
	}
	return 0, false
}

// vote labels each member with its role, as soon as the members have the rights.
func (e *elector) vote(ctx context.Context, members client.Client, ns string) {
	pods := &corev1.PodList{}
	if members.List(ctx, pods, client.InNamespace(ns), client.MatchingLabels(naming.Selector("orders"))) != nil || len(pods.Items) == 0 {
		return
	}
	for i := range pods.Items {
		pod, role := &pods.Items[i], "replica"
		if ordinal, _ := naming.Ordinal("orders", pod.Name); ordinal == e.primary.Load() {
			role = "primary"
		}
		if pod.Labels[roleLabel] != role {
			patch := metadataPatch(`"labels":{%q:%q},"annotations":{"status":%q}`, roleLabel, role, patroniStatus(role))
			_ = members.Patch(ctx, pod, client.RawPatch(types.StrategicMergePatchType, []byte(patch)))
		}
	}
	lock := `"annotations":{"leader":null}`
	if primary := e.primary.Load(); primary != noPrimary {
		if e.term == 0 || e.holder != primary {
			e.holder, e.term = primary, e.term+1
		}
		lock = fmt.Sprintf(`"annotations":{"leader":"orders-%d","term":"%d"}`, e.holder, e.term)
	}
	_ = members.Patch(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "orders-leader"}},
		client.RawPatch(types.MergePatchType, []byte(metadataPatch("%s", lock))))
}

// rightsOf are the objects by which the members of cluster orders write.
func rightsOf(ns string) (role *rbacv1.Role, binding *rbacv1.RoleBinding, leader *corev1.ConfigMap) {
	at := metav1.ObjectMeta{Namespace: ns, Name: "orders"}
	state := metav1.ObjectMeta{Namespace: ns, Name: "orders-leader"}
	return &rbacv1.Role{ObjectMeta: at}, &rbacv1.RoleBinding{ObjectMeta: at}, &corev1.ConfigMap{ObjectMeta: state}
}

// The members report their roles with the rights that the operator granted. The operator has the shipped rights, and the policies are in force.
func TestMembersOfOneDatabaseReportTheirRolesUntilTheirClusterIsDeleted(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	elector := startElector(t, ns)
	cluster := smallest(ns, "orders")
	cluster.Spec.Engine = replicated(t, nil)
	create(t, cluster)
	awaitReady(t, cluster)

	initialized := restoreJobs(t, cluster)
	if len(initialized) != 1 || !strings.Contains(strings.Join(initialized[0].Spec.Template.Spec.Containers[0].Command, " "), "initialize") {
		t.Errorf("%d Jobs created the first data", len(initialized))
	}
	role, binding, leader := rightsOf(ns)
	for _, object := range []client.Object{read(t, role), read(t, binding), read(t, leader), read(t, account(cluster))} {
		if len(object.GetOwnerReferences()) > 0 || object.GetLabels()[dbv1.LabelClusterUID] != string(cluster.UID) {
			t.Errorf("%T has the owner %v and the labels %v", object, object.GetOwnerReferences(), object.GetLabels())
		}
	}
	if leader.Labels[dbv1.LabelManagedBy] != "" || leader.Annotations["leader"] != "orders-0" {
		t.Errorf("the members keep %v, with the labels %v", leader.Annotations, leader.Labels)
	}
	for name, selects := range map[string]string{"orders": "primary", "orders-replicas": "replica"} {
		if is := read(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}); is.Spec.Selector[roleLabel] != selects {
			t.Errorf("Service %s selects %v", name, is.Spec.Selector)
		}
	}
	pod := read(t, member(cluster, 0))
	if pod.Spec.ServiceAccountName != "orders" || pod.Annotations[dbv1.AnnotationRoleLabel] != roleLabel {
		t.Errorf("pod orders-0 runs as %q, with the annotations %v", pod.Spec.ServiceAccountName, pod.Annotations)
	}
	if is := read(t, cluster).Status; is.Primary != "orders-0" {
		t.Errorf("the primary is %q", is.Primary)
	}

	change(t, cluster, annotated(dbv1.AnnotationHandOver, "orders-1"))
	await(t, cluster, "pod orders-1 to be the primary", func() bool { return cluster.Status.Primary == "orders-1" })
	await(t, cluster, "the request to be recorded", func() bool {
		return slices.ContainsFunc(cluster.Status.Requests, func(r dbv1.ClusterRequestStatus) bool {
			return r.Request == "orders-1" && r.State == dbv1.RequestCompleted
		})
	})
	for _, job := range listed(t, ns, &batchv1.JobList{}, nil).Items {
		spec := job.Spec.Template.Spec
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken || slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == naming.TokenVolume }) {
			t.Errorf("Job %s has a token", job.Name)
		}
	}

	change(t, role, func(r *rbacv1.Role) {
		r.Rules = append(r.Rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}})
	})
	change(t, binding, func(b *rbacv1.RoleBinding) { b.Subjects = append(b.Subjects, user("jane")...) })
	touch(t, cluster)
	await(t, role, "the manual edit to be reverted", func() bool { return len(role.Rules) == 4 })
	await(t, binding, "the manual edit to be reverted", func() bool { return len(binding.Subjects) == 1 })

	elector.primary.Store(1)
	remove(t, cluster)
	awaitDeleted(t, cluster)
	for _, object := range []client.Object{role, binding, account(cluster)} {
		awaitDeleted(t, object)
	}
	mustHaveClaims(t, cluster, 3)
	agreed := read(t, leader).UID // it belongs to the volumes

	next := smallest(ns, "orders")
	next.Spec.Engine = cluster.Spec.Engine
	create(t, next)
	awaitReady(t, next)
	if is := read(t, leader); is.UID != agreed || is.Labels[dbv1.LabelClusterUID] != string(next.UID) {
		t.Errorf("the next cluster has the agreement %s with the labels %v, not that of the volumes", is.UID, is.Labels)
	}
}

// Members would believe what a previous cluster of the same name agreed on.
func TestWhatThePreviousMembersAgreedOnIsDeletedWithoutTheirVolumes(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	startElector(t, ns)
	_, _, stale := rightsOf(ns)
	stale.Labels = labelsOf("orders")
	delete(stale.Labels, dbv1.LabelManagedBy)
	stale.Annotations, stale.Data = map[string]string{"initialize": "7431"}, map[string]string{"history": "[]"}
	create(t, stale)
	before := stale.UID
	cluster := smallest(ns, "orders")
	cluster.Spec.Engine = replicated(t, nil)
	create(t, cluster)
	awaitReady(t, cluster)
	if is := read(t, stale); is.UID == before || len(is.Data) > 0 || is.Annotations["initialize"] != "" || is.Labels[dbv1.LabelClusterUID] != string(cluster.UID) {
		t.Errorf("the members have %v %v of the previous cluster, with the labels %v", is.Annotations, is.Data, is.Labels)
	}
}

func TestMembersDoNotStartWithTheRightsOrTheConfigMapsOfOthers(t *testing.T) {
	parallel(t)
	role, binding, leader := rightsOf("")
	role.Rules = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"list"}}}
	binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "theirs"}
	leader.Data = map[string]string{"their": "data"}
	for kind, foreign := range map[string]client.Object{"Role orders": role, "RoleBinding orders": binding, "ConfigMap orders-leader": leader} {
		t.Run(kind, func(t *testing.T) {
			parallel(t)
			ns := namespace(t)
			startElector(t, ns)
			foreign.SetNamespace(ns)
			create(t, foreign)
			version := foreign.GetResourceVersion()
			cluster := smallest(ns, "orders")
			cluster.Spec.Engine = replicated(t, nil)
			create(t, cluster)
			awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonNameConflict, kind, "the operator does not change it")
			if read(t, foreign).GetResourceVersion() != version {
				t.Errorf("the operator wrote to %s: %+v", kind, foreign)
			}
			if err := admin.Get(t.Context(), client.ObjectKeyFromObject(cluster), &appsv1.StatefulSet{}); client.IgnoreNotFound(err) != nil || err == nil {
				t.Errorf("members were created: %v", err)
			}
			remove(t, foreign)
			awaitReady(t, cluster)
		})
	}
}

func TestAClusterReportsWhatItsEngineWithRolesDoesNotSupport(t *testing.T) {
	parallel(t)
	odd := replicated(t, func(e *dbv1.DatabaseEngineSpec) { e.Replicas.Odd = true })
	yes := true
	for what, c := range map[string]struct {
		change       func(*dbv1.DatabaseCluster)
		reason, text string
	}{
		"a ServiceAccount": {
			func(c *dbv1.DatabaseCluster) { c.Spec.ServiceAccount.Name = "theirs" }, dbv1.ReasonFieldUnsupported,
			"spec.serviceAccount.name is theirs, but the members of DatabaseEngine " + odd + " need a ServiceAccount with rights of their own: remove the field",
		},
		"no volumes": {
			func(c *dbv1.DatabaseCluster) { c.Spec.Storage.Ephemeral = &yes }, dbv1.ReasonFieldUnsupported,
			"spec.storage.ephemeral is true, but the members of DatabaseEngine " + odd + " need volumes",
		},
		"an even number of members": {
			func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 4 }, dbv1.ReasonInvalidReplicas,
			"spec.replicas is 4, but DatabaseEngine " + odd + " needs an odd number of members, because they decide by a majority: set spec.replicas to 3 or 5",
		},
	} {
		t.Run(what, func(t *testing.T) {
			cluster := smallest(namespace(t), "orders")
			create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "theirs"}})
			cluster.Spec.Engine = odd
			c.change(cluster)
			create(t, cluster)
			awaitTrue(t, cluster, dbv1.ConditionStalled, c.reason, c.text)
		})
	}
}

// relation returns the spec of an engine with roles, with changed fields.
func relation(changed fields) fields {
	action := fields{"command": list("a")}
	return with(fields{
		"topology": "PrimaryReplica", "roles": fields{"label": roleLabel, "primary": "primary", "replica": "replica"},
		"actions": fields{"initialize": action, "handOver": action},
	}, changed)
}

// roles returns the spec of an engine with changed roles.
func roles(changed fields) fields {
	return relation(fields{"roles": with(fields{"label": roleLabel, "primary": "primary", "replica": "replica"}, changed)})
}

func actions(names ...string) fields {
	all := fields{}
	for _, name := range names {
		all[name] = fields{"command": list("a")}
	}
	return all
}

func TestTheAPIServerRefusesInvalidEnginesOfRelatedMembersWithAMessage(t *testing.T) {
	parallel(t)
	const reserved = "spec.roles.label must not be a label that Kubernetes or the operator sets"
	cases := refusals{
		"an unknown topology":               {fields{"topology": "Sharded"}, `spec.topology: Unsupported value: "Sharded"`},
		"a primary without roles":           {relation(fields{"roles": nil}), "spec.roles is required for the topology PrimaryReplica, and not allowed for others"},
		"roles of independent members":      {fields{"roles": roles(nil)["roles"]}, "spec.roles is required for the topology PrimaryReplica, and not allowed for others"},
		"roles by consensus":                {relation(fields{"topology": "Consensus", "actions": actions("initialize", "memberRemove")}), "spec.roles is required for the topology PrimaryReplica"},
		"no first data":                     {relation(fields{"actions": actions("handOver")}), "spec.actions.initialize is required for the topologies PrimaryReplica and Consensus"},
		"no actions":                        {relation(fields{"actions": nil}), "spec.actions.initialize is required for the topologies PrimaryReplica and Consensus"},
		"first data of independent members": {fields{"actions": actions("initialize")}, "spec.actions.initialize is required for the topologies PrimaryReplica and Consensus"},
		"no hand-over":                      {relation(fields{"actions": actions("initialize")}), "spec.actions.handOver is required for the topology PrimaryReplica, and not allowed for others"},
		"a hand-over without a primary":     {fields{"actions": actions("handOver")}, "spec.actions.handOver is required for the topology PrimaryReplica, and not allowed for others"},
		"no removal of members":             {fields{"topology": "Consensus", "actions": actions("initialize")}, "spec.actions.memberRemove is required for the topology Consensus, and not allowed for others"},
		"a removal without consensus":       {relation(fields{"actions": actions("initialize", "handOver", "memberRemove")}), "spec.actions.memberRemove is required for the topology Consensus, and not allowed for others"},
		"other parameters":                  {relation(fields{"otherParameters": true}), "spec.otherParameters needs the action configure"},
		"state of independent members":      {fields{"state": fields{"configMaps": list("leader")}}, "spec.state is not allowed for the topology Independent"},
		"no ConfigMaps":                     {relation(fields{"state": fields{"configMaps": []any{}}}), "spec.state.configMaps in body should have at least 1 items"},
		"a ConfigMap twice":                 {relation(fields{"state": fields{"configMaps": list("a", "a")}}), "spec.state.configMaps[1]: Duplicate value"},
		"a ConfigMap with a dot":            {relation(fields{"state": fields{"configMaps": list("a.b")}}), "spec.state.configMaps: a name must have 1 to 20 lowercase letters, digits and '-'"},
		"a long name of a ConfigMap":        {relation(fields{"state": fields{"configMaps": list(strings.Repeat("a", 21))}}), "Too long: may not be more than 20"},
		"no label":                          {roles(fields{"label": nil}), "spec.roles.label: Required value"},
		"a label with a space":              {roles(fields{"label": "a b"}), "spec.roles.label must be the name of a label"},
		"one value for both roles":          {roles(fields{"replica": "primary"}), "spec.roles: primary and replica must differ"},
		"a role with a space":               {roles(fields{"primary": "the primary"}), "spec.roles.primary must be the value of a label"},
		"no time for the lock":              {roles(fields{"lockSeconds": int64(0)}), "spec.roles.lockSeconds in body should be greater than or equal to 1"},
		"a lock over an hour":               {roles(fields{"lockSeconds": int64(3601)}), "spec.roles.lockSeconds in body should be less than or equal to 3600"},
		"an empty parameter of the lock":    {roles(fields{"lockParameter": ""}), "spec.roles.lockParameter in body should be at least 1 chars long"},
		"a long parameter of the lock":      {roles(fields{"lockParameter": strings.Repeat("a", 64)}), "Too long: may not be more than 63"},
		"an empty position":                 {roles(fields{"positionField": ""}), "spec.roles.positionField must be the name of a field"},
		"a position with a space":           {roles(fields{"positionField": "xlog location"}), "spec.roles.positionField must be the name of a field"},
		"a long name of a position":         {roles(fields{"positionField": strings.Repeat("a", 64)}), "Too long: may not be more than 63"},
		"a timeline that is a path":         {roles(fields{"positionField": "a", "timelineField": "/b"}), "spec.roles.timelineField must be the name of a field"},
	}
	for _, label := range []string{
		dbv1.LabelName, dbv1.LabelInstance, dbv1.LabelComponent, dbv1.LabelManagedBy, dbv1.LabelClusterUID,
		"apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name", "controller-revision-hash", "batch.kubernetes.io/job-name",
	} {
		cases["the label "+label] = refusals{"": {roles(fields{"label": label}), reserved}}[""]
	}
	eachIsRefused(t, "databaseengines", cases)
}

func TestTheAPIServerAcceptsEnginesOfRelatedMembersAtTheLimits(t *testing.T) {
	parallel(t)
	everything := relation(fields{
		"actions": actions("initialize", "handOver", "configure"), "otherParameters": true, "replicas": fields{"odd": true, "max": int64(9)},
		"state": fields{"configMaps": many(8, func(i int) any { return fmt.Sprintf("%s-%d", strings.Repeat("a", 18), i) })},
	})
	maps.Copy(everything["roles"].(fields), fields{
		"label": "role", "lockParameter": strings.Repeat("a", 63), "primary": "Master", "replica": "x",
		"positionField": strings.Repeat("a", 63), "timelineField": "_t-1.x",
	})
	eachIsAccepted(t, "databaseengines", map[string]fields{
		"the smallest with roles": relation(nil),
		"the longest lock":        roles(fields{"lockSeconds": int64(3600)}),
		"everything":              everything,
		"consensus":               {"topology": "Consensus", "actions": actions("initialize", "memberRemove"), "state": fields{"configMaps": list("a")}},
	})
}
