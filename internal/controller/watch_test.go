/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/status"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

var moment = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

var kinds = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), dbv1.AddToScheme(scheme))
})

func testScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	return scheme
}

// deleted is a cluster in deletion, so that a pass reads everything, including its hook's Job.
func deleted() *dbv1.DatabaseCluster {
	c := &dbv1.DatabaseCluster{}
	c.Namespace, c.Name, c.UID, c.Generation = "shop", "orders", "0a1b2c3d", 1
	c.Finalizers, c.DeletionTimestamp = []string{dbv1.Finalizer}, &moment
	c.Spec.Replicas, c.Spec.Storage.Size = 1, resource.MustParse("1Gi")
	c.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Name: "flush", Type: dbv1.HookCommand, Command: []string{"flush"}}}
	return c
}

// belongings is one object of each watched kind, with its predicate.
func belongings(c *dbv1.DatabaseCluster) map[string]struct {
	object client.Object
	filter predicate.Predicate
} {
	yes := true
	owned := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Namespace: c.Namespace, Name: name, UID: "child", Labels: naming.Labels(c, dbv1.ComponentDatabase), Generation: 1,
			OwnerReferences: []metav1.OwnerReference{{Kind: "DatabaseCluster", Name: c.Name, UID: c.UID, Controller: &yes}},
		}
	}
	service := &corev1.Service{ObjectMeta: owned("orders")}
	service.Generation = 0
	job := &batchv1.Job{ObjectMeta: owned(naming.HookJob(c.Name, "flush", c.UID))}
	job.Labels, job.OwnerReferences = naming.Labels(c, dbv1.ComponentHook), nil
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue}}
	config := &corev1.ConfigMap{ObjectMeta: owned("orders-config-previous")}
	config.Labels, config.Generation = naming.Labels(c, dbv1.ComponentConfig), 0
	last := backupOf(c, dbv1.BackupPending)
	last.Name, last.Status.Streams = naming.HookJob(c.Name, "last", c.UID), []dbv1.BackupStream{{Ordinal: 1}}
	return map[string]struct {
		object client.Object
		filter predicate.Predicate
	}{
		"Service":             {service, kit.Filter(state.ServiceFacts)},
		"PodDisruptionBudget": {&policyv1.PodDisruptionBudget{ObjectMeta: owned("orders")}, kit.Filter(state.PodDisruptionBudgetFacts)},
		"NetworkPolicy":       {&networkingv1.NetworkPolicy{ObjectMeta: owned("orders")}, kit.Filter(state.NetworkPolicyFacts)},
		"StatefulSet":         {&appsv1.StatefulSet{ObjectMeta: owned("orders")}, kit.Filter(setFacts)},
		"Pod":                 {&corev1.Pod{ObjectMeta: owned("orders-0")}, kit.Changed(podFacts)},
		"Pod of a Job":        {tried(job), kit.Changed(podFacts)},
		"Job":                 {job, kit.Changed(jobFacts)},
		"Node":                {&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, kit.Changed(leavingFacts)},
		"ConfigMap":           {config, kit.Filter(state.ConfigMapFacts)},

		"DatabaseBackup":             {backupOf(c, dbv1.BackupCompleted), kit.Changed(backupFacts)},
		"DatabaseBackup that failed": {backupOf(c, dbv1.BackupFailed), kit.Changed(backupFacts)},
		"DatabaseBackup of a hook":   {last, kit.Changed(backupFacts)},

		"PersistentVolumeClaim": {
			&corev1.PersistentVolumeClaim{ObjectMeta: owned("data-orders-0"), Spec: corev1.PersistentVolumeClaimSpec{
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
			}}, kit.Changed(claimFacts),
		},
	}
}

