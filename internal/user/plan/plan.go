/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does for a DatabaseUser.
package plan

import (
	"bytes"
	"fmt"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	objectplan "github.com/dbcluster/databasecluster-operator/internal/accounts/plan"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/named"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// UserFacts are what a pass reads about a DatabaseUser. A Secret that is nil does not exist.
type UserFacts struct {
	accounts.Seen
	// Secret is that of the user, Given the one that spec names, and Connection that of the cluster.
	Secret, Given, Connection *corev1.Secret
	// Authority is the CA of the cluster. It is read only for a user who should log in by a certificate.
	Authority state.Certificate
	// At is the time of the pass.
	At time.Time
	// Period is the time after which a Secret that spec names is read again.
	Period time.Duration
}

// UserPlan is what a pass does for a DatabaseUser.
type UserPlan struct {
	objectplan.ObjectPlan
	// version is the resourceVersion of the Secret, whose password is the wanted one; "" if it is not there yet.
	version     string
	certificate certificate
}

// For decides what to do for a user: its Secret has to be complete before the database gets its password.
func For(u *dbv1.DatabaseUser, seen UserFacts) UserPlan {
	d := accounts.OfUser(u)
	if _, unsupported := accounts.Unsupported(d, seen.Seen); unsupported || d.Deleting() {
		return UserPlan{ObjectPlan: objectplan.For(d, seen.Seen), version: d.PasswordVersion}
	}
	write, problem := secretOf(u, seen)
	d.PasswordVersion = "" // until the Secret has the password that the database should get
	if problem == nil && write == nil && seen.Secret != nil {
		d.PasswordVersion = seen.Secret.ResourceVersion
	}
	d.Certified = certified(u, seen)
	p := UserPlan{ObjectPlan: objectplan.For(d, seen.Seen), version: d.PasswordVersion}
	if problem != nil {
		p.Verdict, p.Why = *problem, problem.Message
	} else {
		p = p.certify(u, seen)
	}
	if write != nil {
		p.Operations = append(p.Operations, *write)
	}
	if p.RequeueAfter == 0 {
		p.RequeueAfter = seen.Period // Secrets are not watched
	}
	p.RequeueAfter = situation.Sooner(p.RequeueAfter, p.certificate.renewal)
	return p
}

// Binding names the Secret, if it exists, and the version of the password that it has.
func (p UserPlan) Binding(u *dbv1.DatabaseUser) (*dbv1.ClusterBinding, string) {
	if p.version == "" {
		return u.Status.Binding, ""
	}
	return &dbv1.ClusterBinding{Name: naming.User(u.Name), ResourceVersion: p.version}, p.version
}

// secretOf is how the Secret of the user has to be written; nil if it need not. Without a problem it can be.
func secretOf(u *dbv1.DatabaseUser, seen UserFacts) (*WriteSecret, *accounts.Verdict) {
	if problem := lacking(u, seen); problem != nil {
		return nil, problem
	}
	w := &WriteSecret{user: u, facts: seen, generate: u.Spec.SecretName == "" && rotates(u, seen.Secret)}
	if certified(u, seen) {
		w.issue = due(u, seen, w.generate)
	}
	data, err := w.data(password(u, seen))
	if err != nil {
		return nil, stalled(dbv1.ReasonFieldUnsupported, fmt.Sprintf("engine %s cannot describe the Secret: %v", seen.Engine.Name, err))
	}
	if !w.generate && w.issue == "" && !obsolete(u, seen) && seen.Secret != nil && has(seen.Secret.Data, data) {
		return nil, nil
	}
	return w, nil
}

// has reports whether a Secret has these values. Keys of others may be there, too.
func has(live, wanted map[string][]byte) bool {
	for key, value := range wanted {
		if present, found := live[key]; !found || !bytes.Equal(present, value) {
			return false
		}
	}
	return true
}

// lacking is why the Secret cannot be written; nil if it can.
func lacking(u *dbv1.DatabaseUser, seen UserFacts) *accounts.Verdict {
	switch {
	case seen.Engine.Spec.Connection == nil:
		return stalled(dbv1.ReasonFieldUnsupported, fmt.Sprintf("engine %s does not describe a connection, so users have no Secrets",
			seen.Engine.Name))
	case seen.Secret != nil && !metav1.IsControlledBy(seen.Secret, u):
		return stalled(dbv1.ReasonNameConflict, fmt.Sprintf("Secret %s exists but does not belong to this DatabaseUser: delete it, or create "+
			"a DatabaseUser with another name", seen.Secret.Name))
	case u.Spec.SecretName != "" && len(given(seen)) == 0:
		return stalled(dbv1.ReasonPasswordMissing, fmt.Sprintf("Secret %s, which spec.secretName names, does not exist, or its key %s is "+
			"empty. Create it", u.Spec.SecretName, accounts.PasswordKey))
	case u.Spec.SecretName != "" && unusable(given(seen)):
		return stalled(dbv1.ReasonPasswordUnusable, fmt.Sprintf("spec.secretName: the key %s of Secret %s must have %d to %d bytes without "+
			"control characters. Set another password", accounts.PasswordKey, u.Spec.SecretName, accounts.MinPassword, accounts.MaxPassword))
	case seen.Given != nil && seen.Given.Labels[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue:
		return stalled(dbv1.ReasonFieldUnsupported, fmt.Sprintf("spec.secretName: Secret %s belongs to the operator. Name a Secret of your own",
			u.Spec.SecretName))
	case seen.Connection == nil:
		return &accounts.Verdict{Reason: dbv1.ReasonObjectPending, Message: fmt.Sprintf(
			"DatabaseCluster %s has no connection Secret yet", u.Spec.ClusterRef.Name)}
	default:
		return uncertifiable(u, seen)
	}
}

// unusable reports whether an application could not use a password, or the Job not get it.
func unusable(password []byte) bool {
	return len(password) < accounts.MinPassword || len(password) > accounts.MaxPassword || bytes.ContainsFunc(password, unicode.IsControl)
}

func stalled(reason, message string) *accounts.Verdict {
	return &accounts.Verdict{Stalled: true, Reason: reason, Message: message}
}

// rotates reports whether the Secret gets another generated password: it has none, or the user has requested it.
func rotates(u *dbv1.DatabaseUser, secret *corev1.Secret) bool {
	if secret == nil || len(secret.Data[accounts.PasswordKey]) == 0 {
		return true
	}
	request := u.Annotations[dbv1.AnnotationRotateCredentials]
	return request != "" && request != secret.Annotations[dbv1.AnnotationRotationRequest]
}

// password is the present one; "" if it is still to be generated.
func password(u *dbv1.DatabaseUser, seen UserFacts) string {
	switch {
	case u.Spec.SecretName != "":
		return string(given(seen))
	case seen.Secret != nil:
		return string(seen.Secret.Data[accounts.PasswordKey])
	default:
		return ""
	}
}

// given is the password in the Secret that spec names, without the newline that an editor adds.
func given(seen UserFacts) []byte {
	if seen.Given == nil {
		return nil
	}
	return bytes.TrimRight(seen.Given.Data[accounts.PasswordKey], "\n")
}

// data is the content of the Secret with a password.
func (w WriteSecret) data(password string) (map[string][]byte, error) {
	declared := w.facts.Engine
	user := engine.User{Name: w.user.Spec.Name, Password: password, CA: string(w.facts.Connection.Data[engine.EntryCA])}
	if len(w.user.Spec.Databases) > 0 && engine.HasDatabases(declared) {
		user.Database = w.user.Spec.Databases[0].Name
	}
	data, err := engine.UserConnection(engine.Resolve(named.ClusterFacts(w.facts.Cluster), declared), declared, user)
	if err == nil && certified(w.user, w.facts) && w.issue == "" {
		copyPair(data, w.facts.Secret.Data)
	}
	return data, err
}

// WriteSecret writes the Secret of a user, with another password if that is to be generated.
type WriteSecret struct {
	user     *dbv1.DatabaseUser
	facts    UserFacts
	generate bool
	// issue is why the Secret gets another certificate; "" if it keeps the present one, or has none.
	issue string
}

// Properties of WriteSecret. A stale view must not replace a password.
func (w WriteSecret) Properties() operation.Properties { return operation.Properties{LiveRead: true} }

func (w WriteSecret) String() string { return "write Secret " + naming.User(w.user.Name) }
