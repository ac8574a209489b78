/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	"github.com/dbcluster/databasecluster-operator/internal/pki"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// billing is a user with a certificate, which the database has.
func billing(t *testing.T, authority pki.Authority, issuedAt time.Time) (*dbv1.DatabaseUser, UserFacts) {
	t.Helper()
	u := &dbv1.DatabaseUser{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "billing", UID: "u", Generation: 1}}
	u.Spec.ClusterRef.Name, u.Spec.Name, u.Spec.Authentication = "orders", "billing", dbv1.AuthenticateCertificate
	u.Status.Applied, u.Status.ClusterUID = "before", plans.UID
	cluster, engine := plans.Orders(), &dbv1.DatabaseEngine{}
	engine.Name, cluster.Spec.Engine = "any", "any"
	cluster.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}, ClientCertificates: dbv1.ClientCertificatesAccept}
	engine.Spec.Actions.Objects = &dbv1.EngineObjects{Certificates: dbv1.CertificatesSupported, PasswordKey: "password"}
	engine.Spec.Connection = &dbv1.EngineConnection{Type: "any"}
	files, err := authority.IssueClient("billing", issuedAt)
	if err != nil {
		t.Fatal(err)
	}
	seen := UserFacts{
		Seen: accounts.Seen{Cluster: cluster, Engine: engine}, At: plans.Now, Period: 5 * time.Minute,
		Connection: &corev1.Secret{Data: map[string][]byte{"ca.crt": files["ca.crt"]}},
		Authority:  state.Certificate{Name: "orders-ca", UID: "ca", CertificateFacts: pki.AuthorityFacts(authority.Files())},
	}
	w := WriteSecret{user: u, facts: seen, issue: "the test needs its other keys"}
	data, err := w.data("a password")
	if err != nil {
		t.Fatal(err)
	}
	copyPair(data, files)
	seen.Secret = &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "billing-user", ResourceVersion: "7"}, Data: data}
	seen.Secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(u, dbv1.GroupVersion.WithKind("DatabaseUser"))}
	u.Status.Certificate = &dbv1.UserCertificateStatus{}
	return u, seen
}