// backupOf is a backup of a schedule with a verification.
func backupOf(c *dbv1.DatabaseCluster, phase dbv1.BackupPhase) *dbv1.DatabaseBackup {
	backup := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{
		Namespace: c.Namespace, Name: "orders-nightly-2601010300", UID: "backup", Generation: 1, Labels: naming.Labels(c, dbv1.ComponentBackup),
	}}
	backup.Labels[dbv1.LabelSchedule] = "nightly"
	backup.Annotations = map[string]string{dbv1.AnnotationScheduled: "2026-01-01T03:00:00Z", dbv1.AnnotationVerify: "please"}
	backup.Spec.Cluster = c.Name
	backup.Status.Origin = &dbv1.BackupOrigin{ClusterUID: string(c.UID), Schedule: "nightly", ScheduledTime: moment}
	backup.Status.Phase, backup.Status.Message = phase, "no bucket"
	backup.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationFailed}
	return backup
}

func TestTheProgressOfABackupStartsNoPassOfTheCluster(t *testing.T) {
	before := backupOf(deleted(), dbv1.BackupRunning)
	after := before.DeepCopy()
	after.ResourceVersion, after.Status.Bytes, after.Status.Rate = "9", 42, "85 MiB/s"
	if kit.Changed(backupFacts).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("progress passes")
	}
}

// A deletion hook waits for the backup: it reports the reason, and stops the members when the remaining ones cannot
// be backed up online.
func TestTheMessageAndTheFinishedMembersOfABackupStartAPassOfTheCluster(t *testing.T) {
	for name, change := range map[string]func(*dbv1.DatabaseBackup){
		"message": func(b *dbv1.DatabaseBackup) { b.Status.Message = "the bucket is full" },
		"stream":  func(b *dbv1.DatabaseBackup) { b.Status.Streams = []dbv1.BackupStream{{Ordinal: 0}} },
	} {
		before := backupOf(deleted(), dbv1.BackupRunning)
		after := before.DeepCopy()
		change(after)
		if !kit.Changed(backupFacts).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
			t.Errorf("a change of the %s does not start a pass", name)
		}
	}
}

// tried is a pod of a Job with a termination message.
func tried(job *batchv1.Job) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name + "-x", Labels: maps.Clone(job.Labels)}}
	pod.Labels[batchv1.ControllerUidLabel] = string(job.UID)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: naming.ActionContainer, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: `{"message":"no"}`},
	}}}
	return pod
}

// observedWith is the observation of a pass with this object, and otherwise unchanged objects.
func observedWith(t *testing.T, scheme *runtime.Scheme, cluster *dbv1.DatabaseCluster, object client.Object) state.Observed {
	t.Helper()
	stored := object.DeepCopyObject().(client.Object)
	if stored.GetDeletionTimestamp() != nil && len(stored.GetFinalizers()) == 0 {
		stored.SetFinalizers([]string{"test/keep"}) // the fake client rejects a deleted object without a finalizer
	}
	world := []client.Object{cluster.DeepCopy(), stored}
	if _, pod := object.(*corev1.Pod); pod {
		world = append(world, belongings(cluster)["Job"].object)
	}
	if node, is := object.(*corev1.Node); is {
		pod := belongings(cluster)["Pod"].object.(*corev1.Pod)
		pod.Spec.NodeName = node.Name
		world = append(world, pod)
	}
	reader := fakeclient.For(scheme).WithObjects(world...).Build()
	r := &Reconciler{Nodes: true, Base: kit.Base{
		Cached: reader, Live: reader, Writer: apply.Writer{Client: reader}, Clock: clocktesting.NewFakePassiveClock(moment.Time),
	}}
	observed, err := r.Observe(t.Context(), cluster, r.Reading(cluster, false))
	if err != nil {
		t.Fatal(err)
	}
	return withoutVersions(observed.Observed)
}

// withoutVersions leaves out fields that no decision reads.
func withoutVersions(o state.Observed) state.Observed {
	objects := []client.Object{o.HeadlessService, o.Service, o.PodDisruptionBudget, o.NetworkPolicy, o.StatefulSet}
	for _, config := range o.Configs {
		objects = append(objects, config)
	}
	for i := range o.Volumes {
		o.Volumes[i] = o.Volumes[i].Facts()
	}
	for i := range o.Backups {
		o.Backups[i] = o.Backups[i].Facts()
	}
	for _, object := range objects {
		if !reflect.ValueOf(object).IsNil() {
			object.SetResourceVersion("")
			object.SetFinalizers(nil)
		}
	}
	for i := range o.Members {
		o.Members[i] = o.Members[i].Facts()
	}
	for name, task := range o.Hooks {
		o.Hooks[name] = task.Facts()
	}
	return o
}

