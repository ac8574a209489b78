/*
SPDX-License-Identifier: Apache-2.0
*/

package apply

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// checkServiceAccount refuses a Job or a Deployment that would run as the ServiceAccount of another owner. Decisions of Jobs check this,
// too. This check also applies to a kind of Job whose decision forgets it, and it reads immediately before the object is created.
func (w Writer) checkServiceAccount(ctx context.Context, object *unstructured.Unstructured) error {
	name := object.GetAnnotations()[dbv1.AnnotationServiceAccount]
	if name == "" || object.GetKind() != "Job" && object.GetKind() != "Deployment" {
		return nil
	}
	account := &corev1.ServiceAccount{}
	err := w.Live.Get(ctx, client.ObjectKey{Namespace: object.GetNamespace(), Name: name}, account)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("read ServiceAccount %s: %w", name, err)
	case err != nil || !state.IsServiceAccountOf(object.GetLabels()[dbv1.LabelInstance], account):
		return fmt.Errorf("create %s %s: ServiceAccount %s does not exist or has another owner", object.GetKind(), object.GetName(), name)
	}
	return nil
}
