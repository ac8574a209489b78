/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Write is one object to apply.
type Write struct {
	resources.Child
	// UID and Version are those of the live object, "" when there is none.
	UID     types.UID
	Version string
	// Drift is the first path that is not as it should be, "" when there is no live object.
	Drift string
	// Eviction is a JSON patch to send first; nil for none.
	Eviction []resources.Operation
}

func (w Write) String() string {
	if w.UID == "" {
		return "create " + w.Child.String()
	}
	return "update " + w.Child.String() + " (" + w.Drift + ")"
}

// writes are the objects that are not as they should be, in order of creation: a member needs its DNS
// name and should never be without its disruption budget. Objects of somebody else are left alone, and
// no members are made whose names would lead to somebody else's Service. The port may be the engine's: while that is
// not known, Services stay as they are.
func writes(cluster *dbv1.DatabaseCluster, observed state.Observed) []Write {
	var all []Write
	add := func(child resources.Child, live metav1.Object) {
		if observed.Holds(child.Kind(), child.Name()) {
			return
		}
		if w, needed := writeOf(child, live); needed {
			all = append(all, w)
		}
	}
	headless := resources.HeadlessService(cluster)
	if engineKnown(cluster, observed) {
		add(headless, observed.HeadlessService)
		add(resources.Service(cluster), observed.Service)
	}
	add(resources.PodDisruptionBudget(cluster), observed.PodDisruptionBudget)
	if cluster.Spec.Config != nil {
		config := resources.ConfigMap(cluster)
		add(config, find(observed.Configs, config.Name()))
	}
	if membersMayBeMade(cluster, observed, headless) && !inherits(cluster, observed) {
		add(resources.StatefulSet(cluster, replicasNow(cluster, observed), observed), observed.StatefulSet)
	}
	return all
}

// membersMayBeMade tells whether the StatefulSet may be written: its members' names lead to the headless
// Service, what they need exists, and it is not on its way out. The first have to find their volumes filled, where
// they are to start with a backup.
func membersMayBeMade(cluster *dbv1.DatabaseCluster, observed state.Observed, headless resources.Child) bool {
	return !observed.Holds(headless.Kind(), headless.Name()) && !holdsBack(cluster, observed) && !ending(observed) &&
		!emptyHanded(cluster, observed)
}

func find(configs []*corev1.ConfigMap, name string) *corev1.ConfigMap {
	i := slices.IndexFunc(configs, func(c *corev1.ConfigMap) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return configs[i]
}

func writeOf(child resources.Child, live metav1.Object) (w Write, needed bool) {
	if reflect.ValueOf(live).IsNil() {
		return Write{Child: child}, true
	}
	drift := child.Drift(live)
	if drift == "" {
		return Write{}, false
	}
	return Write{Child: child, UID: live.GetUID(), Version: live.GetResourceVersion(), Drift: drift, Eviction: child.Eviction(live)}, true
}

func describe[T fmt.Stringer](all []T) string {
	texts := make([]string, 0, len(all))
	for _, one := range all {
		texts = append(texts, one.String())
	}
	return strings.Join(texts, ", ")
}
