/*
SPDX-License-Identifier: Apache-2.0
*/

// Package space keeps volumes from becoming full: it decides when they grow, reports what fills them, and protects a database whose
// volume is nearly full.
package space

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the space on the volumes.
var Subject = subject.Subject{Read: read, Decide: decide, Transitions: []operation.Transition{
	operation.Reported(dbv1.ConditionDiskPressure, metav1.ConditionTrue, "", corev1.EventTypeWarning),
	operation.Reported(dbv1.ConditionDiskPressure, metav1.ConditionUnknown, "", corev1.EventTypeWarning),
	operation.Reported(dbv1.ConditionDiskPressure, metav1.ConditionFalse, "", corev1.EventTypeNormal),
}}

// decide records a growth in the status, and the next pass requests that size of the claims: a crash between the two changes nothing. The
// same applies to the protection and its Job.
func decide(s *situation.Situation) subject.Decision {
	f := state.FactsOf[Facts](s.Observed)
	measured := look(s, f)
	judged := judge(s, f, measured)
	protected := protect(s, f, judged)
	return subject.Decision{
		Operations: append(protected.operations, measured.operations...), Refuses: protected.refuses,
		RequeueAfter: situation.Sooner(situation.Sooner(judged.left, protected.left), situation.Sooner(measured.left, f.staleIn(s.At))),
		Report:       reporter{s, f, judged, protected, measured}.report,
	}
}

// fresh is how long a measurement counts.
const fresh = 5 * time.Minute

// Facts are those that only this subject needs.
type Facts struct {
	// Asked is true if the use of the volumes is measured. Begun is true once each kubelet was asked.
	Asked, Begun bool
	// Measured are the volumes of members with a fresh measurement, and Unknown is why others have none.
	Measured []Measured
	Unknown  []string
	// Awaits is the time until a new pod without a measurement counts as unknown; 0 for none.
	Awaits time.Duration
	// Expansion is why the StorageClass does not expand volumes; "" if it does, or if that is unknown.
	Expansion string
	// Protection is the Job of the current state of the protection.
	Protection ProtectionJob
	// Look is the Job that measures what fills a volume.
	Look LookJob
	// Image has the transfer program; "" if the operator runs without it.
	Image string
}

// Measured is a volume of a member with its measurement.
type Measured struct {
	state.Volume
	state.VolumeUsage
}

// fullest is the volume of which most is used.
func (f *Facts) fullest() (fullest Measured, known bool) {
	for _, m := range f.Measured {
		if !known || m.UsedPercent > fullest.UsedPercent {
			fullest, known = m, true
		}
	}
	return fullest, known
}

// staleIn is the time until a measurement does not count any more, while others fail. The meter reports all other changes.
func (f *Facts) staleIn(now time.Time) time.Duration {
	soonest := f.Awaits
	if len(f.Unknown) == 0 {
		return soonest
	}
	for _, m := range f.Measured {
		soonest = situation.Sooner(soonest, m.Measured.Add(fresh).Sub(now)+time.Second)
	}
	return soonest
}

func (m Measured) usage() dbv1.ClusterStorageUsage {
	return dbv1.ClusterStorageUsage{
		Claim: m.Claim, UsedPercent: m.UsedPercent, CapacityBytes: m.VolumeUsage.Capacity, Time: metav1.NewTime(m.Measured),
	}
}

// shared reports whether the file system is larger than the claim: then others use it, too, and a larger claim adds nothing to it.
func (m Measured) shared() bool {
	return m.VolumeUsage.Capacity > m.Volume.Capacity.Value()/10*11
}

// asked reports whether the use of the volumes of a cluster is measured.
func asked(cluster *dbv1.DatabaseCluster) bool {
	storage := cluster.Spec.Storage
	return cluster.DeletionTimestamp == nil && (storage.AutoGrow != nil || storage.Usage == dbv1.StorageUsageMeasured)
}
