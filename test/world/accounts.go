/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// account is a database or a user in the database.
type account struct {
	// id is that of the object that created it; "" for one that a person created.
	id string
	// is all that was declared, with the password.
	is string
}

// place is the name of an account in the data of the first member: other data has others.
func (w *World) place(kind, name string) string {
	data := ""
	if claim := w.Claim(0); claim != nil {
		data = w.disk.volumes[claim.UID].data
	}
	return strings.Join([]string{data, kind, name}, "/")
}

// setAccount replaces an account, or removes it if it is nil.
func (w *World) setAccount(at string, now *account) {
	w.disk.accounts = maps.Clone(w.disk.accounts)
	if delete(w.disk.accounts, at); now != nil {
		w.disk.accounts[at] = *now
	}
}

// performObjects runs the action objects.
func (w *World) performObjects(pod *corev1.Pod) exit {
	if w.Claim(0) == nil || len(w.serving()) == 0 {
		return actionFails(protocol.ExitTransient, "no member accepts writes")
	}
	secret := w.declarationOf(pod)
	var document protocol.DeclaredObjects
	Must(json.Unmarshal(secret.Data["document"], &document))
	result := &protocol.ObjectAnswers{}
	answer := func(kind string, d protocol.DeclaredObject, is string) {
		letter, known := w.declare(kind, d, is).Letter()
		if !known {
			panic("a result without a letter")
		}
		result.Results += string(letter)
	}
	for _, d := range document.Databases {
		answer("Database", d.DeclaredObject, d.Owner)
	}
	for _, u := range document.Users {
		password := secret.Data[u.ID]
		if u.Mode != protocol.RemoveObject && len(password) == 0 {
			w.Breaks("the action gets user %s without a password", u.Name)
		}
		answer("DatabaseUser", u.DeclaredObject, fmt.Sprint(u.Databases)+string(password))
	}
	return exitWith(protocol.Result{Objects: result})
}

// declarationOf is the Secret with the document of a Job.
func (w *World) declarationOf(pod *corev1.Pod) *corev1.Secret {
	i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == naming.ObjectsVolume })
	return store.Get[*corev1.Secret](w.Store, pod.Spec.Volumes[i].Secret.SecretName)
}

// declare is what the action does with one object.
func (w *World) declare(kind string, d protocol.DeclaredObject, is string) protocol.ObjectResult {
	at := w.place(kind, d.Name)
	live, exists := w.disk.accounts[at]
	switch {
	case d.Mode == protocol.RemoveObject && live.id == d.ID:
		w.watchRemoved(kind, d)
		w.setAccount(at, nil)
	case d.Mode == protocol.RemoveObject:
	case exists && live.id != d.ID && !d.Adopt:
		return protocol.ObjectExists
	case d.Mode == protocol.CheckObject && live.is != is:
		return protocol.ObjectDrifted
	case !exists:
		w.setAccount(at, &account{id: d.ID, is: is})
		return protocol.ObjectCreated
	default:
		w.setAccount(at, &account{id: d.ID, is: is})
	}
	return protocol.ObjectDone
}

// MakeAccount creates a user by hand.
func MakeAccount(name string) Step {
	return Step{What: "a person creates the user " + name + " in the database", Do: func(w *World) {
		w.setAccount(w.place("DatabaseUser", name), &account{is: "by hand"})
		w.Store.Touch()
	}}
}

// ChangeAccount changes a user by hand.
func ChangeAccount(name string) Step {
	return Step{What: "a person changes the user " + name + " in the database", Do: func(w *World) {
		at := w.place("DatabaseUser", name)
		w.setAccount(at, &account{id: w.disk.accounts[at].id, is: "by hand"})
		w.Store.Touch()
	}}
}
