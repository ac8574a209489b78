/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/config/admission"
	"github.com/dbcluster/databasecluster-operator/config/engines"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
)

// installer creates the missing built-in objects when the operator becomes the leader: those that an OLM bundle
// cannot contain. It never changes or deletes one, so changes by an administrator remain.
type installer struct {
	reader  client.Reader // not a cache: that would list and watch
	writer  apply.Writer
	objects []*unstructured.Unstructured
	// required are the policies without which members may write more than they need. The log reports missing ones.
	required []*unstructured.Unstructured
	log      logr.Logger
}

// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=create;patch,resourceNames=databasecluster-operator-protected-clusters;databasecluster-operator-protected-claims;databasecluster-operator-protected-definitions,roleName=manager-cluster-role
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=get;create;patch,resourceNames=databasecluster-operator-member-pods;databasecluster-operator-member-configmaps,roleName=manager-cluster-role

// NeedLeaderElection lets only the leader install objects.
func (i installer) NeedLeaderElection() bool { return true }

// Start creates the missing objects. A failure does not affect the management of databases.
func (i installer) Start(ctx context.Context) error {
	for _, object := range i.objects {
		err := retry.OnError(retry.DefaultBackoff, passes, func() error { return i.install(ctx, object) })
		switch {
		case apierrors.IsForbidden(err):
			i.log.Info("skipped: the operator is not allowed to read or create the object", "kind", object.GetKind(), "name", object.GetName())
		case err != nil:
			i.log.Error(err, "could not create the missing object", "kind", object.GetKind(), "name", object.GetName())
		}
	}
	for _, object := range i.required {
		i.check(ctx, object)
	}
	return nil
}

// check reports an admission policy that does not exist, or of which that is unknown.
func (i installer) check(ctx context.Context, object *unstructured.Unstructured) {
	err := i.reader.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopy())
	switch log := i.log.WithValues("kind", object.GetKind(), "name", object.GetName()); {
	case apierrors.IsNotFound(err):
		log.Error(nil, "an admission policy is missing, so members of engines with roles or state may change all fields of their pods. Apply "+
			"the manifest that installed the operator")
	case apierrors.IsForbidden(err):
		log.Info("the operator is not allowed to check an admission policy that restricts the writes of members")
	case err != nil:
		log.Error(err, "could not check an admission policy that restricts the writes of members")
	}
}

func passes(err error) bool { return !apierrors.IsForbidden(err) }

func (i installer) install(ctx context.Context, object *unstructured.Unstructured) error {
	existing := &unstructured.Unstructured{}
	existing.SetGroupVersionKind(object.GroupVersionKind())
	if err := i.reader.Get(ctx, client.ObjectKeyFromObject(object), existing); !apierrors.IsNotFound(err) {
		return err
	}
	return i.writer.Install(ctx, object)
}

// install adds the installer of built-in objects.
func (s *Settings) install(mgr ctrl.Manager, log logr.Logger) error {
	var all []*unstructured.Unstructured
	if s.installPolicies {
		policies, err := admission.Objects()
		if err != nil {
			return fmt.Errorf("read the admission policies: %w", err)
		}
		all = append(all, policies...)
	}
	if s.installEngines {
		profiles, err := engines.Objects()
		if err != nil {
			return fmt.Errorf("read the engines: %w", err)
		}
		all = append(all, profiles...)
	}
	required, err := admission.Members()
	if err != nil {
		return fmt.Errorf("read the admission policies: %w", err)
	}
	return mgr.Add(installer{mgr.GetAPIReader(), apply.Writer{Client: mgr.GetClient()}, all, required, log})
}
