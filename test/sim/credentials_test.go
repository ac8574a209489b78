/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// vault and safe are engines with a generated password and a connection. Their action credentials rotates without a restart. A vault
// accepts the previous password during the overlap, as Redis does. A safe accepts one password, as PostgreSQL does.
const (
	vault = "vault-v1"
	safe  = "safe-v1"
)

// withVault runs a step in a world that has the engine vault, and withSafe in one that has the engine safe.
func withVault(s step) step { return withVaultOf(vault, s) }
func withSafe(s step) step  { return withVaultOf(safe, s) }

func withVaultOf(name string, s step) step {
	do := s.do
	s.do = func(w *world) {
		e := &dbv1.DatabaseEngine{}
		e.Name = name
		e.Spec.Topology = dbv1.TopologyIndependent
		e.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{Length: 16}}}
		e.Spec.Connection = &dbv1.EngineConnection{Type: "vault", Entries: map[string]dbv1.EngineTemplate{"password": `{{ secret "password" }}`}}
		e.Spec.Actions.Credentials = &dbv1.EngineAction{Command: []string{"vault", "credentials"}}
		w.store.put(e)
		do(w)
	}
	return s
}

// locked gives a cluster the engine vault, and secured the engine safe.
func locked(c *dbv1.DatabaseCluster)  { c.Spec.Engine = vault }
func secured(c *dbv1.DatabaseCluster) { c.Spec.Engine = safe }

// ownSecret gives a cluster the Secret "credentials" of the user.
func ownSecret(c *dbv1.DatabaseCluster) { c.Spec.Credentials.SecretName = "credentials" }

func rotateNow() step {
	return annotate("new passwords are asked for", dbv1.AnnotationRotateCredentials)
}

// generatedGone deletes the Secret with the generated password. Clients have a wrong password until the members restart.
func generatedGone() step {
	return step{what: "Secret orders-credentials is deleted", do: func(w *world) {
		w.store.remove(get[*corev1.Secret](w.store, "orders-credentials"))
	}}
}

// overlaps reports whether the database of the cluster can accept two passwords.
func (w *world) overlaps() bool {
	cluster := w.cluster()
	return cluster != nil && cluster.Spec.Engine == vault
}

// accept starts a database, which applies the files of its Secret.
func (w *world) accept(pod *corev1.Pod) {
	secret := get[*corev1.Secret](w.store, "orders-credentials")
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

func (w *world) setPasswords(pod string, all []string) {
	passwords := maps.Clone(w.store.disk.passwords)
	if passwords == nil {
		passwords = map[string][]string{}
	}
	passwords[pod] = all
	w.store.disk.passwords = passwords
}

// rotate executes the action credentials with the files of its pod. It needs a password that the database accepts.
func (w *world) rotate(pod *corev1.Pod) {
	secret, files := get[*corev1.Secret](w.store, "orders-credentials"), map[string]string{}
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
	for member, accepted := range w.store.disk.passwords {
		if sets.New(accepted...).HasAny(slices.Collect(maps.Values(files))...) {
			w.setPasswords(member, next)
		} else {
			w.breaks("%s accepts none of the passwords of pod %s", member, pod.Name)
		}
	}
}

// watchClients checks at any moment of a rotation that every running vault accepts the password that clients have.
func (w *world) watchClients() {
	secret := get[*corev1.Secret](w.store, "orders-credentials")
	if secret != nil && secret.Annotations[dbv1.AnnotationRotation] != "" && w.overlaps() {
		w.checkClients()
	}
}

// checkClients checks that every running member accepts the password that clients have.
func (w *world) checkClients() {
	connection := get[*corev1.Secret](w.store, "orders-connection")
	if connection == nil || get[*corev1.Secret](w.store, "orders-credentials") == nil {
		return
	}
	for _, pod := range all[*corev1.Pod](w.store) {
		accepted, known := w.store.disk.passwords[pod.Name]
		if known && runs(pod) && pod.DeletionTimestamp == nil && !slices.Contains(accepted, string(connection.Data["password"])) {
			w.breaks("pod %s does not accept the password of the connection Secret", pod.Name)
		}
	}
}

// random depends only on the passwords so far: after a failure, the next attempt generates the same ones.
func (w *world) random() io.Reader {
	var seed []byte
	for _, name := range []string{"orders-credentials", "orders-connection"} {
		if secret := get[*corev1.Secret](w.store, name); secret != nil {
			seed = fmt.Append(seed, secret.Data)
		}
	}
	return rand.NewChaCha8(sha256.Sum256(seed))
}
