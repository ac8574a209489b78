//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/config/admission"
)

func protected(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Protection = true }

func unprotected(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Protection = false }

// mustBeRefused attempts a deletion that the API server must refuse with a message of these parts. A new policy is
// not in force at once; until then only a dry run is safe.
func mustBeRefused(t *testing.T, what string, remove func(...client.DeleteOption) error, parts ...string) {
	t.Helper()
	eventually(t, what+" to be protected", func() error {
		err := remove(client.DryRunAll)
		return errorIf(!apierrors.IsForbidden(err), "got %w, want Forbidden", err)
	})
	err := remove()
	if !apierrors.IsForbidden(err) {
		t.Fatalf("%s: got %v, want Forbidden", what, err)
	}
	mustContain(t, err.Error(), parts...)
	t.Log(err)
}

func deleting(t *testing.T, object client.Object) func(...client.DeleteOption) error {
	return func(options ...client.DeleteOption) error { return admin.Delete(t.Context(), object, options...) }
}

// awaitLabels waits until all claims of a cluster have a value of the protection label, and returns them.
func awaitLabels(t *testing.T, cluster *dbv1.DatabaseCluster, want string, count int) []corev1.PersistentVolumeClaim {
	t.Helper()
	claims := &corev1.PersistentVolumeClaimList{}
	eventually(t, fmt.Sprintf("%d claims with protection %q", count, want), func() error {
		if err := admin.List(t.Context(), claims, client.InNamespace(cluster.Namespace)); err != nil {
			return err
		}
		found := []string{}
		for _, claim := range claims.Items {
			if claim.Labels[dbv1.LabelInstance] != cluster.Name || claim.Labels[dbv1.LabelManagedBy] != dbv1.LabelManagedByValue {
				t.Fatalf("%s has lost its other labels: %v", claim.Name, claim.Labels)
			}
			if claim.Labels[dbv1.LabelProtected] == want {
				found = append(found, claim.Name)
			}
		}
		return errorIf(len(found) != count || len(claims.Items) != count, "%v of %d", found, len(claims.Items))
	})
	return claims.Items
}

// A user cannot delete a protected cluster or its volumes, and can delete both after protection is disabled.
func TestAProtectedClusterAndItsVolumesCannotBeDeleted(t *testing.T) {
	parallel(t)
	cluster := started(t, protected, healthy)
	awaitTrue(t, cluster, dbv1.ConditionProtectionEnforced, dbv1.ReasonPoliciesInPlace, "until spec.deletion.protection is false")
	claims := awaitLabels(t, cluster, "true", 3)

	ns, name := cluster.Namespace, cluster.Name
	mustBeRefused(t, "the cluster", deleting(t, cluster), "DatabaseCluster "+ns+"/orders is protected by spec.deletion.protection",
		"kubectl -n "+ns+` patch databasecluster orders --type=merge -p '{"spec":{"deletion":{"protection":false}}}'`)
	mustBeRefused(t, "every cluster of the namespace", func(o ...client.DeleteOption) error {
		options := []client.DeleteAllOfOption{client.InNamespace(ns)}
		if len(o) > 0 {
			options = append(options, client.DryRunAll)
		}
		return admin.DeleteAllOf(t.Context(), &dbv1.DatabaseCluster{}, options...)
	}, "is protected")
	mustBeRefused(t, "a claim", deleting(t, &claims[0]), "PersistentVolumeClaim "+ns+"/data-orders-0 contains the data of DatabaseCluster "+name+", which is protected",
		"kubectl -n "+ns+" label persistentvolumeclaim data-orders-0 database.dbcluster.io/protected-")

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 2 })
	awaitReady(t, cluster)
	mustBeRefused(t, "the claim of a member that is no more", deleting(t, &claims[2]), "is protected")
	change(t, &claims[1], func(c *corev1.PersistentVolumeClaim) { delete(c.Labels, dbv1.LabelProtected) })
	awaitLabels(t, cluster, "true", 3)

	change(t, cluster, unprotected)
	awaitLabels(t, cluster, "", 3)
	awaitCondition(t, cluster, dbv1.ConditionProtectionEnforced, "False", dbv1.ReasonNotProtected)
	if err := admin.Delete(t.Context(), &claims[2]); err != nil {
		t.Error(err)
	}
	remove(t, cluster)
	awaitDeleted(t, cluster)
}

