/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/backups"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

// server is a store that records its writes and can fail its calls.
type server struct {
	client.WithWatch
	reads, writes func(what string) error
	sent          []string
	log, refusal  string
	events        *events.FakeRecorder
}

var kinds = sync.OnceValues(func() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), dbv1.AddToScheme(scheme))
})

func newServer(t *testing.T, objects ...client.Object) *server {
	t.Helper()
	scheme, err := kinds()
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) error { return nil }
	s := &server{reads: none, writes: none, events: events.NewFakeRecorder(100)}
	store := fakeclient.For(scheme).WithStatusSubresource(&dbv1.DatabaseBackup{}).WithObjects(objects...).Build()
	s.WithWatch = interceptor.NewClient(store, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := s.reads(key.Name); err != nil {
				return err
			}
			return c.Get(ctx, key, object, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return s.write("create "+object.GetObjectKind().GroupVersionKind().Kind+" "+object.GetName(), func() error { return c.Create(ctx, object, options...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, configuration runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			object := configuration.(interface {
				GetKind() string
				GetName() string
			})
			return s.write("apply "+object.GetKind()+" "+object.GetName(), func() error { return c.Apply(ctx, configuration, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return s.write("patch "+object.GetName(), func() error { return c.Patch(ctx, object, patch, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			how := (&client.DeleteOptions{}).ApplyOptions(options)
			if how.Preconditions == nil || how.Preconditions.UID == nil || how.Preconditions.ResourceVersion == nil {
				t.Errorf("%s is deleted whatever it has become", object.GetName())
			}
			return s.write("delete "+object.GetName(), func() error { return c.Delete(ctx, object) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return s.write("patch "+sub, func() error { return c.SubResource(sub).Patch(ctx, object, patch, options...) })
		},
	})
	return s
}

func (s *server) write(what string, call func() error) error {
	s.sent = append(s.sent, what)
	if err := s.writes(what); err != nil {
		return err
	}
	return call()
}

// Tail is the log of a Job.
func (s *server) Tail(context.Context, string, string, string) (string, error) { return s.log, nil }

func (s *server) Refusal(context.Context, string, types.UID) (string, error) { return s.refusal, nil }
func (s *server) Unready(context.Context, string, types.UID) (string, error) { return "", nil }

func (s *server) reconciler() *Reconciler {
	return &Reconciler{TransferImage: "example.test/operator:1", Base: kit.Base{
		Cached: s, Live: s, Writer: apply.Writer{Client: s, Live: s}, Events: s.events,
		Clock: clocktesting.NewFakePassiveClock(backups.Moment), Logs: s,
	}}
}

// observed are the facts for the decisions of a pass.
func (s *server) observed(t *testing.T, backup *dbv1.DatabaseBackup, live bool) plan.BackupFacts {
	t.Helper()
	r := s.reconciler()
	observed, err := r.Observe(t.Context(), backup, r.Reading(backup, live))
	if err != nil {
		t.Fatal(err)
	}
	return observed
}

// pass runs one pass for the backup "now".
func (s *server) pass(t *testing.T) (ctrl.Result, error) {
	t.Helper()
	s.sent = nil
	return s.reconciler().Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "shop", Name: "now"}})
}

func (s *server) backup(t *testing.T) *dbv1.DatabaseBackup {
	t.Helper()
	b := &dbv1.DatabaseBackup{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "now"}, b); err != nil {
		t.Fatal(err)
	}
	return b
}

func (s *server) reported() string {
	var all []string
	for len(s.events.Events) > 0 {
		all = append(all, <-s.events.Events)
	}
	return strings.Join(all, "\n")
}

// world are the objects of a cluster of two ready members with an engine.
func world() []client.Object {
	cluster := backups.Cluster()
	cluster.Labels = map[string]string{dbv1.LabelInstance: "orders"}
	objects := []client.Object{
		cluster, backups.Engine(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "bucket"}, Data: map[string][]byte{
			"AWS_ACCESS_KEY_ID": []byte("me"), "AWS_SECRET_ACCESS_KEY": []byte("secret"),
		}},
	}
	for ordinal := range int32(2) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: naming.Member("orders", ordinal), Labels: naming.Labels(cluster, dbv1.ComponentDatabase)}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		objects = append(objects, pod)
	}
	return objects
}

// runs is the Job that backs up the first member, with its pod.
func runs() (*batchv1.Job, *corev1.Pod) {
	labels := naming.BackupJobLabels(backups.Started(), dbv1.ComponentBackup)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: naming.BackupJob("orders", backups.UID, 0), UID: "job", Labels: labels}}
	job.Status.Active = 1
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: job.Name + "-x", Labels: naming.BackupJobLabels(backups.Started(), dbv1.ComponentBackup)}}
	pod.Labels[batchv1.ControllerUidLabel] = "job"
	return job, pod
}