func TestAPredicatePassesEveryFieldThatObserveReads(t *testing.T) {
	scheme, cluster := testScheme(t), deleted()
	cluster.Spec.Backup = &dbv1.ClusterBackup{}
	cluster.Spec.Deletion.Hooks = append(cluster.Spec.Deletion.Hooks, dbv1.DeletionHook{Name: "last", Type: dbv1.HookBackup})
	for kind, watched := range belongings(cluster) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			cluster := cluster
			if kind == "ConfigMap" {
				cluster = running() // while a cluster is being deleted its configuration is not read
			}
			before := observedWith(t, scheme, cluster, watched.object)
			read := 0
			for path, mutated := range mutations(watched.object) {
				if reflect.DeepEqual(before, observedWith(t, scheme, cluster, mutated)) {
					continue
				}
				read++
				if !watched.filter.Update(event.UpdateEvent{ObjectOld: watched.object, ObjectNew: mutated}) {
					t.Errorf("%s is read, but no predicate passes its change", path)
				}
			}
			if read == 0 {
				t.Error("no mutation changed what is observed: the test is ineffective")
			}
			t.Logf("%d fields are read", read)
		})
	}
}

func TestAPredicatePassesEveryDecisiveFieldOfACluster(t *testing.T) {
	running := deleted()
	running.DeletionTimestamp = nil
	for name, cluster := range map[string]*dbv1.DatabaseCluster{"in deletion": deleted(), "running": running} {
		t.Run(name, func(t *testing.T) {
			outcome := func(c *dbv1.DatabaseCluster) string {
				s := situation.Of(c, state.Observed{})
				todo := plan.For(s)
				after := status.Of(status.PassResult{Situation: s, Plan: todo}, moment)
				return fmt.Sprintf("%+v %+v %v", todo, after, equality.Semantic.DeepEqual(after, c.Status))
			}
			before, decisive := outcome(cluster), 0
			for path, mutated := range mutations(cluster) {
				if outcome(mutated.(*dbv1.DatabaseCluster)) == before {
					continue
				}
				decisive++
				if !kit.Filter(state.ClusterFacts).Update(event.UpdateEvent{ObjectOld: cluster, ObjectNew: mutated}) {
					t.Errorf("%s affects a decision, but no predicate passes its change", path)
				}
			}
			if decisive < 10 {
				t.Errorf("only %d mutations changed the outcome: the test is ineffective", decisive)
			}
		})
	}
}

func TestUnreadStatusesStartNoPass(t *testing.T) {
	all := belongings(deleted())
	set := all["StatefulSet"].object.DeepCopyObject().(*appsv1.StatefulSet)
	set.Status.ReadyReplicas, set.ResourceVersion = 3, "9"
	budget := all["PodDisruptionBudget"].object.DeepCopyObject().(*policyv1.PodDisruptionBudget)
	budget.Status.CurrentHealthy = 3
	pod := all["Pod"].object.DeepCopyObject().(*corev1.Pod)
	pod.Status.PodIP, pod.Status.ContainerStatuses = "10.0.0.1", []corev1.ContainerStatus{{RestartCount: 3}}
	for kind, object := range map[string]client.Object{"StatefulSet": set, "PodDisruptionBudget": budget, "Pod": pod} {
		if all[kind].filter.Update(event.UpdateEvent{ObjectOld: all[kind].object, ObjectNew: object}) {
			t.Errorf("%s: an update that changes nothing of interest passes", kind)
		}
	}
}