// No pass runs between the change and the deletion: the deletion itself unprotects the claims.
func TestADeletionRightAfterProtectionEndsUnprotectsTheClaims(t *testing.T) {
	parallel(t)
	cluster := started(t, protected, healthy)
	awaitLabels(t, cluster, "true", 3)
	change(t, cluster, unprotected)
	eventually(t, "the API server to accept the deletion", func() error { return admin.Delete(t.Context(), cluster) })
	awaitDeleted(t, cluster)
	awaitLabels(t, cluster, "", 3)
}

// A namespace is terminating until its cluster is no longer protected.
func TestANamespaceTerminatesUntilItsClusterIsUnprotected(t *testing.T) {
	parallel(t)
	cluster := started(t, protected, healthy)
	awaitLabels(t, cluster, "true", 3)
	mustBeRefused(t, "the cluster", deleting(t, cluster), "is protected")
	ns := deleteNamespace(t, cluster.Namespace)
	await(t, ns, "the namespace to report why it is terminating", func() bool {
		return slices.ContainsFunc(ns.Status.Conditions, func(c corev1.NamespaceCondition) bool {
			return c.Type == corev1.NamespaceDeletionContentFailure && c.Status == "True" && strings.Contains(c.Message, "is protected")
		})
	})
	if read(t, cluster).DeletionTimestamp != nil {
		t.Error("the cluster was deleted")
	}
	awaitLabels(t, cluster, "true", 3)

	change(t, cluster, unprotected)
	awaitDeleted(t, cluster)
	awaitLabels(t, cluster, "", 0)
}

// A deletion that was admitted before the policies were in force is blocked.
func TestTheDeletionOfAProtectedClusterIsBlocked(t *testing.T) {
	parallel(t)
	finish := make(chan struct{})
	cluster := started(t, withHook, untilFinished(finish))
	before := uids(t, cluster)
	remove(t, cluster)
	awaitCondition(t, cluster, dbv1.ConditionDeletionBlocked, "False", dbv1.ReasonHookRunning)

	change(t, cluster, protected)
	awaitTrue(t, cluster, dbv1.ConditionDeletionBlocked, dbv1.ReasonProtected, "The operator stops no member and deletes nothing", "set spec.deletion.protection to false")
	claims := awaitLabels(t, cluster, "true", 3)
	mustBeRefused(t, "a claim", deleting(t, &claims[0]), "is protected")
	close(finish)
	job := hookJob(cluster)
	await(t, job, "the hook to end", func() bool { return job.Status.Succeeded > 0 })
	mustNotBeRestarted(t, cluster, before)

	change(t, cluster, unprotected)
	awaitDeleted(t, cluster)
	awaitLabels(t, cluster, "", 3)
}

// untilFinished makes members ready, and keeps hooks running until a channel is closed.
func untilFinished(finish chan struct{}) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		select {
		case <-finish:
			healthy(pod)
		default:
			if healthy(pod); pod.Labels[dbv1.LabelComponent] == dbv1.ComponentHook {
				pod.Status.Phase = corev1.PodRunning
			}
		}
	}
}

// touch triggers a pass for a cluster.
func touch(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, dbv1.AnnotationRefresh, fmt.Sprint(time.Now().UnixNano()))
	})
}

