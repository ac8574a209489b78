/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=get,resourceNames=databasecluster-operator-protected-clusters;databasecluster-operator-protected-claims;databasecluster-operator-protected-definitions,roleName=manager-cluster-role

// readProtection checks whether the admission policies exist by which the API server rejects the deletion of
// protected clusters. They have no owner, so they are not watched but read regularly.
//
// An operator with rights in one namespace only may not read them. The status reports that, and everything else
// continues.
func (o *observation) readProtection(ctx context.Context, policies []string) {
	if !o.Cluster.Spec.Deletion.Protection {
		return
	}
	o.Protection = &state.Protection{}
	from := kit.View{Reader: o.Live}
	for _, name := range policies {
		policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
		if !o.inForce(ctx, from, name, policy, "ValidatingAdmissionPolicy") {
			continue
		}
		binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
		denies := func() bool {
			return binding.Spec.PolicyName == name && slices.Contains(binding.Spec.ValidationActions, admissionregistrationv1.Deny)
		}
		if o.inForce(ctx, from, name, binding, "ValidatingAdmissionPolicyBinding") && !denies() {
			o.Protection.Missing = append(o.Protection.Missing, "Deny in ValidatingAdmissionPolicyBinding "+name)
		}
	}
}

// inForce reads an object and reports whether it exists.
func (o *observation) inForce(ctx context.Context, from kit.View, name string, object client.Object, kind string) bool {
	if o.Err != nil || o.Protection.Unknown != "" {
		return false
	}
	found, err := from.Find(ctx, client.ObjectKey{Name: name}, object)
	switch {
	case apierrors.IsForbidden(err):
		o.Protection.Unknown = fmt.Sprintf("the operator is not allowed to read %s %s", kind, name)
	case err != nil:
		o.Err = err
	case !found:
		o.Protection.Missing = append(o.Protection.Missing, kind+" "+name)
	}
	return found
}