// The software of members writes this annotation every few seconds.
func TestTheStatusThatAMemberReportsStartsNoPass(t *testing.T) {
	before := belongings(deleted())["Pod"].object.DeepCopyObject().(*corev1.Pod)
	before.Annotations = map[string]string{dbv1.AnnotationRoleLabel: "role", dbv1.AnnotationStatus: `{"xlog_location":1}`}
	after := before.DeepCopy()
	after.ResourceVersion, after.Annotations[dbv1.AnnotationStatus] = "9", `{"xlog_location":2}`
	cachedBefore, cachedAfter := trimmedPod(t, before), trimmedPod(t, after)
	if cachedBefore.Annotations[dbv1.AnnotationStatus] == cachedAfter.Annotations[dbv1.AnnotationStatus] {
		t.Fatal("the cache does not have the change: the test is ineffective")
	}
	if kit.Changed(podFacts).Update(event.UpdateEvent{ObjectOld: cachedBefore, ObjectNew: cachedAfter}) {
		t.Error("a change of the status starts a pass")
	}
}

func TestDeletionsAndCreationsAlwaysPass(t *testing.T) {
	for kind, watched := range belongings(deleted()) {
		if !watched.filter.Create(event.CreateEvent{Object: watched.object}) || !watched.filter.Delete(event.DeleteEvent{Object: watched.object}) {
			t.Errorf("%s: a creation or deletion does not pass", kind)
		}
	}
}

func TestAClaimWithoutLabelsIsFoundByTheMemberThatUsesIt(t *testing.T) {
	scheme, cluster := testScheme(t), running()
	all := belongings(cluster)
	set := all["StatefulSet"].object.(*appsv1.StatefulSet)
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: naming.DataVolume}}}
	pod := all["Pod"].object.(*corev1.Pod)
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: set.Name, UID: set.UID, Controller: new(true)}}
	claim := all["PersistentVolumeClaim"].object.(*corev1.PersistentVolumeClaim)
	created := claim.CreationTimestamp
	pod.Spec.NodeName = "node-1"
	for _, c := range []struct {
		labeled bool
		placed  time.Duration // after the claim was created
		want    int
	}{{true, time.Second, 1}, {false, time.Second, 1}, {false, -time.Second, 0}} {
		if !c.labeled {
			claim.Labels = nil
		}
		placed := metav1.NewTime(created.Add(c.placed))
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: placed}}
		reader := fakeclient.For(scheme).WithObjects(cluster.DeepCopy(), set.DeepCopy(), pod.DeepCopy(), claim.DeepCopy()).Build()
		r := &Reconciler{Base: kit.Base{
			Cached: reader, Live: reader, Writer: apply.Writer{Client: reader}, Clock: clocktesting.NewFakePassiveClock(moment.Time),
		}}
		observed, err := r.Observe(t.Context(), cluster, r.Reading(cluster, false))
		if err != nil {
			t.Fatal(err)
		}
		if len(observed.Volumes) != c.want || c.want > 0 && observed.Volumes[0].Unwatched == c.labeled {
			t.Errorf("%+v: %+v", c, observed.Volumes)
		}
	}
}

func TestTheAnnotationsOfARestoreAreFactsOfAClaimAndSurviveTrimming(t *testing.T) {
	before := belongings(deleted())["PersistentVolumeClaim"].object.(*corev1.PersistentVolumeClaim)
	for _, mark := range []string{dbv1.AnnotationRestoring, dbv1.AnnotationRestored} {
		after := before.DeepCopy()
		after.Annotations = map[string]string{mark: "x"}
		if !kit.Changed(claimFacts).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
			t.Errorf("%s: the change does not pass", mark)
		}
		trimmed, err := TrimClaim(after)
		if err != nil || !reflect.DeepEqual(claimFacts(trimmed.(*corev1.PersistentVolumeClaim)), claimFacts(after)) {
			t.Errorf("%s: trimmed to %+v (%v)", mark, trimmed, err)
		}
	}
}

