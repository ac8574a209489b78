/*
SPDX-License-Identifier: Apache-2.0
*/

package preview

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/controller"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// OfNow shows what the next pass of the operator would change in a cluster.
func OfNow(ctx context.Context, c client.Client, cluster *dbv1.DatabaseCluster) (Preview, error) {
	s, err := observe(ctx, c, cluster)
	if err != nil {
		return Preview{}, err
	}
	return Pending(s), nil
}

// OfSpec shows what another spec of a cluster would change. Before is nil for a new cluster, and after is not stored.
func OfSpec(ctx context.Context, c client.Client, before, after *dbv1.DatabaseCluster) (Preview, error) {
	var was *situation.Situation
	if before != nil {
		var err error
		if was, err = observe(ctx, c, before); err != nil {
			return Preview{}, err
		}
	}
	s, err := observe(ctx, c, after)
	if err != nil {
		return Preview{}, err
	}
	return Spec(was, s), nil
}

// observe reads what a pass of the operator reads for a cluster, with the rights of the user. The certificate shows the domain of the
// operator.
func observe(ctx context.Context, c client.Client, cluster *dbv1.DatabaseCluster) (*situation.Situation, error) {
	reads := lenient{c}
	image, err := imageOf(ctx, reads, cluster)
	if err != nil {
		return nil, err
	}
	s, err := pass(ctx, reads, cluster, image, usualDomain)
	if err != nil {
		return nil, err
	}
	if domain := domainOf(s); domain != usualDomain {
		return pass(ctx, reads, cluster, image, domain)
	}
	return s, nil
}

func pass(ctx context.Context, c client.Client, cluster *dbv1.DatabaseCluster, image, domain string) (*situation.Situation, error) {
	now := clock.RealClock{}
	r := &controller.Reconciler{
		Started: now.Now(), ClusterDomain: domain, TransferImage: image,
		Base: kit.Base{Cached: c, Live: c, Writer: apply.Writer{Client: c, Live: c}, Clock: now},
	}
	s, err := r.Observe(ctx, cluster.DeepCopy(), r.Reading(cluster, true))
	switch {
	case err != nil:
		return nil, fmt.Errorf("diff needs to read what the operator reads for DatabaseCluster %s: %w", cluster.Name, err)
	case s.EngineUnreadable != "":
		return nil, fmt.Errorf("diff needs to read DatabaseEngine %s: %s", cluster.Spec.Engine, s.EngineUnreadable)
	}
	return s, nil
}

// imageOf is the image of the operator, as the archive or the newest Job of a cluster shows it. With another image, the operator would
// create these again.
func imageOf(ctx context.Context, c client.Reader, cluster *dbv1.DatabaseCluster) (string, error) {
	options := []client.ListOption{
		client.InNamespace(cluster.Namespace), client.MatchingLabels{dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: cluster.Name},
	}
	archives, jobs := &appsv1.DeploymentList{}, &batchv1.JobList{}
	if err := c.List(ctx, archives, options...); err != nil {
		return "", fmt.Errorf("list the Deployments of DatabaseCluster %s: %w", cluster.Name, err)
	}
	if err := c.List(ctx, jobs, options...); err != nil {
		return "", fmt.Errorf("list the Jobs of DatabaseCluster %s: %w", cluster.Name, err)
	}
	var all []corev1.PodTemplateSpec
	for _, archive := range archives.Items {
		all = append(all, archive.Spec.Template)
	}
	for _, job := range newestFirst(jobs.Items) {
		all = append(all, job.Spec.Template)
	}
	return transferImage(all), nil
}

// lenient is a client for a user with fewer rights than the operator, and for an API server with the CRDs of an older operator.
type lenient struct{ client.Client }

// List finds nothing of a kind of the operator that the API server does not have.
func (l lenient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := l.Client.List(ctx, list, options...)
	if !meta.IsNoMatchError(err) {
		return asUser(err)
	}
	kind, unregistered := l.GroupVersionKindFor(list)
	if unregistered == nil && kind.Group == dbv1.GroupVersion.Group {
		return nil
	}
	return err
}

// Get reads an object.
func (l lenient) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return asUser(l.Client.Get(ctx, key, object, options...))
}

// asUser hides that the API server forbids a read: the operator would conclude that its own rights are missing.
func asUser(err error) error {
	if apierrors.IsForbidden(err) {
		return errors.New(err.Error())
	}
	return err
}
