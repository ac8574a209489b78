/*
SPDX-License-Identifier: Apache-2.0
*/

package protection

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingadmissionpolicies;validatingadmissionpolicybindings,verbs=get,resourceNames=databasecluster-operator-protected-clusters;databasecluster-operator-protected-claims;databasecluster-operator-protected-definitions,roleName=manager-cluster-role

// Facts are the state of the admission policies that protect a cluster from deletion.
type Facts struct {
	// Asked is true if the spec asks for the protection.
	Asked bool
	// Missing are the admission policies and bindings that do not exist, or do not deny.
	Missing []string
	// Unknown is why the operator cannot read them; "" if it can.
	Unknown string
}

// read checks whether the admission policies exist by which the API server rejects the deletion of
// protected clusters. They have no owner, so they are not watched but read regularly.
//
// An operator with rights in one namespace only may not read them. The status reports that, and everything else
// continues.
func read(ctx context.Context, o *subject.ClusterReading) {
	if !o.Cluster.Spec.Deletion.Protection {
		return
	}
	r := reading{o, Facts{Asked: true}}
	for _, name := range o.Policies {
		policy, binding := &admissionregistrationv1.ValidatingAdmissionPolicy{}, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
		if !r.inForce(ctx, name, policy, "ValidatingAdmissionPolicy") {
			continue
		}
		denies := func() bool {
			return binding.Spec.PolicyName == name && slices.Contains(binding.Spec.ValidationActions, admissionregistrationv1.Deny)
		}
		if r.inForce(ctx, name, binding, "ValidatingAdmissionPolicyBinding") && !denies() {
			r.Missing = append(r.Missing, "Deny in ValidatingAdmissionPolicyBinding "+name)
		}
	}
	state.Put(&o.Observed, r.Facts)
}

type reading struct {
	*subject.ClusterReading
	Facts
}

// inForce reads an object and reports whether it exists.
func (r *reading) inForce(ctx context.Context, name string, object client.Object, kind string) bool {
	if r.Err != nil || r.Unknown != "" {
		return false
	}
	found, err := kit.View{Reader: r.Live}.Find(ctx, client.ObjectKey{Name: name}, object)
	switch {
	case apierrors.IsForbidden(err):
		r.Unknown = fmt.Sprintf("the operator is not allowed to read %s %s", kind, name)
	case err != nil:
		r.Err = err
	case !found:
		r.Missing = append(r.Missing, kind+" "+name)
	}
	return found
}
