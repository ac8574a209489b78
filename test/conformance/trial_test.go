//go:build conformance

/*
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/conformance/contract"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

const (
	// archive is the claim for backups.
	archive = "archive"
	// settle is how long a cluster has to recover after a check that failed. Then the next check gets another cluster.
	settle = 2 * time.Minute
)

// trial is a run of one engine in a namespace.
type trial struct {
	*lab.Lab
	engine *dbv1.DatabaseEngine
	client contract.Client
	// stored is the name of the engine in Kubernetes.
	stored  string
	created bool

	*lab.Cluster
	visitor *visitor
	number  int
	// readyAfter is the time from the creation of the cluster until it was ready.
	readyAfter time.Duration
	// suspect is true after a check that failed.
	suspect bool
	// backup is a DatabaseBackup of the cluster, and backedUp are the rows that were acknowledged before it.
	backup   string
	backedUp []int
	// restored is the cluster of the check "restore".
	restored *lab.Cluster
}

func newTrial(ctx context.Context) (*trial, error) {
	declared, err := contract.ReadEngine(engineFile)
	if err != nil {
		return nil, err
	}
	t := &trial{engine: declared}
	if clientFile != "" {
		t.client, err = contract.ReadClient(clientFile)
	} else {
		t.client, err = contract.FindClient(engineFile, declared.Name, "../../config/engines/conformance")
	}
	if err != nil {
		return nil, err
	}
	if declared.Spec.Connection == nil {
		t.client.Write, t.client.List = "", "" // no client can connect
	}
	t.client.Replicas = max(t.client.Replicas, declared.Spec.Replicas.Min, 1)
	t.Lab, err = lab.New(ctx, fmt.Sprintf("conformance-%s-%s", declared.Name, time.Now().UTC().Format("150405")), image)
	if err != nil {
		return nil, err
	}
	if err := t.store(ctx); err != nil {
		return nil, err
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: t.Namespace, Name: archive}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
	return t, t.Create(ctx, claim)
}

// store creates the engine. If another one has its name, this one gets another name, because engines cannot be changed.
func (t *trial) store(ctx context.Context) error {
	candidate := t.engine.DeepCopy()
	candidate.Name = fmt.Sprintf("%s-%08x", t.engine.Name, fingerprint(fmt.Sprint(t.engine.Spec, time.Now())))
	if err := t.Create(ctx, candidate.DeepCopy(), client.DryRunAll); err != nil {
		return fmt.Errorf("the API server refuses the engine: %w", err)
	}
	existing := &dbv1.DatabaseEngine{}
	err := t.Get(ctx, client.ObjectKey{Name: t.engine.Name}, existing)
	switch {
	case apierrors.IsNotFound(err):
		candidate.Name = t.engine.Name
	case err != nil:
		return err
	default:
		defaulted := candidate.DeepCopy()
		if err := t.Create(ctx, defaulted, client.DryRunAll); err != nil {
			return err
		}
		if reflect.DeepEqual(defaulted.Spec, existing.Spec) {
			t.stored = t.engine.Name
			return nil
		}
	}
	t.stored, t.created = candidate.Name, true
	return t.Create(ctx, candidate)
}

func fingerprint(text string) uint32 {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(text))
	return hash.Sum32()
}

func (t *trial) close(ctx context.Context) error {
	if keep {
		fmt.Printf("namespace %s and engine %s stay: KEEP is set\n", t.Namespace, t.stored)
		return nil
	}
	if err := t.Close(ctx); err != nil || !t.created {
		return err
	}
	return t.Delete(ctx, &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{Name: t.stored}})
}

// template is a new cluster of the engine with the fields of the client.
func (t *trial) template(name string) *dbv1.DatabaseCluster {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *t.client.Spec.DeepCopy()}
	spec := &cluster.Spec
	spec.Engine, spec.Image, spec.Replicas = t.stored, image, t.client.Replicas
	spec.Container.ImagePullPolicy = cmp.Or(spec.Container.ImagePullPolicy, corev1.PullIfNotPresent)
	if spec.Storage.Size.IsZero() {
		spec.Storage.Size = resource.MustParse("1Gi")
	}
	if t.engine.Spec.Actions.Backup != nil {
		spec.Backup = &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: "file:///", ClaimName: archive}}
	}
	return cluster
}

// withCluster makes sure that there is a cluster that is ready, and a client.
func (t *trial) withCluster(ctx context.Context) error {
	if t.Cluster != nil && t.suspect {
		quick, cancel := context.WithTimeout(ctx, settle)
		defer cancel()
		if t.AwaitReady(quick) != nil || t.Members != int(t.client.Replicas) || t.progresses(quick) != nil {
			if err := t.discard(ctx); err != nil {
				return err
			}
		}
	}
	t.suspect = false
	if t.Cluster != nil {
		return nil
	}
	t.number++
	start := time.Now()
	cluster, err := t.Run(ctx, t.template(fmt.Sprintf("orders%d", t.number)))
	if cluster == nil {
		return err
	}
	t.Cluster, t.readyAfter, t.backup, t.backedUp = cluster, time.Since(start), "", nil
	if err != nil {
		t.suspect = true
		return fmt.Errorf("%w\n%s", err, t.Conditions(ctx))
	}
	t.visitor, err = t.visit(ctx, cluster)
	return err
}

// progresses waits for the next acknowledged row.
func (t *trial) progresses(ctx context.Context) error {
	if t.visitor == nil || t.client.Write == "" {
		return nil
	}
	return t.visitor.awaitProgress(ctx)
}

// discard deletes the cluster after a check that failed; with KEEP, it stays for you.
func (t *trial) discard(ctx context.Context) error {
	cluster := t.Cluster
	t.Cluster, t.visitor = nil, nil
	if keep {
		return nil
	}
	object, err := cluster.Object(ctx)
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	return t.DeleteCluster(ctx, object)
}

// condition returns a condition of the cluster.
func condition(ctx context.Context, c *lab.Cluster, name string) *metav1.Condition {
	object, err := c.Object(ctx)
	if err != nil {
		return nil
	}
	return meta.FindStatusCondition(object.Status.Conditions, name)
}

// binding returns the connection Secret of a cluster.
func (t *trial) binding(ctx context.Context, c *lab.Cluster) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	err := t.Get(ctx, client.ObjectKey{Namespace: t.Namespace, Name: naming.Connection(c.Name)}, secret)
	return secret.Data, err
}

// related reports whether the members have one database.
func (t *trial) related() bool { return engine.Related(t.engine) }
