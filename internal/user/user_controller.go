/*
SPDX-License-Identifier: Apache-2.0
*/

// Package user observes, acts and reports for a DatabaseUser.
package user

import (
	"context"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	objectplan "github.com/dbcluster/databasecluster-operator/internal/accounts/plan"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/execute"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/user/plan"
)

// Reconciler reconciles DatabaseUsers. It keeps no state between passes. It writes their Secrets. The Job of the cluster creates the users.
type Reconciler struct {
	kit.Base
	// Random is the source of passwords.
	Random io.Reader
	// ReferencePeriod is the time after which a Secret that spec names is read again.
	ReferencePeriod time.Duration
}

type pass = kit.Pass[*dbv1.DatabaseUser, plan.UserFacts, plan.UserPlan]

var _ kit.Executor[*dbv1.DatabaseUser, plan.UserFacts, plan.UserPlan] = &Reconciler{}

// Reconcile runs one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return kit.Reconcile(ctx, &r.Base, r, request.NamespacedName)
}

// Controller declares the changes that start a pass for a DatabaseUser.
func (r *Reconciler) Controller() kit.Controller {
	return kit.Controller{
		Name: "databaseuser", For: &dbv1.DatabaseUser{}, When: kit.Changed(userFacts),
		Watches: []kit.Watch{objectplan.Clusters(&r.Base, &dbv1.DatabaseUserList{})},
	}
}

func userFacts(o *dbv1.DatabaseUser) any {
	return []any{o.Spec, o.Status, o.Finalizers, o.DeletionTimestamp, o.Annotations[dbv1.AnnotationRotateCredentials]}
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseusers,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// Observe reads the facts about a DatabaseUser.
func (r *Reconciler) Observe(ctx context.Context, u *dbv1.DatabaseUser, from kit.Reading) (plan.UserFacts, error) {
	seen := plan.UserFacts{Seen: objectplan.See(ctx, &from, u.Spec.ClusterRef.Name)}
	if u.DeletionTimestamp == nil && seen.Cluster != nil {
		seen.Secret = find(ctx, &from, naming.User(u.Name))
		if u.Spec.SecretName != "" {
			seen.Given = find(ctx, &from, u.Spec.SecretName)
		}
		if seen.Cluster.Status.Binding != nil {
			seen.Connection = find(ctx, &from, seen.Cluster.Status.Binding.Name)
		}
		if accounts.ByCertificate(u) && engine.AsksForCertificates(seen.Cluster) {
			seen.Authority = authority(ctx, &from, seen.Cluster)
		}
		seen.Period, seen.At = r.ReferencePeriod, r.Clock.Now()
	}
	return seen, from.Err
}

// authority reads the public facts of the CA of a cluster. Its key is read again when a certificate is issued.
func authority(ctx context.Context, from *kit.Reading, cluster *dbv1.DatabaseCluster) state.Certificate {
	secret := find(ctx, from, naming.Authority(cluster.Name))
	if secret == nil || !metav1.IsControlledBy(secret, cluster) {
		return state.Certificate{}
	}
	return state.CertificateOf(secret, pki.AuthorityFacts(secret.Data))
}

func find(ctx context.Context, from *kit.Reading, name string) *corev1.Secret {
	secret := &corev1.Secret{}
	if !from.FindLive(ctx, name, secret) {
		return nil
	}
	return secret
}

// Decide returns what to do.
func (r *Reconciler) Decide(u *dbv1.DatabaseUser, seen plan.UserFacts) plan.UserPlan {
	return plan.For(u, seen)
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseusers,verbs=patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseusers/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;patch

// Execute executes one operation of the plan.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	if acting, is := o.(subject.Acting); is {
		return acting.Act(ctx, subject.Means{Writer: r.Writer, Live: r.Live, Random: r.Random, At: r.Clock.Now()})
	}
	return execute.Hands{Base: r.Base, Object: p.Object, Purpose: p.Plan.Why}.Execute(ctx, o)
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseusers/status,verbs=patch

// Report returns the DatabaseUser with its status after a pass.
func (r *Reconciler) Report(p pass) (*dbv1.DatabaseUser, []kit.Event) {
	after := p.Object.DeepCopy()
	after.Status.DatabaseObjectStatus = p.Plan.StatusOf(p.Facts.Seen, p.Err, metav1.NewTime(r.Clock.Now()))
	after.Status.Binding, after.Status.PasswordVersion = p.Plan.Binding(p.Object)
	after.Status.Certificate = p.Plan.Certificate(p.Object, p.Err)
	return after, kit.Transitions(objectplan.Transitions, p.Object.Status.Conditions, after.Status.Conditions)
}
