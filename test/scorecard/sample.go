/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// sampleOf returns the DatabaseCluster of the CSV's alm-examples.
func sampleOf(csv *v1alpha1.ClusterServiceVersion) (*dbv1.DatabaseCluster, error) {
	var examples []json.RawMessage
	if err := json.Unmarshal([]byte(csv.Annotations["alm-examples"]), &examples); err != nil {
		return nil, fmt.Errorf("the CSV's annotation alm-examples is not a list of objects: %w", err)
	}
	for _, example := range examples {
		var kind struct{ Kind string }
		if err := json.Unmarshal(example, &kind); err != nil || kind.Kind != "DatabaseCluster" {
			continue
		}
		sample := &dbv1.DatabaseCluster{}
		if err := yaml.UnmarshalStrict(example, sample); err != nil {
			return nil, fmt.Errorf("the DatabaseCluster of the CSV's annotation alm-examples cannot be read: %w", err)
		}
		return sample, nil
	}
	return nil, fmt.Errorf("the CSV's annotation alm-examples has no DatabaseCluster among %d objects", len(examples))
}

// ownSample returns the sample with a name of this world, with Secrets of this world, and the keys of these Secrets.
func (w *world) ownSample() (sample *dbv1.DatabaseCluster, keys []string) {
	sample = &dbv1.DatabaseCluster{ObjectMeta: w.object(w.name), Spec: *w.sample.Spec.DeepCopy()}
	for i := range sample.Spec.Container.Env {
		if from := sample.Spec.Container.Env[i].ValueFrom; from != nil && from.SecretKeyRef != nil {
			from.SecretKeyRef.Name = w.name
			keys = append(keys, from.SecretKeyRef.Key)
		}
	}
	if sample.Spec.Credentials.SecretName != "" {
		sample.Spec.Credentials.SecretName = w.name
		keys = append(keys, "password", "owner-password", "pooler-password")
	}
	return sample, slices.Compact(slices.Sorted(slices.Values(keys)))
}

// sampleBecomesAvailable applies the sample, deletes it, and checks for remaining objects.
func (w *world) sampleBecomesAvailable(ctx context.Context) error {
	sample, keys := w.ownSample()
	if err := w.secret(ctx, keys...); err != nil {
		return err
	}
	if err := w.brings(ctx, sample, dbv1.ConditionAvailable); err != nil {
		return err
	}
	claims, err := w.claims(ctx, sample.Name)
	if err != nil {
		return err
	}
	if len(claims) != int(sample.Spec.Replicas) {
		return fmt.Errorf("the sample has %d volumes, want one for each of its %d members", len(claims), sample.Spec.Replicas)
	}
	if err := w.delete(ctx, sample); err != nil {
		return err
	}
	return w.leavesVolumesAlone(ctx, sample.Name, sample.Spec.Deletion.Volumes, len(claims))
}

// leavesVolumesAlone waits until all objects of a cluster are deleted, except volumes that the policy retains.
func (w *world) leavesVolumesAlone(ctx context.Context, cluster string, policy dbv1.ClusterVolumePolicy, volumes int) error {
	if policy == dbv1.VolumesDelete {
		volumes = 0
	}
	err := w.await(ctx, "deletion of the objects of DatabaseCluster "+cluster, func(ctx context.Context) (string, error) {
		return w.children(ctx, cluster)
	})
	if err != nil {
		return err
	}
	claims, err := w.claims(ctx, cluster)
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(claims, func(claim client.Object) bool { return claim.GetDeletionTimestamp() != nil })
	if len(kept) != volumes {
		return fmt.Errorf("DatabaseCluster %s with spec.deletion.volumes %q left %d volumes, want %d", cluster, policy, len(kept), volumes)
	}
	return nil
}
