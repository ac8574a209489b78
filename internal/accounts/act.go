/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

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

// Act reads the passwords and creates both objects. A user whose Secret has changed since the decision is left out: the next pass of the
// user reads it.
func (s Start) Act(ctx context.Context, m subject.Means) ([]kit.Event, error) {
	data, versions, err := s.content(ctx, m)
	if err != nil {
		return nil, err
	}
	child := s.Job.Set(strings.Join(versions, " "), "metadata", "annotations", dbv1.AnnotationObjects).
		Set(m.At.UTC().Format(time.RFC3339), "metadata", "annotations", dbv1.AnnotationCreated)
	job, err := m.Writer.Create(ctx, child.Object)
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

// content is that of the Secret, and the versions of the objects in it.
func (s Start) content(ctx context.Context, m subject.Means) (data map[string][]byte, versions []string, err error) {
	data = map[string][]byte{}
	var complete []Declared
	for _, d := range s.Declared {
		password, found, err := passwordOf(ctx, m, d)
		switch {
		case err != nil:
			return nil, nil, err
		case !found:
			versions = append(versions, d.ID()+"="+leftOut+d.Version())
			continue
		case password != nil:
			data[d.ID()] = password
		}
		complete, versions = append(complete, d), append(versions, d.ID()+"="+d.Version())
	}
	data[documentKey], err = json.Marshal(document(complete))
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
