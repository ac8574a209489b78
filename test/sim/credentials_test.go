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

// vault is an engine with a generated password and a connection. Its action credentials rotates without a restart.
const vault = "vault-v1"

// withVault runs a step in a world that has the engine.
func withVault(s step) step {
	do := s.do
	s.do = func(w *world) {
		e := &dbv1.DatabaseEngine{}
		e.Name = vault
		e.Spec.Topology = dbv1.TopologyIndependent
		e.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{Length: 16}}}
		e.Spec.Connection = &dbv1.EngineConnection{Type: "vault", Entries: map[string]dbv1.EngineTemplate{"password": `{{ secret "password" }}`}}
		e.Spec.Actions.Credentials = &dbv1.EngineAction{Command: []string{"vault", "credentials"}}
		w.store.put(e)
		do(w)
	}
	return s
}

// locked gives a cluster that engine.
func locked(c *dbv1.DatabaseCluster) { c.Spec.Engine = vault }

// ownSecret gives a cluster the Secret "credentials" of the user.
func ownSecret(c *dbv1.DatabaseCluster) { c.Spec.Credentials.SecretName = "credentials" }

func rotateNow() step {
	return annotate("new passwords are asked for", dbv1.AnnotationRotateCredentials)
}

// generatedGone deletes the Secret with the generated password. Clients have a wrong password until the members restart.
func generatedGone() step {
	return step{what: "Secret orders-credentials is deleted", do: func(w *world) {
		w.store.remove(get[*corev1.Secret](w.store, "orders-credentials"))
		w.store.disk.passwords = nil
	}}
}

// accept starts a database, which accepts every password of its Secret.
func (w *world) accept(pod *corev1.Pod) {
	secret := get[*corev1.Secret](w.store, "orders-credentials")
	if secret == nil || pod.Labels[dbv1.LabelComponent] != dbv1.ComponentDatabase {
		return
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		if strings.HasPrefix(key, "password") {
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
	secret := get[*corev1.Secret](w.store, "orders-credentials")
	var all []string
	for _, volume := range pod.Spec.Volumes {
		if volume.Name == naming.SecretsVolume {
			for _, item := range volume.Secret.Items {
				all = append(all, string(secret.Data[item.Key]))
			}
		}
	}
	for member, accepted := range w.store.disk.passwords {
		if sets.New(accepted...).HasAny(all...) {
			w.setPasswords(member, all)
		} else {
			w.breaks("%s accepts none of the passwords of pod %s", member, pod.Name)
		}
	}
}

// watchClients checks at any moment that every running member accepts the password that clients have.
func (w *world) watchClients() {
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
	var seed [32]byte
	if secret := get[*corev1.Secret](w.store, "orders-credentials"); secret != nil {
		seed = sha256.Sum256(fmt.Append(nil, secret.Data))
	}
	return rand.NewChaCha8(seed)
}
