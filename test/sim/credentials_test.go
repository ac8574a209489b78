/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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

// credentialsMutants are mistakes about what clients get, and about objects that the operator does not watch.
var credentialsMutants = map[string]mutant{
	"the connection Secret keeps the previous password": {
		interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if object.GetName() == "orders-connection" {
				return nil
			}
			return c.Patch(ctx, object, patch, options...)
		}},
		"credentials-rotation-of-one-password", "no ready member has accepted the password of the connection Secret",
	},
	"the connection Secret is never written": {
		interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if object.GetName() == "orders-connection" {
				return fmt.Errorf("the API server is away")
			}
			return c.Patch(ctx, object, patch, options...)
		}},
		"credentials-rotation-of-one-password", "no ready member has accepted the password of the connection Secret",
	},
	"an unwatched object is written without another look": {
		interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			err := c.SubResource(sub).Patch(ctx, object, patch, options...)
			secret := &corev1.Secret{}
			if c.Get(ctx, client.ObjectKey{Namespace: clusterNamespace, Name: "orders-credentials"}, secret) != nil {
				return err
			}
			written := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"written":%q}}}`, object.GetResourceVersion()))
			return firstOf(err, c.Patch(ctx, secret, written))
		}},
		"credentials-connection-gone", "follows the write of Secret orders-credentials",
	},
}

func init() { maps.Copy(dataMutants, credentialsMutants) }

func rotateNow() step {
	return annotate("new passwords are asked for", dbv1.AnnotationRotateCredentials)
}

// generatedGone deletes the Secret with the generated password. Clients have a wrong password until the members restart.
func generatedGone() step {
	return step{what: "Secret orders-credentials is deleted", do: func(w *world) {
		w.store.remove(get[*corev1.Secret](w.store, naming.Credentials(w.name)))
	}}
}

// connectionGone deletes the connection Secret. The operator does not watch it.
func connectionGone() step {
	return step{what: "Secret orders-connection is deleted", do: func(w *world) {
		w.store.remove(get[*corev1.Secret](w.store, naming.Connection(w.name)))
	}}
}

func overlap(d time.Duration) step {
	return set("spec.credentials.rotation.overlap is set to "+d.String(), func(c *dbv1.DatabaseCluster) {
		c.Spec.Credentials.Rotation.Overlap = &metav1.Duration{Duration: d}
	})
}

// refusedParameter sets a parameter that the engine does not offer. The operator then changes no member.
func refusedParameter(refused bool) step {
	return set(fmt.Sprintf("a parameter that the engine refuses is set: %t", refused), func(c *dbv1.DatabaseCluster) {
		c.Spec.Parameters = nil
		if refused {
			c.Spec.Parameters = map[string]string{"max_connections": "20"}
		}
	})
}

// lockedOut is how long clients may have a password that no ready member accepts: between the action that puts another password in force
// and the write of the connection Secret. A database that accepts one password leaves no other way.
const lockedOut = 20 * time.Second

// watchAccess checks that the connection Secret has a password that a ready member accepts, except for a moment.
func (w *world) watchAccess() {
	connection := get[*corev1.Secret](w.store, naming.Connection(w.name))
	ready, accepted := 0, connection == nil || get[*corev1.Secret](w.store, naming.Credentials(w.name)) == nil
	for _, pod := range w.serving() {
		all, known := w.disk.passwords[pod.Name]
		if known {
			ready++
			accepted = accepted || slices.Contains(all, string(connection.Data["password"]))
		}
	}
	switch {
	case accepted || ready == 0 || w.away:
		w.refusedSince = time.Time{}
	case w.refusedSince.IsZero():
		w.refusedSince = w.clock.Now()
	case w.clock.Now().Sub(w.refusedSince) > lockedOut:
		w.breaks("for %s no ready member has accepted the password of the connection Secret", lockedOut)
	}
}

// overlaps reports whether the database of the cluster can accept two passwords.
func (w *world) overlaps() bool {
	cluster := w.cluster()
	return cluster != nil && cluster.Spec.Engine == vault
}

// accept starts a database, which applies the files of its Secret.
func (w *world) accept(pod *corev1.Pod) {
	secret := get[*corev1.Secret](w.store, naming.Credentials(w.name))
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
	passwords := maps.Clone(w.disk.passwords)
	if passwords == nil {
		passwords = map[string][]string{}
	}
	passwords[pod] = all
	w.disk.passwords = passwords
}

// rotate executes the action credentials with the files of its pod. It needs a password that the database accepts.
func (w *world) rotate(pod *corev1.Pod) {
	secret, files := get[*corev1.Secret](w.store, naming.Credentials(w.name)), map[string]string{}
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
			w.breaks("%s accepts none of the passwords of pod %s", member, pod.Name)
		}
	}
}

// watchClients checks at any moment of a rotation that every running vault accepts the password that clients have.
func (w *world) watchClients() {
	secret := get[*corev1.Secret](w.store, naming.Credentials(w.name))
	if secret != nil && secret.Annotations[dbv1.AnnotationRotation] != "" && w.overlaps() {
		w.checkClients()
	}
}

// checkClients checks that every running member accepts the password that clients have.
func (w *world) checkClients() {
	connection := get[*corev1.Secret](w.store, naming.Connection(w.name))
	if connection == nil || get[*corev1.Secret](w.store, naming.Credentials(w.name)) == nil {
		return
	}
	for _, pod := range all[*corev1.Pod](w.store) {
		accepted, known := w.disk.passwords[pod.Name]
		if known && runs(pod) && pod.DeletionTimestamp == nil && !slices.Contains(accepted, string(connection.Data["password"])) {
			w.breaks("pod %s does not accept the password of the connection Secret", pod.Name)
		}
	}
}

// random depends only on the passwords so far: after a failure, the next attempt generates the same ones.
func (w *world) random() io.Reader {
	var seed []byte
	for _, name := range []string{naming.Credentials(w.name), naming.Connection(w.name)} {
		if secret := get[*corev1.Secret](w.store, name); secret != nil {
			seed = fmt.Append(seed, secret.Data)
		}
	}
	return rand.NewChaCha8(sha256.Sum256(seed))
}