func TestTheFinalizerAndTheStatusComeBeforeTheFirstJob(t *testing.T) {
	s := newServer(t, append(world(), backups.Asked())...)
	for i, want := range []string{"patch now, patch status", "create Job orders-backup-1c2d3e4f-0"} {
		if _, err := s.pass(t); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.sent, ", "); got != want {
			t.Errorf("pass %d sent %s, want %s", i+1, got, want)
		}
	}
	if b := s.backup(t); !slices.Contains(b.Finalizers, dbv1.Finalizer) || b.Status.Phase != dbv1.BackupRunning {
		t.Errorf("%+v", b)
	}
}

func TestProgressIsWrittenAndASteadyStateWritesNothing(t *testing.T) {
	job, pod := runs()
	s := newServer(t, append(world(), backups.Started(), job, pod)...)
	s.log = `{"msg":"progress","bytes":1073741824,"storedBytes":5,"bytesPerSecond":1048576}` + "\n"
	for i, want := range []string{"patch status", ""} {
		result, err := s.pass(t)
		if err != nil || result.RequeueAfter != 5*time.Second {
			t.Fatal(result, err)
		}
		if got := strings.Join(s.sent, ", "); got != want {
			t.Errorf("pass %d sent %q, want %q", i+1, got, want)
		}
	}
	if b := s.backup(t); b.Status.Size != "1.0 GiB" || b.Status.Rate != "1.0 MiB/s" {
		t.Errorf("%+v", b.Status)
	}
}

func TestAProblemOfAJobIsOneWarningBeforeTheDeadline(t *testing.T) {
	const cause = "Cannot list s3://backups: the name s3 cannot be looked up: no such host."
	verifies, goes := backups.Completed(), backups.Completed()
	verifies.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning}
	goes.DeletionTimestamp, goes.Spec.DeletionPolicy = &metav1.Time{Time: backups.Moment}, dbv1.BackupDelete
	for name, backup := range map[string]*dbv1.DatabaseBackup{
		naming.BackupJob("orders", backups.UID, 0):                 backups.Started(),
		naming.VerificationJob("orders", backups.UID, "please", 0): verifies,
		naming.BackupDeletionJob("orders", types.UID(backups.UID)): goes,
	} {
		job, pod := runs()
		job.Name = name
		switch backup {
		case verifies:
			job.Labels = naming.BackupJobLabels(backup, dbv1.ComponentVerification)
		case goes:
			job.Labels = naming.BackupJobLabels(backup, dbv1.ComponentBackupDeletion)
		}
		pod.Status.Phase = corev1.PodFailed
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: naming.ActionContainer, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 11, Message: `{"reason":"DestinationUnreachable","message":"` + cause + `"}`},
		}}}
		s := newServer(t, append(world(), backup, job, pod, policyAround(t, verifies))...)
		for pass, want := range []int{1, 0} {
			if _, err := s.pass(t); err != nil {
				t.Fatal(err)
			}
			if got := s.reported(); strings.Count(got, "Warning JobRetrying Kubernetes retries Job "+name+": "+cause) != want {
				t.Errorf("pass %d reported %q", pass+1, got)
			}
		}
	}
}

func TestThePolicyOfEndedCopiesIsDeletedBeforeTheirJobsIfTheBackupOwnsIt(t *testing.T) {
	backup := backups.Completed()
	backup.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning}
	policy := policyAround(t, backup)
	backup.Status.Verification.Phase = dbv1.VerificationSucceeded
	job, _ := runs()
	job.Name, job.Labels = naming.VerificationJob("orders", backups.UID, "please", 0), naming.BackupJobLabels(backup, dbv1.ComponentVerification)
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	for owner, want := range map[string][]string{
		backups.UID: {"delete " + policy.Name, "delete " + job.Name},
		"another":   {"delete " + job.Name},
	} {
		theirs := policy.DeepCopy()
		theirs.Labels[dbv1.LabelBackupUID] = owner
		s := newServer(t, append(world(), backup.DeepCopy(), job.DeepCopy(), theirs)...)
		if _, err := s.pass(t); err != nil || !slices.Equal(s.sent[:len(want)], want) {
			t.Errorf("the policy of %s: sent %q, %v", owner, s.sent, err)
		}
	}
}

