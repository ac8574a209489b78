/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// withVault runs a step in a world that has the engine vault, and withSafe in one that has the engine safe.
func withVault(s world.Step) world.Step { return withVaultOf(world.VaultEngine, s) }
func withSafe(s world.Step) world.Step  { return withVaultOf(world.SafeEngine, s) }

func withVaultOf(name string, s world.Step) world.Step {
	do := s.Do
	s.Do = func(w *world.World) {
		e := &dbv1.DatabaseEngine{}
		e.Name = name
		e.Spec.Topology = dbv1.TopologyIndependent
		e.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{Length: 16}}}
		e.Spec.Connection = &dbv1.EngineConnection{Type: "vault", Entries: map[string]dbv1.EngineTemplate{"password": `{{ secret "password" }}`}}
		e.Spec.Actions.Credentials = &dbv1.EngineAction{Command: []string{"vault", "credentials"}}
		w.Store.Put(e)
		do(w)
	}
	return s
}

// locked gives a cluster the engine vault, and secured the engine safe.
func locked(c *dbv1.DatabaseCluster)  { c.Spec.Engine = world.VaultEngine }
func secured(c *dbv1.DatabaseCluster) { c.Spec.Engine = world.SafeEngine }

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

func rotateNow() world.Step {
	return annotate("new passwords are asked for", dbv1.AnnotationRotateCredentials)
}

// generatedGone deletes the Secret with the generated password. Clients have a wrong password until the members restart.
func generatedGone() world.Step {
	return world.Step{What: "Secret orders-credentials is deleted", Do: func(w *world.World) {
		w.Store.Remove(store.Get[*corev1.Secret](w.Store, naming.Credentials(w.Name)))
	}}
}

// connectionGone deletes the connection Secret. The operator does not watch it.
func connectionGone() world.Step {
	return world.Step{What: "Secret orders-connection is deleted", Do: func(w *world.World) {
		w.Store.Remove(store.Get[*corev1.Secret](w.Store, naming.Connection(w.Name)))
	}}
}

func overlap(d time.Duration) world.Step {
	return set("spec.credentials.rotation.overlap is set to "+d.String(), func(c *dbv1.DatabaseCluster) {
		c.Spec.Credentials.Rotation.Overlap = &metav1.Duration{Duration: d}
	})
}

// refusedParameter sets a parameter that the engine does not offer. The operator then changes no member.
func refusedParameter(refused bool) world.Step {
	return set(fmt.Sprintf("a parameter that the engine refuses is set: %t", refused), func(c *dbv1.DatabaseCluster) {
		c.Spec.Parameters = nil
		if refused {
			c.Spec.Parameters = map[string]string{"max_connections": "20"}
		}
	})
}
