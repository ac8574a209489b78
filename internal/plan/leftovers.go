/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Removal is one object to delete, and why.
type Removal struct {
	Kind, Name string
	UID        types.UID
	Version    string
	Why        string
}

func (r Removal) String() string { return fmt.Sprintf("%s %s: %s", r.Kind, r.Name, r.Why) }

// leftovers are the ConfigMaps with former files of spec.config. They are asked for when the cluster has
// settled: no member runs with them any more.
func leftovers(cluster *dbv1.DatabaseCluster, observed state.Observed) []Removal {
	var all []Removal
	for _, config := range observed.Configs {
		if config.Name == resources.ConfigMapName(cluster) || config.DeletionTimestamp != nil {
			continue
		}
		all = append(all, Removal{"ConfigMap", config.Name, config.UID, config.ResourceVersion, "no member uses these files any more"})
	}
	return all
}
