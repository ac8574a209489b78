/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

const (
	// documentKey is the key with the declaration, PasswordKey that with the password in the Secret of a user.
	documentKey = "document"
	// PasswordKey is the key with the password in the Secret that spec.secretName of a DatabaseUser names.
	PasswordKey = "password"
)

// Start creates the Job of a run, and its Secret with the declaration and the passwords. The Job owns the Secret, so it comes first. A
// later pass deletes a Job without its Secret.
type Start struct {
	Declared []Declared
	// Occasion is why it runs.
	Occasion string
	spec     jobs.Spec
	cluster  *dbv1.DatabaseCluster
}

// Properties of a Start: it prevents no other operation.
func (s Start) Properties() operation.Properties { return operation.Aside }

func (s Start) String() string {
	return fmt.Sprintf("create Job %s for %d databases and users", s.spec.Name, len(s.Declared))
}

// Act reads the passwords and creates both objects. A user whose Secret has changed since the decision is left out: the next pass of the
// user reads it. The name of the Secret is random: otherwise a user who may create Secrets could create it first, with other content.
func (s Start) Act(ctx context.Context, m subject.Means) ([]kit.Event, error) {
	data, versions, err := s.content(ctx, m)
	if err != nil {
		return nil, err
	}
	suffix, err := m.Suffix()
	if err != nil {
		return nil, err
	}
	name := s.spec.Name + "-" + suffix
	job, err := m.Writer.Create(ctx, s.job(name, versions, m.At).Object)
	if err != nil {
		return nil, err
	}
	secret := objects.New(corev1ac.Secret(name, m.Cluster.Namespace).
		WithLabels(naming.Labels(m.Cluster, dbv1.ComponentObjects)).
		WithOwnerReferences(metav1ac.OwnerReference().WithAPIVersion("batch/v1").WithKind("Job").WithName(job.GetName()).WithUID(job.GetUID()).
			WithController(true)).
		WithImmutable(true).WithData(data), []string{"data"})
	if _, err = m.Writer.Create(ctx, secret.Object); err != nil {
		return nil, errors.Join(err, withdraw(ctx, m, job))
	}
	return nil, nil
}

// job is the Job that reads a Secret.
func (s Start) job(secret string, versions []Version, at time.Time) objects.Child {
	spec, texts := s.spec, make([]string, 0, len(versions))
	for _, v := range versions {
		texts = append(texts, v.String())
	}
	spec.Secrets = []jobs.SecretFolder{{Name: secret, Volume: naming.ObjectsVolume, Path: naming.ObjectsPath}}
	return jobs.Build(s.cluster, spec).
		Set(s.Occasion, "metadata", "annotations", dbv1.AnnotationOccasion).
		Set(strings.Join(texts, " "), "metadata", "annotations", dbv1.AnnotationObjects).
		Set(at.UTC().Format(time.RFC3339), "metadata", "annotations", dbv1.AnnotationCreated)
}

// withdraw deletes a Job without its Secret. The Job controller may write it at the same time.
func withdraw(ctx context.Context, m subject.Means, job client.Object) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		live := &batchv1.Job{}
		err := m.Live.Get(ctx, client.ObjectKeyFromObject(job), live)
		if err != nil || live.UID != job.GetUID() {
			return client.IgnoreNotFound(err)
		}
		return m.Writer.Delete(ctx, live, client.PropagationPolicy(metav1.DeletePropagationBackground))
	})
}

// content is that of the Secret, and the versions of the objects in it.
func (s Start) content(ctx context.Context, m subject.Means) (data map[string][]byte, versions []Version, err error) {
	data = map[string][]byte{}
	var complete []Declared
	for _, d := range s.Declared {
		password, found, err := passwordOf(ctx, m, d)
		switch {
		case err != nil:
			return nil, nil, err
		case !found:
			versions = append(versions, Version{ID: d.ID(), Content: d.Version(), LeftOut: true})
			continue
		case password != nil:
			data[d.ID()] = password
		}
		complete, versions = append(complete, d), append(versions, Version{ID: d.ID(), Content: d.Version(), Held: d.Held()})
	}
	data[documentKey], err = json.Marshal(Document(complete))
	return data, versions, err
}

// passwordOf is the password of an object that has one. It is not found if the Secret is not the one of the decision.
func passwordOf(ctx context.Context, m subject.Means, d Declared) (password []byte, found bool, err error) {
	if d.Kind != KindUser || d.Deleting() {
		return nil, true, nil
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: m.Cluster.Namespace, Name: naming.User(d.Object.GetName())}
	err = m.Live.Get(ctx, key, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("read the Secret of DatabaseUser %s: %w", d.Object.GetName(), err)
	}
	found = secret.ResourceVersion == d.PasswordVersion && metav1.IsControlledBy(secret, d.Object)
	return secret.Data[PasswordKey], found, nil
}