func authority(t *testing.T) pki.Authority {
	t.Helper()
	a, err := pki.NewAuthority("orders", plans.Now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// write is the operation of a plan that writes the Secret; nil for none.
func write(p UserPlan) *WriteSecret {
	for _, o := range p.Operations {
		if w, is := o.(WriteSecret); is {
			return &w
		}
	}
	return nil
}

func TestACertificateIsIssuedWhenItIsNeeded(t *testing.T) {
	a, other := authority(t), authority(t)
	next, err := a.Renew(plans.Now)
	if err != nil {
		t.Fatal(err)
	}
	two := pki.LeafLife * 2 / 3
	for name, c := range map[string]struct {
		age    time.Duration
		change func(*dbv1.DatabaseUser, *UserFacts)
		why    string
	}{
		"it is valid":         {time.Hour, nil, ""},
		"soon":                {two - time.Hour, nil, ""},
		"two thirds are over": {two, nil, "two thirds of its life are over"},
		"no Secret":           {0, func(_ *dbv1.DatabaseUser, s *UserFacts) { s.Secret = nil }, "the Secret has no tls.crt, tls.key"},
		"no key":              {0, func(_ *dbv1.DatabaseUser, s *UserFacts) { delete(s.Secret.Data, "tls.key") }, "the Secret has no tls.key"},
		"the CA was renewed": {0, func(_ *dbv1.DatabaseUser, s *UserFacts) {
			s.Authority.CertificateFacts = pki.AuthorityFacts(next.Files())
		},
			"the CA has changed"},
		"another CA": {0, func(_ *dbv1.DatabaseUser, s *UserFacts) {
			s.Authority.CertificateFacts = pki.AuthorityFacts(other.Files())
		},
			"the Secret has a certificate that no CA in ca.crt issued"},
		"the name of another": {0, func(u *dbv1.DatabaseUser, s *UserFacts) { u.Spec.Name = "boss" }, `the Secret has a certificate for the user "billing"`},
		"another password": {0, func(u *dbv1.DatabaseUser, _ *UserFacts) {
			u.Annotations = map[string]string{dbv1.AnnotationRotateCredentials: "now"}
		},
			"the password is replaced, too"},
	} {
		u, seen := billing(t, a, plans.Now.Add(-c.age))
		if c.change != nil {
			c.change(u, &seen)
		}
		p := For(u, seen)
		w := write(p)
		if (w != nil) != (c.why != "") || w != nil && !strings.HasPrefix(w.issue, c.why) {
			t.Errorf("%s: %+v", name, w)
		}
		if _, version := p.Binding(u); (version == "") != (c.why != "") {
			t.Errorf("%s: the database gets the Secret %q", name, version)
		}
	}
	u, seen := billing(t, a, plans.Now.Add(time.Hour-two))
	p := For(u, seen) // a certificate begins five minutes before it is issued
	if left := p.certificate.renewal; left < 58*time.Minute || left > time.Hour || !p.Certificate(u, nil).NotAfter.Time.Equal(plans.Now.Add(time.Hour-two+pki.LeafLife)) {
		t.Errorf("again in %s, valid until %v", left, p.Certificate(u, nil))
	}
}

// Otherwise the operator would issue a certificate with the name of the superuser, or of a user of another DatabaseUser.
func TestOnlyAUserThatTheDatabaseHasAcceptedGetsACertificate(t *testing.T) {
	for name, change := range map[string]func(*dbv1.DatabaseUser){
		"the database has not accepted it": func(u *dbv1.DatabaseUser) { u.Status.Applied = "" },
		"another cluster of the name had":  func(u *dbv1.DatabaseUser) { u.Status.ClusterUID = "another" },
	} {
		u, seen := billing(t, authority(t), plans.Now)
		change(u)
		seen.Secret = nil
		p := For(u, seen)
		if w := write(p); w == nil || w.issue != "" || p.Certificate(u, nil) != nil {
			t.Errorf("%s: %+v", name, w)
		}
	}
	u, seen := billing(t, authority(t), plans.Now)
	seen.Authority = state.Certificate{}
	if p := For(u, seen); write(p) != nil || p.Reason != dbv1.ReasonObjectPending || !strings.Contains(p.Message, "orders-ca") {
		t.Errorf("without a CA: %v, %s", p.Operations, p.Message)
	}
}

func TestAUserIsReadyOnlyWithItsCertificate(t *testing.T) {
	u, seen := billing(t, authority(t), plans.Now)
	u.Status.Applied, u.Status.Certificate = "", nil
	declared := accounts.OfUser(u)
	declared.PasswordVersion = "7"
	job := batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", UID: "j", Annotations: map[string]string{
		dbv1.AnnotationObjects: accounts.Version{ID: "u", Content: declared.Version()}.String(),
	}}}
	seen.Jobs, seen.Cluster.Status.Objects = []batchv1.Job{job}, &dbv1.ClusterObjectsStatus{JobUID: "j", Occasion: "data.1", Results: "."}
	p := For(u, seen)
	status := p.StatusOf(seen.Seen, nil, metav1.NewTime(plans.Now))
	if p.Ready || p.Stalled || !strings.Contains(p.Message, "issues its certificate") || status.Applied == "" {
		t.Errorf("%+v, %+v", p.Verdict, status)
	}
	u.Status.DatabaseObjectStatus = status
	if p := For(u, seen); p.Ready || p.Certificate(u, nil) == nil || p.Reason != dbv1.ReasonObjectPending {
		t.Errorf("the database has no certificate yet: %+v", p.Verdict)
	}
}

func TestAUserWithoutTheFieldLosesItsCertificateAndKeepsFilesOfAPerson(t *testing.T) {
	u, seen := billing(t, authority(t), plans.Now)
	u.Spec.Authentication = dbv1.AuthenticatePassword
	p := For(u, seen)
	w := write(p)
	if w == nil || w.issue != "" {
		t.Fatalf("%+v", w)
	}
	if data, err := w.data("a password"); err != nil || data["tls.key"] != nil || data["tls.crt"] != nil || p.Certificate(u, nil) != nil {
		t.Errorf("%v: the Secret keeps the key", err)
	}
	u.Status.Certificate = nil
	if w := write(For(u, seen)); w != nil {
		t.Errorf("the Secret is written: %+v", w)
	}
}

func TestANameThatIsTooLongHasNoCertificate(t *testing.T) {
	u, seen := billing(t, authority(t), plans.Now)
	u.Spec.Name = strings.Repeat("n", 65)
	if p := For(u, seen); !p.Stalled || p.Reason != dbv1.ReasonCertificateUnsupported || write(p) != nil {
		t.Errorf("%+v", p.Verdict)
	}
}
