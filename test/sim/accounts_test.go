/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// accountSequences test databases and users in the database.
var accountSequences = []world.Story{
	world.Tell("users", peopled(1), together(addDatabase("invoices"), addUser("billing", "invoices")), addUser("reporting", "invoices"), grantUser("billing", "orders")),
	world.Tell("users-before-the-cluster", withPeople(addUser("billing", "invoices")), create(1, saved, ofPeople)),
	world.Tell("users-rotation", peopled(1), addUser("billing"), rotateUser("billing")),
	world.Tell("users-deleted", peopled(1), together(addUser("billing", removable), addUser("reporting")), together(removeUser("billing"), removeUser("reporting"))),
	world.Tell("users-deleted-while-hibernating", peopled(1), addUser("billing", removable), hibernate(true), removeUser("billing"), hibernate(false)),
	world.Tell("users-deleted-with-the-cluster", peopled(1), addUser("billing", removable), together(removeUser("billing"), remove())),
	world.Tell("users-while-paused", peopled(1), pause(true), addUser("billing"), pause(false)),
	world.Tell("users-exist", peopled(1), world.MakeAccount("billing"), addUser("billing", removable), adoptUser("billing"), removeUser("billing")),
	world.Tell("users-of-one-name", peopled(1), addUser("billing", removable), addUser("twin", named("billing")), removeUser("billing")),
	world.Tell("users-changed-by-a-person", peopled(1), together(addUser("billing"), addUser("reporting", reports)), together(world.ChangeAccount("billing"), world.ChangeAccount("reporting")),
		annotate("a look at the users is asked for", dbv1.AnnotationRefresh), grantUser("reporting", "invoices")),
	world.Tell("users-job-fails", peopled(1), world.GoesWrong(world.Trouble{Verb: "objects", Code: 30, Times: 1}), addUser("billing")),
	world.Tell("users-job-retries", peopled(1), world.GoesWrong(world.Trouble{Verb: "objects", Code: 11, Times: 1}), addUser("billing")),
	world.Tell("users-secret-deleted", peopled(1), addUser("billing"), removeSecret("billing-user"), annotate("a look at the users is asked for", dbv1.AnnotationRefresh)),
	world.Tell("users-data-replaced", backedUp("old", peopleEngine), peopled(1), addUser("billing"), replaceData("yesterday", "old"), setMode("yesterday", dbv1.RestoreUndo), removeRestore("yesterday")),
}

// peopleEngine has users.
const peopleEngine = "peopledb-v1"

// withPeople runs a step in a world that has the engine with users.
func withPeople(s world.Step) world.Step {
	do := s.Do
	s.Do = func(w *world.World) {
		declare(w, world.AnyEngine)
		e := store.Get[*dbv1.DatabaseEngine](w.Store, world.AnyEngine).DeepCopy()
		e.ObjectMeta = metav1.ObjectMeta{Name: peopleEngine}
		e.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{Length: 16}}}
		e.Spec.Connection = &dbv1.EngineConnection{Type: "people", Entries: map[string]dbv1.EngineTemplate{"password": `{{ secret "password" }}`, "uri": `{{ .owner }}@{{ .host }}`}}
		e.Spec.Actions.Objects = &dbv1.EngineObjects{Command: []string{"peopledb", "objects"}, Databases: dbv1.DatabasesSupported, PasswordKey: "password"}
		w.Store.Put(e)
		do(w)
	}
	return s
}

// ofPeople gives a cluster the engine with users.
func ofPeople(c *dbv1.DatabaseCluster) { c.Spec.Engine = peopleEngine }

// peopled starts a story with an existing cluster that has users.
func peopled(replicas int32) world.Step {
	return withPeople(running(replicas, saved, ofPeople))
}

func addDatabase(name string) world.Step {
	return world.Step{What: fmt.Sprintf("Database %s is created", name), Do: func(w *world.World) {
		d := &dbv1.Database{ObjectMeta: w.Meta(name)}
		d.Spec.ClusterRef.Name, d.Spec.Name = w.Name, name
		w.Store.Put(d)
	}}
}