func TestATrimmedObjectHasTheSameFacts(t *testing.T) {
	cases := map[string]struct {
		trim  func(any) (any, error)
		facts func(any) any
	}{
		"Pod of a Job":          {TrimPod, func(object any) any { return podFacts(object.(*corev1.Pod)) }},
		"Pod":                   {TrimPod, func(object any) any { return podFacts(object.(*corev1.Pod)) }},
		"PersistentVolumeClaim": {TrimClaim, func(object any) any { return claimFacts(object.(*corev1.PersistentVolumeClaim)) }},
	}
	for kind, c := range cases {
		t.Run(kind, func(t *testing.T) {
			seen := 0
			for path, mutated := range mutations(belongings(deleted())[kind].object) {
				trimmed, err := c.trim(mutated)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := c.facts(trimmed), c.facts(mutated); !reflect.DeepEqual(got, want) {
					t.Errorf("%s is read and not kept in the cache: keep it in trim.go\ngot %+v, want %+v", path, got, want)
				}
				seen++
			}
			if seen < 40 {
				t.Errorf("only %d mutations", seen)
			}
		})
	}
}

func TestNoConditionOfAPodThatIsReadIsTrimmed(t *testing.T) {
	types := []corev1.PodConditionType{
		corev1.ContainersReady, corev1.PodInitialized, corev1.PodReady, corev1.PodScheduled, corev1.DisruptionTarget,
		corev1.PodReadyToStartContainers, corev1.PodResizePending, corev1.PodResizeInProgress,
	}
	for _, condition := range types {
		for _, is := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse} {
			for _, reason := range []string{"", corev1.PodReasonUnschedulable, corev1.PodReasonInfeasible, corev1.PodReasonDeferred, corev1.PodReasonError} {
				pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "worker"}}
				pod.DeletionTimestamp = &metav1.Time{Time: moment.Time}
				pod.Status.Phase = corev1.PodRunning
				pod.Status.Conditions = []corev1.PodCondition{{Type: condition, Status: is, Reason: reason, Message: "why", LastTransitionTime: moment}}
				trimmed, err := TrimPod(pod)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := podFacts(trimmed.(*corev1.Pod)), podFacts(pod); !reflect.DeepEqual(got, want) {
					t.Errorf("%s %s %s: got %+v, want %+v", condition, is, reason, got, want)
				}
			}
		}
	}
}

func TestAJobWithAMemberVolumeStartsAPassOfTheCluster(t *testing.T) {
	labels := map[string]string{dbv1.LabelInstance: "orders", dbv1.LabelBackupUID: "backup"}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "p", Labels: labels}}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "j", Labels: labels}}
	if len(clusterOf(t.Context(), pod)) > 0 || len(clusterOf(t.Context(), job)) > 0 {
		t.Error("a backup over the network starts a pass of the cluster")
	}
	other := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "u", Labels: map[string]string{
		dbv1.LabelInstance: "orders", dbv1.LabelClusterUID: "orders", "database.dbcluster.io/user-uid": "user"}}}
	if len(clusterOf(t.Context(), other)) > 0 {
		t.Error("a Job of another kind starts a pass of the cluster")
	}
	delete(other.Labels, "database.dbcluster.io/user-uid")
	if len(clusterOf(t.Context(), other)) != 1 {
		t.Error("a Job of the cluster starts no pass")
	}
	pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: naming.ClaimIn(naming.DataVolume, "orders", 0)},
	}}}
	trimmed, err := TrimPod(pod)
	if err != nil {
		t.Fatal(err)
	}
	job.Spec.Template.Spec.Volumes = pod.Spec.Volumes
	if len(clusterOf(t.Context(), trimmed.(*corev1.Pod))) != 1 || len(clusterOf(t.Context(), job)) != 1 {
		t.Error("a backup from a volume starts no pass of the cluster")
	}
}

func TestTheSecretWithTheCertificateOfAMemberSurvivesTrimming(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "other", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "passwords"}}},
		{Name: naming.TLSVolume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "orders-tls"}}},
	}}}
	trimmed, err := TrimPod(pod)
	if err != nil {
		t.Fatal(err)
	}
	if m := state.MemberOf(trimmed.(*corev1.Pod), 0); m.Certificate != "orders-tls" {
		t.Errorf("it has Secret %q", m.Certificate)
	}
}
