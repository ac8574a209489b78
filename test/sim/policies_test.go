/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/sample"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

const (
	costCenter = "policies.example.test/cost-center"
	lastWriter = "policies.example.test/last-change"
	injected   = "injected"
)

// meddle is what policies of others do to an object that is created or updated: labels and annotations of costs, tolerations, and a
// sidecar. They also change the templates of pods.
func meddle(before, after client.Object) {
	labels, annotations := maps.Clone(after.GetLabels()), maps.Clone(after.GetAnnotations())
	after.SetLabels(with(labels, costCenter, "shop"))
	after.SetAnnotations(with(annotations, lastWriter, after.GetResourceVersion()))
	switch object := after.(type) {
	case *corev1.Pod:
		if before == nil {
			object.Spec.Tolerations = append(object.Spec.Tolerations, corev1.Toleration{Key: "spot", Operator: corev1.TolerationOpExists})
			object.Spec.Containers = append(object.Spec.Containers, corev1.Container{Name: injected, Image: "proxy:1"})
		}
	case *appsv1.StatefulSet:
		object.Spec.Template.Labels = with(object.Spec.Template.Labels, costCenter, "shop")
	case *batchv1.Job:
		if before == nil {
			object.Spec.Template.Labels = with(object.Spec.Template.Labels, costCenter, "shop")
		}
	}
}

func with(all map[string]string, key, value string) map[string]string {
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	return all
}

// verdicts are the conditions of all clusters and backups.
func verdicts(s *store.Store) string {
	var text strings.Builder
	for _, c := range store.All[*dbv1.DatabaseCluster](s) {
		for _, is := range c.Status.Conditions {
			fmt.Fprintln(&text, c.Name, is.Type, is.Status, is.Reason)
		}
	}
	for _, b := range store.All[*dbv1.DatabaseBackup](s) {
		fmt.Fprintln(&text, b.Name, b.Status.Phase)
	}
	return text.String()
}

// amongPolicies plays a sequence in a namespace with policies of others.
func amongPolicies(s world.Story, plant func(client.WithWatch) client.WithWatch) error {
	without, among := newPlay(s, 0), newPlay(s, 0)
	among.Plant, among.Store.Policy = plant, meddle
	err := errors.Join(without.ToTheEnd(), among.ToTheEnd())
	if a, b := verdicts(without.Store), verdicts(among.Store); err == nil && a != b {
		return fmt.Errorf("with policies of others the end is\n%s\nand without them\n%s\n%s", b, a, among.Text())
	}
	return err
}

func TestPoliciesOfOthersDoNotChangeTheEnd(t *testing.T) {
	withoutRaces(t)
	for _, sequence := range sample.OneIn(5, "policies", sequences, func(world.Story) string { return "" }) {
		t.Run(sequence.Name, func(t *testing.T) {
			t.Parallel()
			if err := amongPolicies(sequence, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// The mistake: an operator that removes what others have added.
func TestAnOperatorThatFightsPoliciesIsFound(t *testing.T) {
	err := amongPolicies(sequences[0], func(server client.WithWatch) client.WithWatch {
		return interceptor.NewClient(server, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			service := &corev1.Service{}
			if c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: clusterName}, service) == nil {
				patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+costCenter+`":null}}}`))
				if err := c.Patch(ctx, service, patch); err != nil {
					return err
				}
			}
			return c.List(ctx, list, options...)
		}})
	})
	if err == nil || !strings.Contains(err.Error(), "an idle operator sends") && !strings.Contains(err.Error(), "not idle") {
		t.Errorf("not found: %v", err)
	}
}

func protection(on bool) world.Step {
	return set(fmt.Sprintf("deletion.protection is set to %t", on), func(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Protection = on })
}

// deleteClaims is a user who deletes all claims.
func deleteClaims(allowed bool) world.Step {
	return world.Step{What: fmt.Sprintf("the claims are deleted by mistake: allowed is %t", allowed), Do: func(w *world.World) {
		for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
			if err := w.Store.Delete(claim, &world.InBackground); (err == nil) != allowed {
				w.Breaks("the deletion of claim %s: %v", claim.Name, err)
			}
		}
	}}
}

var protectedSequence = world.Tell("protected",
	create(2, deleteVolumes, hooks("flush"), func(c *dbv1.DatabaseCluster) { c.Spec.Deletion.Protection = true }), deleteClaims(false), protection(false), remove(),
)

// The label keeps the API server from deleting the claims, so a deletion with volumes needs it to be removed first.
func TestTheClaimsOfAProtectedClusterAreDeletedOnlyAfterItsProtection(t *testing.T) {
	p := newPlay(protectedSequence, 0)
	if err := playDeletion(p); err != nil {
		t.Errorf("%v\n%s", err, p.Text())
	}
}

// playDeletion plays a sequence after which nothing of the cluster may be left.
func playDeletion(p *world.Play) error {
	err := p.ToTheEnd()
	if left := len(store.All[*corev1.PersistentVolumeClaim](p.Store)); err == nil && (p.Cluster() != nil || left > 0) {
		return fmt.Errorf("the cluster is not deleted, or %d claims are left", left)
	}
	return err
}

func TestAnOperatorThatLeavesTheLabelOfProtectionIsFound(t *testing.T) {
	p := newPlay(protectedSequence, 0)
	p.Plant = func(server client.WithWatch) client.WithWatch {
		return interceptor.NewClient(server, interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if world.KindOf(object) == "PersistentVolumeClaim" && p.Cluster() != nil && !p.Cluster().Spec.Deletion.Protection {
				return nil
			}
			return c.Patch(ctx, object, patch, options...)
		}})
	}
	if err := playDeletion(p); err == nil {
		t.Errorf("not found:\n%s", p.Text())
	}
}