// policyAround is the operator's policy of the copies of a backup.
func policyAround(t *testing.T, backup *dbv1.DatabaseBackup) *networkingv1.NetworkPolicy {
	t.Helper()
	policy := &networkingv1.NetworkPolicy{}
	apply, _ := operation.Find[operation.Apply](plan.For(backup, plan.BackupFacts{At: backups.Moment, Isolates: true}).Operations)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(apply.Object.Object, policy); err != nil {
		t.Fatal(err)
	}
	return policy
}

func TestACopyRunsTheImageAndTheEngineOfTheBackup(t *testing.T) {
	verified := backups.Completed()
	verified.Annotations = map[string]string{dbv1.AnnotationVerify: "please"}
	objects := append(world(), verified)
	for _, o := range objects {
		if cluster, is := o.(*dbv1.DatabaseCluster); is {
			cluster.Spec.Image, cluster.Spec.Engine = "example.test/ledger:2", "ledger-v2"
		}
	}
	verified.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning}
	s := newServer(t, objects...)
	observed := s.observed(t, verified, true)
	todo := plan.For(verified, observed)
	create, makes := operation.Find[operation.Create](todo.Operations)
	if !makes {
		t.Fatalf("got %+v", todo)
	}
	job := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(create.Objects[0].Object.Object, job); err != nil {
		t.Fatal(err)
	}
	pod := job.Spec.Template.Spec
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		if c.Image != "example.test/ledger:1" && c.Image != "example.test/operator:1" {
			t.Errorf("container %s runs %s", c.Name, c.Image)
		}
	}
	if observed.Engine.Name != "ledger-v1" || observed.Diverged != `engine "ledger-v2" and image "example.test/ledger:2"` {
		t.Errorf("engine %+v, since %q", observed.Engine, observed.Diverged)
	}
}

func TestAFailedReadDoesNotMeanAbsent(t *testing.T) {
	for _, what := range []string{"orders", "ledger-v1", "bucket"} {
		s := newServer(t, append(world(), backups.Asked())...)
		s.reads = func(name string) error {
			if name == what {
				return apierrors.NewInternalError(errors.New("out of order"))
			}
			return nil
		}
		if _, err := s.pass(t); err == nil || len(s.sent) > 0 {
			t.Errorf("%s cannot be read: %v, sent %v", what, err, s.sent)
		}
	}
}

func TestAJobOfAnotherOwnerIsReportedAndNotChanged(t *testing.T) {
	foreign, _ := runs()
	foreign.Labels = map[string]string{dbv1.LabelBackupUID: "another"}
	s := newServer(t, append(world(), backups.Started(), foreign)...)
	result, err := s.pass(t)
	if err != nil || result.RequeueAfter != kit.ForeignDelay {
		t.Fatal(result, err)
	}
	c := meta.FindStatusCondition(s.backup(t).Status.Conditions, dbv1.ConditionStalled)
	if c.Reason != dbv1.ReasonNameConflict || c.Message != "Job orders-backup-1c2d3e4f-0 exists but does not belong to this DatabaseBackup: delete it" {
		t.Errorf("%+v", c)
	}
	if got := s.reported(); !strings.Contains(got, "Warning NameConflict") {
		t.Error(got)
	}
}

func TestAJobWithoutItsLabelIsReportedAndNotAwaitedForever(t *testing.T) {
	job, _ := runs()
	delete(job.Labels, dbv1.LabelManagedBy)
	s := newServer(t, append(world(), backups.Started(), job)...)
	result, err := s.pass(t)
	c := meta.FindStatusCondition(s.backup(t).Status.Conditions, dbv1.ConditionStalled)
	if err != nil || result.RequeueAfter != kit.ForeignDelay || c == nil || c.Reason != dbv1.ReasonNameConflict {
		t.Error(result, err, c)
	}
}

func TestMembersAdoptedFromThePreviousClusterAreBackedUpToo(t *testing.T) {
	for name, set := range map[string]string{"ours": "0a1b2c3d", "somebody else's": "other"} {
		t.Run(name, func(t *testing.T) {
			objects := append(world(), backups.Started(), &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: "orders", UID: "set", OwnerReferences: []metav1.OwnerReference{{UID: types.UID(set), Controller: new(true)}},
			}})
			for _, o := range objects {
				if strings.HasPrefix(o.GetName(), "orders-") {
					o.GetLabels()[dbv1.LabelClusterUID] = "earlier"
					o.SetOwnerReferences([]metav1.OwnerReference{{UID: "set", Controller: new(true)}})
				}
			}
			s := newServer(t, objects...)
			_, err := s.pass(t)
			if made := slices.Contains(s.sent, "create Job orders-backup-1c2d3e4f-0"); err != nil || made != (name == "ours") {
				t.Error(err, s.sent)
			}
		})
	}
}