// addUser creates a DatabaseUser that can use databases. A text is the name of a database.
func addUser(name string, details ...any) world.Step {
	return world.Step{What: fmt.Sprintf("DatabaseUser %s is created", name), Do: func(w *world.World) {
		u := &dbv1.DatabaseUser{ObjectMeta: w.Meta(name)}
		u.Spec.ClusterRef.Name, u.Spec.Name = w.Name, name
		for _, detail := range details {
			switch d := detail.(type) {
			case string:
				u.Spec.Databases = append(u.Spec.Databases, dbv1.DatabaseUserGrant{Name: d, Privileges: []string{"readWrite"}})
			case func(*dbv1.DatabaseUser):
				d(u)
			}
		}
		w.Store.Put(u)
	}}
}

func removable(u *dbv1.DatabaseUser) { u.Spec.ReclaimPolicy = dbv1.ReclaimDelete }

func reports(u *dbv1.DatabaseUser) { u.Spec.Drift = dbv1.DriftReport }

func named(name string) func(*dbv1.DatabaseUser) {
	return func(u *dbv1.DatabaseUser) { u.Spec.Name = name }
}

// changeUser is a change of a DatabaseUser by its owner.
func changeUser(name, what string, change func(*dbv1.DatabaseUser)) world.Step {
	return world.Step{What: fmt.Sprintf("DatabaseUser %s %s", name, what), Do: func(w *world.World) {
		u := store.Get[*dbv1.DatabaseUser](w.Store, name)
		change(u)
		w.Store.Put(u)
	}}
}

func grantUser(name, database string) world.Step {
	return changeUser(name, "may also read "+database, func(u *dbv1.DatabaseUser) {
		u.Spec.Databases = append(u.Spec.Databases, dbv1.DatabaseUserGrant{Name: database, Privileges: []string{"readOnly"}})
	})
}

func adoptUser(name string) world.Step {
	return changeUser(name, "takes over what exists", func(u *dbv1.DatabaseUser) { u.Spec.Existing = dbv1.ExistingAdopt })
}

func rotateUser(name string) world.Step {
	return changeUser(name, "gets another password", func(u *dbv1.DatabaseUser) {
		metav1.SetMetaDataAnnotation(&u.ObjectMeta, dbv1.AnnotationRotateCredentials, "now")
	})
}

func removeSecret(name string) world.Step {
	return world.Step{What: fmt.Sprintf("Secret %s is deleted", name), Do: func(w *world.World) {
		w.Delete(store.Get[*corev1.Secret](w.Store, name))
	}}
}

func removeUser(name string) world.Step {
	return world.Step{What: fmt.Sprintf("DatabaseUser %s is deleted", name), Do: func(w *world.World) {
		w.Delete(store.Get[*dbv1.DatabaseUser](w.Store, name))
	}}
}

// accountMutants are mistakes about databases and users.
var accountMutants = map[string]mutant{
	"a user is ready without a run": {
		interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			if world.KindOf(object) != "DatabaseUser" {
				return c.SubResource(sub).Patch(ctx, object, patch, options...)
			}
			data, err := patch.Data(object)
			data = []byte(strings.Replace(string(data), `"status":"False","type":"Ready"`, `"status":"True","type":"Ready"`, 1))
			return firstOf(err, c.SubResource(sub).Patch(ctx, object, client.RawPatch(patch.Type(), data), options...))
		}},
		"users", "is ready, but the database does not have the user",
	},
	"a user ends before it is removed": {
		interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			u := &dbv1.DatabaseUser{}
			if strings.Contains(object.GetName(), "-objects-") && c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: "billing"}, u) == nil && u.DeletionTimestamp != nil {
				return firstOf(removeFinalizer(ctx, c, u, "billing"), c.Create(ctx, object, options...))
			}
			return c.Create(ctx, object, options...)
		}},
		"users-deleted", "ends, but the database still has the user",
	},
}

func init() { maps.Copy(dataMutants, accountMutants) }
