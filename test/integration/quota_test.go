//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// limited creates a quota in a namespace. It refuses every pod without resource requests and limits.
func limited(t *testing.T, ns, cpu, memory string) {
	t.Helper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "compute"}}
	quota.Spec.Hard = corev1.ResourceList{
		corev1.ResourceLimitsCPU: resource.MustParse(cpu), corev1.ResourceLimitsMemory: resource.MustParse(memory),
		corev1.ResourceRequestsCPU: resource.MustParse(cpu), corev1.ResourceRequestsMemory: resource.MustParse(memory),
	}
	create(t, quota)
	await(t, quota, "the quota to be in force", func() bool { return len(quota.Status.Hard) > 0 })
}

func TestABackupCompletesInANamespaceWithAQuotaAndWithoutALimitRange(t *testing.T) {
	parallel(t)
	cluster := safe(t, "ledger-quota", yields)
	limited(t, cluster.Namespace, "3", "3Gi")
	awaitPhase(t, backup(t, cluster, "now", dbv1.BackupRetain), dbv1.BackupCompleted, "")
}

func TestABackupOverQuotaReportsItAndCompletesWithSmallerRequests(t *testing.T) {
	parallel(t)
	cluster := safe(t, "ledger-refused", yields)
	limited(t, cluster.Namespace, "1", "3Gi")
	b := backup(t, cluster, "now", dbv1.BackupRetain)
	b = awaitPhase(t, b, dbv1.BackupRunning, "exceeded quota: compute")
	awaitEvent(t, b, corev1.EventTypeWarning, dbv1.ReasonJobBlocked, "exceeded quota: compute")
	if is := meta.FindStatusCondition(b.Status.Conditions, dbv1.ConditionStalled); is == nil || is.Reason != dbv1.ReasonJobBlocked {
		t.Errorf("%+v", is)
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Backup.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
	})
	awaitPhase(t, b, dbv1.BackupCompleted, "")
}

// A quota without a LimitRange refuses each pod that has a container without requests and limits. So a Job that
// finishes had a pod whose containers all have both.
func TestEveryKindOfJobRunsInANamespaceWithAQuotaAndWithoutALimitRange(t *testing.T) {
	parallel(t)
	everyKindOfJobRuns(t, "ledger-all-jobs", func(ns string) { limited(t, ns, "8", "8Gi") })
}

// bounded creates a LimitRange for containers.
func bounded(t *testing.T, ns string, least, most corev1.ResourceList) *corev1.LimitRange {
	t.Helper()
	bounds := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "bounds"}}
	bounds.Spec.Limits = []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Min: least, Max: most}}
	create(t, bounds)
	return bounds
}

func quantities(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// The API server refuses each pod that has a container outside the bounds, and members are within them.
func TestEveryClusterStartsWithinTheLimitRangeOfItsNamespace(t *testing.T) {
	parallel(t)
	everyKindOfJobRuns(t, "ledger-bounded-jobs", func(ns string) {
		bounded(t, ns, quantities("50m", "64Mi"), quantities("1", "512Mi"))
		limited(t, ns, "4", "4Gi")
	})
}

// A LimitRange that is newer than the Job, or that the operator may not list, refuses the pod.
func TestAJobOutsideALimitRangeStartsWithTheFieldThatItsMessageNames(t *testing.T) {
	parallel(t)
	declared := ledger(t, "tls-bounds-v1")
	declared.Spec.Actions.Reload, declared.Spec.SecretKeys = &dbv1.EngineAction{Command: []string{"reload"}}, nil
	declared.Spec.TLS = &dbv1.EngineTLS{Modes: []dbv1.TLSMode{dbv1.TLSRequire}}
	create(t, declared)
	c := started(t, withTLSOf(declared.Name), reloading)
	awaitTrue(t, c, dbv1.ConditionTLSReady, dbv1.ReasonCertificateServed)
	served := c.Status.TLS.Served
	change(t, c, func(c *dbv1.DatabaseCluster) {
		c.Spec.Helpers.Resources = corev1.ResourceRequirements{Requests: quantities("10m", "32Mi"), Limits: quantities("20m", "64Mi")}
	})
	limited(t, c.Namespace, "10m", "3Gi") // the Job is created while a quota refuses its pod
	annotate(t, c, dbv1.AnnotationRenewCertificate, "now")
	awaitTrue(t, c, dbv1.ConditionStalled, dbv1.ReasonReloadFailed, "exceeded quota: compute", "reduce spec.helpers.resources of the DatabaseCluster")
	bounded(t, c.Namespace, quantities("50m", "64Mi"), quantities("1", "512Mi"))
	remove(t, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "compute"}})
	awaitTrue(t, c, dbv1.ConditionStalled, dbv1.ReasonReloadFailed, "minimum cpu usage per Container is 50m",
		"Correct the LimitRange, or set spec.helpers.resources of the DatabaseCluster within its bounds")
	change(t, c, func(c *dbv1.DatabaseCluster) {
		c.Spec.Helpers.Resources = corev1.ResourceRequirements{Requests: quantities("50m", "64Mi"), Limits: quantities("100m", "64Mi")}
	})
	await(t, c, "members to serve the renewed certificate", func() bool { return c.Status.TLS.Served != served })
}