func TestNoVolumeIsMountedBeforeTheStatefulSetControllerObservedZeroReplicas(t *testing.T) {
	objects := world()
	cluster := objects[0].(*dbv1.DatabaseCluster)
	cluster.DeletionTimestamp, cluster.Finalizers = &metav1.Time{Time: backups.Moment}, []string{dbv1.Finalizer}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "set", Generation: 2}}
	set.OwnerReferences = []metav1.OwnerReference{{UID: cluster.UID, Controller: new(true)}}
	set.Spec.Replicas, set.Status.ObservedGeneration = new(int32(0)), 1
	objects = slices.DeleteFunc(objects, func(o client.Object) bool { return strings.HasPrefix(o.GetName(), "orders-") })
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data-orders-0"}}
	s := newServer(t, append(objects, backups.Started(), set, claim)...)
	if _, err := s.pass(t); err != nil || slices.ContainsFunc(s.sent, func(what string) bool { return strings.HasPrefix(what, "apply") }) {
		t.Error(err, s.sent)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
		t.Fatal(err)
	}
	set.Status.ObservedGeneration = 2
	if err := s.Status().Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if _, err := s.pass(t); err != nil || !slices.Contains(s.sent, "create Job orders-backup-1c2d3e4f-0") {
		t.Error(err, s.sent)
	}
}

func TestTheVolumeOfTheLastPrimaryIsReadAlsoIfItsMemberWasRemoved(t *testing.T) {
	objects := world()
	cluster := objects[0].(*dbv1.DatabaseCluster)
	cluster.DeletionTimestamp, cluster.Finalizers = &metav1.Time{Time: backups.Moment}, []string{dbv1.Finalizer}
	objects = slices.DeleteFunc(objects, func(o client.Object) bool { return strings.HasPrefix(o.GetName(), "orders-") })
	for _, ordinal := range []int32{0, 7} {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: naming.ClaimIn(naming.DataVolume, "orders", ordinal)}}
		claim.Annotations = map[string]string{dbv1.AnnotationPrimary: "orders-7", dbv1.AnnotationPrimaryTerm: state.Extent{}.Term()}
		objects = append(objects, claim)
	}
	s := newServer(t, append(objects, backups.Started())...)
	observed := s.observed(t, backups.Started(), true)
	if last, found := observed.Volumes["data-orders-7"]; !found || last.Ordinal != 7 {
		t.Error(observed.Volumes)
	}
}

func TestNoVolumeIsMountedThatMayBelongToAForeignStatefulSet(t *testing.T) {
	for label, mounted := range map[string]bool{"": false, "0a1b2c3d": true} {
		objects := world()
		cluster := objects[0].(*dbv1.DatabaseCluster)
		cluster.DeletionTimestamp, cluster.Finalizers = &metav1.Time{Time: backups.Moment}, []string{dbv1.Finalizer}
		objects = slices.DeleteFunc(objects, func(o client.Object) bool { return strings.HasPrefix(o.GetName(), "orders-") })
		set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "set"}}
		set.Spec.Replicas = new(int32(0))
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data-orders-0"}}
		claim.Labels = map[string]string{dbv1.LabelClusterUID: label}
		s := newServer(t, append(objects, backups.Started(), set, claim)...)
		_, err := s.pass(t)
		if made := slices.Contains(s.sent, "create Job orders-backup-1c2d3e4f-0"); err != nil || made != mounted {
			t.Errorf("label %q: %v, %q, %+v", label, err, s.sent, s.backup(t).Status)
		}
	}
}

func TestARejectionByTheAPIServerIsReportedAndAConflictIsNot(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "x", errors.New("exceeded quota"))
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "jobs"}, "x", errors.New("changed"))
	for _, answer := range []error{forbidden, conflict} {
		s := newServer(t, append(world(), backups.Started())...)
		s.writes = func(what string) error {
			if strings.HasPrefix(what, "create Job") {
				return answer
			}
			return nil
		}
		result, err := s.pass(t)
		c := meta.FindStatusCondition(s.backup(t).Status.Conditions, dbv1.ConditionStalled)
		if apierrors.IsConflict(answer) {
			if err != nil || result.RequeueAfter != kit.ConflictDelay || c != nil {
				t.Error(result, err, c)
			}
			continue
		}
		if err == nil || c == nil || c.Reason != dbv1.ReasonRefused || !strings.Contains(c.Message, "exceeded quota") {
			t.Error(err, c)
		}
	}
}

