/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/dbcluster/databasecluster-operator/test/world"
)

// A campaign without findings means something only if it can find mistakes. The tests plant mistakes in the
// operator's client, and the campaign must find each.
type mutant struct {
	mistake  interceptor.Funcs
	sequence string
	// found is a part of the campaign's report.
	found string
}

var mutants = map[string]mutant{
	"members are deleted without preconditions": {
		interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, _ ...client.DeleteOption) error {
			return c.Delete(ctx, object)
		}},
		"image", "deleted without its UID and resourceVersion",
	},
	"two members are deleted in one pass": {
		interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			other := &corev1.Pod{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: "orders-0"}, other); err != nil {
				return err
			}
			err := c.Delete(ctx, object, options...)
			return firstOf(err, c.Delete(ctx, other, client.Preconditions{UID: new(other.UID), ResourceVersion: new(other.ResourceVersion)}))
		}},
		"image", "members are unavailable",
	},
	"the claim of a member is deleted with it": {
		interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			claim := &corev1.PersistentVolumeClaim{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: "data-" + object.GetName()}, claim); err != nil {
				return err
			}
			err := c.Delete(ctx, claim, client.Preconditions{UID: new(claim.UID), ResourceVersion: new(claim.ResourceVersion)})
			return firstOf(err, c.Delete(ctx, object, options...))
		}},
		"image", "claim data-orders-2 is deleted",
	},
	"an error of a status write is ignored": {
		interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			_ = c.SubResource(sub).Patch(ctx, object, patch, options...)
			return nil
		}},
		"create", "the end differs from the end without the failure",
	},
	"the finalizer is never removed": {
		interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if text, err := patch.Data(object); err == nil && strings.Contains(string(text), `"finalizers":null`) {
				return nil
			}
			return c.Patch(ctx, object, patch, options...)
		}},
		"delete", "the finalizer is not removed",
	},
	"every pass writes": {
		interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			cluster := &corev1.Service{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: clusterName}, cluster); err == nil {
				if err := c.Patch(ctx, cluster, client.RawPatch("application/merge-patch+json", []byte(`{}`))); err != nil {
					return err
				}
			}
			return c.List(ctx, list, options...)
		}},
		"create", "an idle operator sends",
	},
	"the service account is written, too": {
		interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, created client.Object, options ...client.CreateOption) error {
			err := c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: clusterNamespace, Name: "notes"}})
			return firstOf(client.IgnoreAlreadyExists(err), c.Create(ctx, created, options...))
		}},
		"create", "ConfigMap notes is not the cluster's",
	},
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestEveryPlantedMistakeIsFound(t *testing.T) {
	all := maps.Clone(mutants)
	maps.Copy(all, dataMutants)
	for mistake, mutant := range all {
		t.Run(mistake, func(t *testing.T) {
			t.Parallel()
			output := campaignWith(mutant.sequence, func(server client.WithWatch) client.WithWatch {
				return interceptor.NewClient(server, mutant.mistake)
			})
			if !strings.Contains(output, mutant.found) {
				t.Errorf("not found; the campaign reports %q", output)
			}
		})
	}
}

// campaignWith returns the first report of the campaign for an operator with that client.
func campaignWith(name string, plant func(client.WithWatch) client.WithWatch) string {
	for _, sequence := range sequences {
		if sequence.Name != name {
			continue
		}
		p := newPlay(sequence, 0)
		p.Plant = plant
		c, err := world.NewCampaign(p)
		if err != nil {
			p = newPlay(sequence, 0)
			p.Plant = plant
			return errors.Join(err, p.ToTheEnd()).Error()
		}
		for _, plan := range c.Plans() {
			if _, err := c.Run(plan); err != nil {
				return err.Error()
			}
		}
	}
	return "nothing"
}
