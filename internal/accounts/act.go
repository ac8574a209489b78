/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
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

// Start creates the Job of a run, and its Secret with the declaration and the passwords. The Job owns the Secret, so it comes first. After
// a crash between them, the Job fails at its deadline, and another one follows.
type Start struct {
	Job      objects.Child
	Declared []Declared
}

// Properties of a Start: it prevents no other operation.
func (s Start) Properties() operation.Properties { return operation.Aside }

func (s Start) String() string {
	return fmt.Sprintf("create %s for %d databases and users", s.Job, len(s.Declared))
}

// Act reads the passwords and creates both objects. A Secret that has changed since the decision is read again by its own pass first.
func (s Start) Act(ctx context.Context, m subject.Means) ([]kit.Event, error) {
	data, err := s.content(ctx, m)
	if err != nil {
		return nil, err
	}
	job, err := m.Writer.Create(ctx, s.Job.Object)
	if err != nil {
		return nil, err
	}
	secret := objects.New(corev1ac.Secret(s.Job.Name(), m.Cluster.Namespace).
		WithLabels(naming.Labels(m.Cluster, dbv1.ComponentObjects)).
		WithOwnerReferences(metav1ac.OwnerReference().WithAPIVersion("batch/v1").WithKind("Job").WithName(job.GetName()).WithUID(job.GetUID()).
			WithController(true)).
		WithImmutable(true).WithData(data), []string{"data"})
	_, err = m.Writer.Create(ctx, secret.Object)
	return nil, err
}

func (s Start) content(ctx context.Context, m subject.Means) (map[string][]byte, error) {
	text, err := json.Marshal(document(s.Declared))
	if err != nil {
		return nil, fmt.Errorf("write the declaration: %w", err)
	}
	data := map[string][]byte{documentKey: text}
	for _, d := range s.Declared {
		if d.Kind != KindUser || d.Deleting() {
			continue
		}
		secret := &corev1.Secret{}
		key := client.ObjectKey{Namespace: m.Cluster.Namespace, Name: naming.User(d.Object.GetName())}
		if err := m.Live.Get(ctx, key, secret); err != nil {
			return nil, fmt.Errorf("read the Secret of DatabaseUser %s: %w", d.Object.GetName(), err)
		}
		if secret.ResourceVersion != d.PasswordVersion || !metav1.IsControlledBy(secret, d.Object) {
			return nil, apierrors.NewConflict(corev1.Resource("secrets"), secret.Name, fmt.Errorf("it has changed"))
		}
		data[d.ID()] = secret.Data[PasswordKey]
	}
	return data, nil
}
