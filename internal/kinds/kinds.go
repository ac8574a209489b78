/*
SPDX-License-Identifier: Apache-2.0
*/

// Package kinds is the table of the API kinds that the operator reconciles.
package kinds

import (
	"io"
	"net/netip"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/dbcluster/databasecluster-operator/internal/backup"
	"github.com/dbcluster/databasecluster-operator/internal/companion"
	"github.com/dbcluster/databasecluster-operator/internal/controller"
	"github.com/dbcluster/databasecluster-operator/internal/database"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/restoration"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/user"
)

// Needs are what single kinds need besides the base. The reconcilers describe them.
type Needs struct {
	TransferImage, ClusterDomain string
	Policies                     []string
	NameServers                  []netip.Addr
	ReferencePeriod              time.Duration
	Random                       io.Reader
	Process                      string
	Started                      time.Time
	Comparisons                  *objects.Comparisons
	Nodes                        bool
	Meter                        subject.Meter
	Measured                     <-chan event.GenericEvent
}

// All returns the reconciler of each kind. A kind follows those whose indexes it uses.
func All(base kit.Base, s Needs) []kit.Reconciler {
	return []kit.Reconciler{
		&controller.Reconciler{Base: base, TransferImage: s.TransferImage, ClusterDomain: s.ClusterDomain, Policies: s.Policies,
			ReferencePeriod: s.ReferencePeriod,
			Random:          s.Random, Process: s.Process, Started: s.Started, Comparisons: s.Comparisons, Nodes: s.Nodes,
			Meter: s.Meter, Measured: s.Measured},
		&backup.Reconciler{Base: base, TransferImage: s.TransferImage, NameServers: s.NameServers},
		&restoration.Reconciler{Base: base},
		&database.Reconciler{Base: base},
		&user.Reconciler{Base: base, Random: s.Random, ReferencePeriod: s.ReferencePeriod},
		&companion.Reconciler{Base: base, ReferencePeriod: s.ReferencePeriod},
	}
}
