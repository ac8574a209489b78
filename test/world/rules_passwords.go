/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// vault and safe are engines with a generated password and a connection. Their action credentials rotates without a restart. A vault
// accepts the previous password during the overlap, as Redis does. A safe accepts one password, as PostgreSQL does.
const (
	// VaultEngine accepts the previous password during the overlap, as Redis does.
	VaultEngine = "vault-v1"
	// SafeEngine accepts one password, as PostgreSQL does.
	SafeEngine = "safe-v1"
)

// lockedOut is how long clients may have a password that no ready member accepts: between the action that puts another password in force
// and the write of the connection Secret. A database that accepts one password leaves no other way.
const lockedOut = 20 * time.Second

// watchAccess checks that the connection Secret has a password that a ready member accepts, except for a moment.
func (w *World) watchAccess() {
	connection := store.Get[*corev1.Secret](w.Store, naming.Connection(w.Name))
	ready, accepted := 0, connection == nil || store.Get[*corev1.Secret](w.Store, naming.Credentials(w.Name)) == nil
	for _, pod := range w.serving() {
		all, known := w.disk.passwords[pod.Name]
		if known {
			ready++
			accepted = accepted || slices.Contains(all, string(connection.Data["password"]))
		}
	}
	switch {
	case accepted || ready == 0 || w.Away:
		w.refusedSince = time.Time{}
	case w.refusedSince.IsZero():
		w.refusedSince = w.Clock.Now()
	case w.Clock.Now().Sub(w.refusedSince) > lockedOut:
		w.Breaks("for %s no ready member has accepted the password of the connection Secret", lockedOut)
	}
}

// overlaps reports whether the database of the cluster can accept two passwords.
func (w *World) overlaps() bool {
	cluster := w.Cluster()
	return cluster != nil && cluster.Spec.Engine == VaultEngine
}

// accept starts a database, which applies the files of its Secret.
func (w *World) accept(pod *corev1.Pod) {
	secret := store.Get[*corev1.Secret](w.Store, naming.Credentials(w.Name))
	if secret == nil || pod.Labels[dbv1.LabelComponent] != dbv1.ComponentDatabase {
		return
	}
	all := []string{string(secret.Data["password"])}
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		if w.overlaps() && strings.HasPrefix(key, "password.") {
			all = append(all, string(secret.Data[key]))
		}
	}
	w.setPasswords(pod.Name, all)
}

func (w *World) setPasswords(pod string, all []string) {
	passwords := maps.Clone(w.disk.passwords)
	if passwords == nil {
		passwords = map[string][]string{}
	}
	passwords[pod] = all
	w.disk.passwords = passwords
}

// rotate executes the action credentials with the files of its pod. It needs a password that the database accepts.
func (w *World) rotate(pod *corev1.Pod) {
	secret, files := store.Get[*corev1.Secret](w.Store, naming.Credentials(w.Name)), map[string]string{}
	for _, volume := range pod.Spec.Volumes {
		if volume.Name == naming.SecretsVolume {
			for _, item := range volume.Secret.Items {
				files[item.Path] = string(secret.Data[item.Key])
			}
		}
	}
	next := []string{files["password"]}
	if previous, found := files["password.previous"]; found && w.overlaps() {
		next = append(next, previous)
	}
	for member, accepted := range w.disk.passwords {
		if sets.New(accepted...).HasAny(slices.Collect(maps.Values(files))...) {
			w.setPasswords(member, next)
		} else {
			w.Breaks("%s accepts none of the passwords of pod %s", member, pod.Name)
		}
	}
}

// watchClients checks at any moment of a rotation that every running vault accepts the password that clients have.
func (w *World) watchClients() {
	secret := store.Get[*corev1.Secret](w.Store, naming.Credentials(w.Name))
	if secret != nil && secret.Annotations[dbv1.AnnotationRotation] != "" && w.overlaps() {
		w.checkClients()
	}
}

// checkClients checks that every running member accepts the password that clients have.
func (w *World) checkClients() {
	connection := store.Get[*corev1.Secret](w.Store, naming.Connection(w.Name))
	if connection == nil || store.Get[*corev1.Secret](w.Store, naming.Credentials(w.Name)) == nil {
		return
	}
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		accepted, known := w.disk.passwords[pod.Name]
		if known && Runs(pod) && pod.DeletionTimestamp == nil && !slices.Contains(accepted, string(connection.Data["password"])) {
			w.Breaks("pod %s does not accept the password of the connection Secret", pod.Name)
		}
	}
}

// random depends only on the passwords so far: after a failure, the next attempt generates the same ones.
func (w *World) random() io.Reader {
	var seed []byte
	for _, name := range []string{naming.Credentials(w.Name), naming.Connection(w.Name)} {
		if secret := store.Get[*corev1.Secret](w.Store, name); secret != nil {
			seed = fmt.Append(seed, secret.Data)
		}
	}
	for _, secret := range store.All[*corev1.Secret](w.Store) {
		switch {
		case secret.Labels[dbv1.LabelComponent] != dbv1.ComponentObjects:
		case secret.Data["document"] != nil: // a story does not change with the form of the document
			seed = append(seed, secret.Name...)
		default:
			seed = fmt.Append(seed, secret.Data)
		}
	}
	return rand.NewChaCha8(sha256.Sum256(seed))
}