// A new leader creates the missing policies and does not change the existing ones.
func TestTheLeaderCreatesMissingPolicies(t *testing.T) {
	objects, err := admission.Objects()
	if err != nil {
		t.Fatal(err)
	}
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return !strings.Contains(o.GetName(), "-protected-") })
	cluster := created(t, protected)
	kubelet(t, cluster.Namespace, healthy)
	awaitTrue(t, cluster, dbv1.ConditionProtectionEnforced, dbv1.ReasonPoliciesInPlace)

	policy, binding := read(t, objects[0].DeepCopy()), read(t, objects[1].DeepCopy())
	change(t, objects[2].DeepCopy(), func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"somebody": "else"}) })
	change(t, objects[3].DeepCopy(), func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedStringSlice(o.Object, []string{"Audit"}, "spec", "validationActions")
	})
	for _, object := range []client.Object{binding, policy} {
		remove(t, object)
	}
	touch(t, cluster)
	is := awaitCondition(t, cluster, dbv1.ConditionProtectionEnforced, "False", dbv1.ReasonPoliciesMissing)
	mustContain(t, is.Message, "missing ValidatingAdmissionPolicy "+policy.GetName(), "Deny in ValidatingAdmissionPolicyBinding "+objects[3].GetName(),
		"--install-admission-policies")

	p := operator(t, kubeconfig(t, operatorUser, ""), nil, "--watch-namespace="+ownNamespace(t))
	for _, object := range []client.Object{objects[0].DeepCopy(), objects[1].DeepCopy()} {
		eventually(t, object.GetName(), func() error { return admin.Get(t.Context(), client.ObjectKeyFromObject(object), object) })
	}
	p.mustStop(t)
	if output := p.output(t); strings.Contains(output, "in API group") || strings.Contains(output, "left out") {
		t.Errorf("a right is missing:\n%s", output)
	}
	if left := read(t, objects[2].DeepCopy()); left.GetLabels()["somebody"] != "else" {
		t.Error("the operator changed an existing policy")
	}
	if left := read(t, objects[3].DeepCopy()); !containsAll(fmt.Sprint(left.Object["spec"]), "Audit") {
		t.Error("the operator changed an existing binding")
	}
	change(t, objects[3].DeepCopy(), func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedStringSlice(o.Object, []string{"Deny"}, "spec", "validationActions")
	})
	touch(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionProtectionEnforced, dbv1.ReasonPoliciesInPlace)
	mustBeRefused(t, "the cluster", deleting(t, cluster), "is protected")
	change(t, cluster, unprotected)
}

// Rights in a namespace do not include the policies: the operator continues without them and reports that.
func TestAnOperatorWithoutTheRightToReadPoliciesReportsIt(t *testing.T) {
	parallel(t)
	ns := ownNamespace(t)
	user := "system:serviceaccount:" + ns + ":operator"
	allowIn(t, ns, user, managerRole)
	p := operator(t, kubeconfig(t, user, ""), []string{"WATCH_NAMESPACE=" + ns})
	cluster := smallest(ns, "orders")
	protected(cluster)
	create(t, cluster)
	kubelet(t, ns, healthy)
	awaitReady(t, cluster)
	is := awaitCondition(t, cluster, dbv1.ConditionProtectionEnforced, "False", dbv1.ReasonPoliciesMissing)
	mustContain(t, is.Message, "the operator is not allowed to read ValidatingAdmissionPolicy databasecluster-operator-protected-clusters. Grant the operator this permission")
	awaitLabels(t, cluster, "true", 3)
	p.mustStop(t)
	mustContain(t, p.output(t), "skipped: the operator is not allowed to read or create the object")
	change(t, cluster, unprotected)
}

// Deleting a CRD would delete all its objects, protected or not.
func TestTheCRDsCannotBeDeletedWithoutConfirmation(t *testing.T) {
	parallel(t)
	for _, d := range definitions(t) {
		plural := d.Spec.Names.Plural
		t.Run(plural, func(t *testing.T) {
			crd := definition(plural)
			mustBeRefused(t, plural, deleting(t, crd), "deleting CustomResourceDefinition "+plural+".database.dbcluster.io deletes every Database",
				"kubectl annotate customresourcedefinition "+plural+".database.dbcluster.io database.dbcluster.io/allow-deletion=true")
			if err := admin.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
				t.Fatal(err)
			}
			annotate := func(value string) {
				change(t, crd, func(o *unstructured.Unstructured) {
					o.SetAnnotations(map[string]string{dbv1.AnnotationAllowDeletion: value})
				})
			}
			annotate("false")
			mustBeRefused(t, plural, deleting(t, crd), "annotate")
			annotate("true")
			defer annotate("")
			if err := admin.Delete(t.Context(), crd, client.DryRunAll); err != nil {
				t.Errorf("the API server refused a confirmed deletion: %v", err)
			}
		})
	}
}

func definition(plural string) *unstructured.Unstructured {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	crd.SetName(plural + "." + dbv1.GroupVersion.Group)
	return crd
}