func TestInATerminatingNamespaceTheDataIsRetainedAndTheBackupDeleted(t *testing.T) {
	b := backups.Completed()
	b.Finalizers, b.Spec.DeletionPolicy = []string{dbv1.Finalizer, "somebody.else/too"}, dbv1.BackupDelete
	b.DeletionTimestamp = &metav1.Time{Time: backups.Moment}
	s := newServer(t, append(world(), b)...)
	s.writes = func(what string) error {
		if !strings.HasPrefix(what, "create Job") {
			return nil
		}
		err := apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "x", errors.New("it is being terminated"))
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		return err
	}
	if _, err := s.pass(t); err != nil {
		t.Fatal(err)
	}
	if left := s.backup(t).Finalizers; len(left) != 1 || left[0] != "somebody.else/too" {
		t.Errorf("finalizers %v", left)
	}
	if got := s.reported(); !strings.Contains(got, "Warning DataRetained") || !strings.Contains(got, b.Status.Location) {
		t.Error(got)
	}
}

func TestADeletionRunsItsJobsAndRemovesTheFinalizerLast(t *testing.T) {
	job, pod := runs()
	b := backups.Started()
	b.DeletionTimestamp = &metav1.Time{Time: backups.Moment}
	s := newServer(t, append(world(), b, job, pod)...)
	step := func(want string) {
		t.Helper()
		if _, err := s.pass(t); err != nil {
			t.Fatal(err)
		}
		writes := slices.DeleteFunc(slices.Clone(s.sent), func(what string) bool { return what == "patch status" })
		if got := strings.Join(writes, ", "); got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
	step("delete orders-backup-1c2d3e4f-0")
	step("") // its pod stops
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase = corev1.PodFailed
	if err := s.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	step("create Job orders-unbackup-1c2d3e4f")
	step("")
	deletes := &batchv1.Job{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "orders-unbackup-1c2d3e4f"}, deletes); err != nil {
		t.Fatal(err)
	}
	deletes.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	if err := s.Status().Update(t.Context(), deletes); err != nil {
		t.Fatal(err)
	}
	step("patch now, delete orders-unbackup-1c2d3e4f")
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(b), b); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestNoTwoPodsWriteOneBackupOrUseOneVolume(t *testing.T) {
	_, left := runs()
	debug := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "debug"}}
	debug.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-orders-0"},
	}}}
	for name, c := range map[string]struct {
		pod      *corev1.Pod
		deleting bool
	}{"a pod whose Job was deleted": {left, false}, "a pod of another owner at the volume": {debug, true}} {
		t.Run(name, func(t *testing.T) {
			objects := append(world(), backups.Started(), c.pod)
			if c.deleting {
				cluster := objects[0].(*dbv1.DatabaseCluster)
				cluster.DeletionTimestamp, cluster.Finalizers = &metav1.Time{Time: backups.Moment}, []string{dbv1.Finalizer}
				objects = slices.DeleteFunc(objects, func(o client.Object) bool { return strings.HasPrefix(o.GetName(), "orders-") && o != c.pod })
				objects = append(objects, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data-orders-0"}})
			}
			s := newServer(t, objects...)
			if _, err := s.pass(t); err != nil || len(s.sent) != 1 || !strings.Contains(s.backup(t).Status.Message, "waiting for pod "+c.pod.Name+" to terminate") {
				t.Fatalf("%v %v %q", err, s.sent, s.backup(t).Status.Message)
			}
			ended := &corev1.Pod{}
			if err := s.Get(t.Context(), client.ObjectKeyFromObject(c.pod), ended); err != nil {
				t.Fatal(err)
			}
			ended.Status.Phase = corev1.PodFailed
			if err := s.Status().Update(t.Context(), ended); err != nil {
				t.Fatal(err)
			}
			if _, err := s.pass(t); err != nil || len(s.sent) == 0 || s.sent[0] != "create Job orders-backup-1c2d3e4f-0" {
				t.Fatalf("%v %v", err, s.sent)
			}
		})
	}
}
