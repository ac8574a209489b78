//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// oddTexts are what people type by mistake, or on purpose.
var oddTexts = []string{
	"", " ", "DROP", "'; DROP TABLE x; --", `"quoted"`, "it's", "two\nlines", "a tab\t", "nul\x00", "\x7f", "$(id)", "`id`", `back\slash`, "-rf", "{{ .host }}",
	"%s%n", "ünïcödé", "\u202egnp.exe", "👋", strings.Repeat("x", 64), strings.Repeat("x", 300), "../../etc/passwd", "*", "null", "true", "1e3",
}

// oddFields set a text in a field of a user.
var oddFields = map[string]func(*dbv1.DatabaseUser, string){
	"spec.name":            func(u *dbv1.DatabaseUser, text string) { u.Spec.Name = text },
	"spec.clusterRef.name": func(u *dbv1.DatabaseUser, text string) { u.Spec.ClusterRef.Name = text },
	"spec.secretName":      func(u *dbv1.DatabaseUser, text string) { u.Spec.SecretName = text },
	"spec.databases":       func(u *dbv1.DatabaseUser, text string) { u.Spec.Databases[0].Name = text },
	"privileges":           func(u *dbv1.DatabaseUser, text string) { u.Spec.Databases[0].Privileges = []string{text} },
	"spec.attributes": func(u *dbv1.DatabaseUser, text string) {
		u.Spec.Attributes = map[string]dbv1.DatabaseObjectAttribute{"connectionLimit": dbv1.DatabaseObjectAttribute(text)}
	},
	"attributes": func(u *dbv1.DatabaseUser, text string) {
		u.Spec.Attributes = map[string]dbv1.DatabaseObjectAttribute{text: "1"}
	},
	"spec.existing":      func(u *dbv1.DatabaseUser, text string) { u.Spec.Existing = dbv1.ExistingPolicy(text) },
	"spec.drift":         func(u *dbv1.DatabaseUser, text string) { u.Spec.Drift = dbv1.DriftPolicy(text) },
	"spec.reclaimPolicy": func(u *dbv1.DatabaseUser, text string) { u.Spec.ReclaimPolicy = dbv1.ReclaimPolicy(text) },
}

// oddDatabaseFields set a text in a field of a database.
var oddDatabaseFields = map[string]func(*dbv1.Database, string){
	"spec.name":            func(d *dbv1.Database, text string) { d.Spec.Name = text },
	"spec.clusterRef.name": func(d *dbv1.Database, text string) { d.Spec.ClusterRef.Name = text },
	"spec.owner":           func(d *dbv1.Database, text string) { d.Spec.Owner = text },
	"spec.attributes": func(d *dbv1.Database, text string) {
		d.Spec.Attributes = map[string]dbv1.DatabaseObjectAttribute{"schemas": dbv1.DatabaseObjectAttribute(text)}
	},
	"attributes": func(d *dbv1.Database, text string) {
		d.Spec.Attributes = map[string]dbv1.DatabaseObjectAttribute{text: "1"}
	},
	"spec.existing":      func(d *dbv1.Database, text string) { d.Spec.Existing = dbv1.ExistingPolicy(text) },
	"spec.drift":         func(d *dbv1.Database, text string) { d.Spec.Drift = dbv1.DriftPolicy(text) },
	"spec.reclaimPolicy": func(d *dbv1.Database, text string) { d.Spec.ReclaimPolicy = dbv1.ReclaimPolicy(text) },
}

func oddUser(cluster *dbv1.DatabaseCluster) *dbv1.DatabaseUser {
	u := userOf(cluster, "")
	u.GenerateName, u.Spec.Name = "odd-", "odd"
	u.Spec.Databases = []dbv1.DatabaseUserGrant{{Name: "app", Privileges: []string{"readOnly"}}}
	return u
}

func TestOddTextsAreRefusedBySentencesThatNameTheField(t *testing.T) {
	parallel(t)
	cluster := created(t, nil)
	for field, set := range oddFields {
		for _, text := range oddTexts {
			u := oddUser(cluster)
			set(u, text)
			mustNameIfRefused(t, u, field, text)
		}
	}
	for field, set := range oddDatabaseFields {
		for _, text := range oddTexts {
			d := &dbv1.Database{}
			d.Namespace, d.GenerateName, d.Spec.Name, d.Spec.ClusterRef.Name = cluster.Namespace, "odd-", "odd", cluster.Name
			set(d, text)
			mustNameIfRefused(t, d, field, text)
		}
	}
}

// mustNameIfRefused fails if the API server refuses an object without the name of a field, or accepts control characters in it.
func mustNameIfRefused(t *testing.T, object client.Object, field, text string) {
	t.Helper()
	err := admin.Create(t.Context(), object, client.DryRunAll)
	if err != nil && !strings.Contains(err.Error(), field) {
		t.Errorf("%T %s %q: %v", object, field, text, err)
	}
	if strings.ContainsAny(text, "\x00\n\t\x7f") && err == nil {
		t.Errorf("%T %s accepts %q", object, field, text)
	}
}

// A name that the API server accepts is data for the action, character for character.
func TestOddNamesReachTheActionAsTheyAre(t *testing.T) {
	parallel(t)
	engine := accountant(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine }, ends)
	want := map[string]string{}
	for _, text := range oddTexts {
		u := oddUser(cluster)
		u.Spec.Name, u.Spec.Databases[0].Name = text, text
		if admin.Create(t.Context(), u) == nil {
			want[string(u.UID)] = text
		}
	}
	if len(want) < len(oddTexts)/2 {
		t.Fatalf("the API server accepts only %q", want)
	}
	eventually(t, "a Job with all users", func() error {
		secrets := &corev1.SecretList{}
		labels := client.MatchingLabels{dbv1.LabelComponent: dbv1.ComponentObjects, dbv1.LabelInstance: cluster.Name}
		if err := admin.List(t.Context(), secrets, client.InNamespace(cluster.Namespace), labels); err != nil {
			return err
		}
		best := 0
		for _, s := range secrets.Items {
			got := 0
			for id, name := range documented(t, s) {
				if want[id] != name {
					t.Fatalf("the action gets %q, want %q", name, want[id])
				}
				got++
			}
			best = max(best, got)
		}
		return errorIf(best < len(want), "the largest document has %d of %d users", best, len(want))
	})
}

// documented are the names of users in the document of a Job, by identifier; none for another Secret.
func documented(t *testing.T, secret corev1.Secret) map[string]string {
	t.Helper()
	text, is := secret.Data["document"]
	if !is {
		return nil
	}
	var document protocol.DeclaredObjects
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, u := range document.Users {
		if password := secret.Data[strings.TrimPrefix(u.PasswordFile, naming.ObjectsPath+"/")]; len(password) != 32 {
			t.Errorf("user %q has the password %q", u.Name, password)
		}
		if u.Databases[0].Name != u.Name {
			t.Errorf("user %q has the database %q", u.Name, u.Databases[0].Name)
		}
		names[u.ID] = u.Name
	}
	return names
}
