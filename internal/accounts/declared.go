/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts

import (
	"cmp"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Kinds of declared objects.
const (
	KindDatabase = "Database"
	KindUser     = "DatabaseUser"
)

// Declared is a Database or a DatabaseUser.
type Declared struct {
	Kind string
	// Object has the metadata, Policy what the operator may do, and Status what is known so far.
	Object metav1.Object
	Policy dbv1.DatabaseObjectPolicy
	Status dbv1.DatabaseObjectStatus
	// Cluster is the name of the cluster, and Name that of the object in the database.
	Cluster, Name string
	Attributes    map[string]dbv1.DatabaseObjectAttribute
	// Owner is of a Database. Grants and the version of the password are of a DatabaseUser.
	Owner           string
	Grants          []dbv1.DatabaseUserGrant
	PasswordVersion string
	// Authentication is how a DatabaseUser should log in. Certified is true if its Secret has the certificate for that: the operator issues
	// none for a name that the database refuses.
	Authentication dbv1.UserAuthentication
	Certified      bool
}

// OfDatabase is a Database.
func OfDatabase(d *dbv1.Database) Declared {
	return Declared{
		Kind: KindDatabase, Object: d, Policy: d.Spec.DatabaseObjectPolicy, Status: d.Status.DatabaseObjectStatus,
		Cluster: d.Spec.ClusterRef.Name, Name: d.Spec.Name, Attributes: d.Spec.Attributes, Owner: d.Spec.Owner,
	}
}

// OfUser is a DatabaseUser.
func OfUser(u *dbv1.DatabaseUser) Declared {
	return Declared{
		Kind: KindUser, Object: u, Policy: u.Spec.DatabaseObjectPolicy, Status: u.Status.DatabaseObjectStatus,
		Cluster: u.Spec.ClusterRef.Name, Name: u.Spec.Name, Attributes: u.Spec.Attributes, Grants: u.Spec.Databases,
		PasswordVersion: u.Status.PasswordVersion, Authentication: u.Spec.Authentication,
		Certified: ByCertificate(u) && u.Status.Certificate != nil,
	}
}

// ByCertificate reports whether a user should log in by a certificate.
func ByCertificate(u *dbv1.DatabaseUser) bool {
	return u.Spec.Authentication == dbv1.AuthenticateCertificate
}

// ID is permanent, and of this object only.
func (d Declared) ID() string { return string(d.Object.GetUID()) }

// Deleting reports whether the object is being deleted.
func (d Declared) Deleting() bool { return d.Object.GetDeletionTimestamp() != nil }

// Removes reports whether the deletion of the object deletes it in the database, too.
func (d Declared) Removes() bool { return d.Policy.ReclaimPolicy == dbv1.ReclaimDelete }

// Mode is what the action does. Only what was in force as it is declared now can have been changed by another client.
func (d Declared) Mode() protocol.ObjectMode {
	switch {
	case d.Deleting():
		return protocol.RemoveObject
	case d.Policy.Drift == dbv1.DriftReport && d.Status.Applied == d.Content():
		return protocol.CheckObject
	default:
		return protocol.ApplyObject
	}
}

// Held reports whether a run has found or put the object in force, as it was declared then.
func (d Declared) Held() bool { return d.Status.Applied != "" }

// In is the object for a cluster: what was in force in another cluster of the name does not count.
func (d Declared) In(cluster types.UID) Declared {
	if d.Status.ClusterUID != string(cluster) {
		d.Status.Applied = ""
	}
	return d
}

// Version identifies what the action should do with the object. It does not depend on the mode of an object that stays: a run that has
// put it in force knows it for later checks, too.
func (d Declared) Version() string {
	if d.Deleting() {
		return d.Content() + "-removed"
	}
	return d.Content()
}

// Content identifies what is declared. With the generation, a spec that is changed back counts as another one.
func (d Declared) Content() string {
	content := []any{d.Object.GetGeneration(), d.Policy.Existing, d.Name, d.Attributes, d.Owner, d.Grants, d.PasswordVersion}
	if d.Certified { // the hashes of others are those of previous versions
		content = append(content, protocol.ByCertificate)
	}
	return objects.Hash(content)
}

// Prepared reports whether the action may get the object. Without its finalizer, it could not be removed from the database later.
func (d Declared) Prepared() bool {
	switch guarded := state.HasFinalizer(d.Object); {
	case d.Deleting():
		return guarded && d.Removes()
	case d.Removes() && !guarded:
		return false
	default:
		return d.Kind == KindDatabase || d.PasswordVersion != ""
	}
}

// Older returns the object that declares the same name, and came first; nil for none. Two objects must not change each other's.
func (d Declared) Older(all []Declared) *Declared {
	for _, other := range all {
		same := other.Kind == d.Kind && other.Cluster == d.Cluster && other.Name == d.Name && other.ID() != d.ID()
		if same && compare(other, d) < 0 {
			return &other
		}
	}
	return nil
}

func compare(a, b Declared) int {
	return cmp.Or(created(a).Compare(created(b)), cmp.Compare(a.ID(), b.ID()))
}

func created(d Declared) time.Time { return d.Object.GetCreationTimestamp().Time }

// Document is what the action reads, with the files of passwords in a folder.
func Document(all []Declared) protocol.DeclaredObjects {
	d := protocol.DeclaredObjects{Databases: []protocol.DeclaredDatabase{}, Users: []protocol.DeclaredUser{}} // not null
	for _, one := range all {
		common := protocol.DeclaredObject{
			ID: one.ID(), Name: one.Name, Mode: one.Mode(), Adopt: one.Policy.Existing == dbv1.ExistingAdopt, Attributes: texts(one.Attributes),
		}
		if one.Kind == KindDatabase {
			d.Databases = append(d.Databases, protocol.DeclaredDatabase{DeclaredObject: common, Owner: one.Owner})
			continue
		}
		user := protocol.DeclaredUser{DeclaredObject: common, Databases: grants(one.Grants)}
		if one.Certified {
			user.Authentication = protocol.ByCertificate
		}
		if !one.Deleting() {
			user.PasswordFile = naming.ObjectsPath + "/" + one.ID()
		}
		d.Users = append(d.Users, user)
	}
	return d
}

func texts(all map[string]dbv1.DatabaseObjectAttribute) map[string]string {
	out := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out[key] = string(all[key])
	}
	return out
}

func grants(all []dbv1.DatabaseUserGrant) []protocol.DeclaredGrant {
	out := make([]protocol.DeclaredGrant, 0, len(all))
	for _, g := range all {
		out = append(out, protocol.DeclaredGrant{Name: g.Name, Privileges: g.Privileges})
	}
	return out
}