func withTLSOf(engine string) func(*dbv1.DatabaseCluster) {
	return withTLS(engine, dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}})
}

func everyKindOfJobRuns(t *testing.T, engine string, restrict func(ns string)) {
	t.Helper()
	declared := ledger(t, engine)
	declared.Spec.Actions.Probe, declared.Spec.Actions.Reload = &dbv1.EngineAction{Command: []string{"ledger", "probe"}}, &dbv1.EngineAction{Command: []string{"reload"}}
	declared.Spec.Actions.Credentials = &dbv1.EngineAction{Command: []string{"ledger", "credentials"}}
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{}}}
	declared.Spec.TLS = &dbv1.EngineTLS{Modes: []dbv1.TLSMode{dbv1.TLSRequire}}
	create(t, declared)
	ns := namespace(t)
	restrict(ns)
	create(t, keys(ns, "bucket"))
	seen := &sync.Map{}
	kubelet(t, ns, func(pod *corev1.Pod) {
		component := pod.Labels[dbv1.LabelComponent]
		seen.Store(component, true)
		switch {
		case component == dbv1.ComponentDatabase:
			healthy(pod)
		case pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning:
			exits(pod, 0, map[string]string{
				dbv1.ComponentBackup: backedUp, dbv1.ComponentRestore: `{"bytes":100}`, dbv1.ComponentVerification: `{"output":{"role":"primary"},"reason":"","message":""}`,
			}[component])
		}
	})
	cluster := func(name string) *dbv1.DatabaseCluster {
		c := smallest(ns, name)
		c.Spec.Engine, c.Spec.Replicas = declared.Name, 1
		c.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("256Mi")}
		c.Spec.Backup = &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: "s3://backups/prod", Endpoint: "http://s3.example.test:7070", CredentialsSecretName: "bucket"}}
		return c
	}
	first := cluster("orders")
	withHook(first)
	first.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}
	create(t, first)
	awaitReady(t, first)
	// These Jobs have the resources that the remedy of a refusal names.
	annotate(t, first, dbv1.AnnotationRotateCredentials, "now")
	awaitTrue(t, first, dbv1.ConditionCredentialsRotated, dbv1.ReasonRotated, "the passwords are in force")
	served := first.Status.TLS.Served
	annotate(t, first, dbv1.AnnotationRenewCertificate, "now")
	await(t, first, "members to serve the renewed certificate", func() bool { return first.Status.TLS.Served != served })
	b := awaitPhase(t, backup(t, first, "now", dbv1.BackupDelete), dbv1.BackupCompleted, "")
	change(t, b, func(b *dbv1.DatabaseBackup) { b.Annotations = map[string]string{dbv1.AnnotationVerify: "now"} })
	await(t, b, "the verification to succeed", func() bool {
		return b.Status.Verification != nil && b.Status.Verification.Phase == dbv1.VerificationSucceeded
	})
	second := cluster("copies")
	second.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: b.Name}}
	create(t, second)
	awaitReady(t, second)
	remove(t, b)
	awaitDeleted(t, b)
	remove(t, first)
	awaitDeleted(t, first)
	for _, component := range []string{
		dbv1.ComponentBackup, dbv1.ComponentVerification, dbv1.ComponentRestore, dbv1.ComponentBackupDeletion, dbv1.ComponentHook, dbv1.ComponentRotation, dbv1.ComponentReload,
	} {
		if _, ran := seen.Load(component); !ran {
			t.Errorf("no pod of a %s ran", component)
		}
	}
}

func TestAReloadOverQuotaStartsWithTheResourcesThatItsMessageNames(t *testing.T) {
	parallel(t)
	declared := ledger(t, "tls-quota-v1")
	declared.Spec.Actions.Reload, declared.Spec.SecretKeys = &dbv1.EngineAction{Command: []string{"reload"}}, nil
	declared.Spec.TLS = &dbv1.EngineTLS{Modes: []dbv1.TLSMode{dbv1.TLSRequire}}
	create(t, declared)
	c := started(t, withTLSOf(declared.Name), reloading)
	awaitTrue(t, c, dbv1.ConditionTLSReady, dbv1.ReasonCertificateServed)
	served := c.Status.TLS.Served
	limited(t, c.Namespace, "1", "3Gi")
	annotate(t, c, dbv1.AnnotationRenewCertificate, "now")
	awaitTrue(t, c, dbv1.ConditionStalled, dbv1.ReasonReloadFailed, "exceeded quota: compute",
		"Increase the ResourceQuota, or reduce spec.helpers.resources of the DatabaseCluster")
	change(t, c, func(c *dbv1.DatabaseCluster) {
		c.Spec.Helpers.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}
	})
	await(t, c, "members to serve the renewed certificate", func() bool { return c.Status.TLS.Served != served })
}
