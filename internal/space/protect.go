/*
SPDX-License-Identifier: Apache-2.0
*/

package space

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// headStart is how long a growth has before a volume that fills fast is protected.
const headStart = time.Minute

// burst is how long clients who filled a volume fast are expected to go on.
const burst = 5 * time.Minute

// guard is what a pass does about the protection.
type guard struct {
	// next is the protection to record; nil for none.
	next       *dbv1.ClusterStorageProtection
	operations operation.List
	// refuses is why clients cannot write, and text what the protection does; "" for nothing.
	refuses, text string
	// quiet is true if the database is not known to be protected: only the record remains (see stale), or data is inherited.
	quiet bool
	// unprotected is the volumeClaimTemplate whose data had its protection removed; "" to keep what the status has.
	unprotected string
	left        time.Duration
}

// protection is the recorded one; nil for none.
func protection(cluster *dbv1.DatabaseCluster) *dbv1.ClusterStorageProtection {
	if cluster.Status.Storage == nil {
		return nil
	}
	return cluster.Status.Storage.Protection
}

// protect makes a database read-only while the volume to which it writes is nearly full, and undoes that once it has space. Each state is
// recorded before its Job starts.
func protect(s *situation.Situation, f Facts, v verdict) guard {
	p := protection(s.Cluster)
	switch {
	case p == nil:
		return begin(s, f, v)
	case s.Deleting():
		return guard{next: p}
	case replaced(s, p) && rests(f, p):
		g := begin(s, f, v)
		if g.next == nil {
			g.next, g.quiet = p, true
		}
		return g
	default:
		return proceed(s, f, p)
	}
}

// rests reports whether no Job makes the database read-only now.
func rests(f Facts, p *dbv1.ClusterStorageProtection) bool {
	return p.State == dbv1.ProtectionProtected || f.Protection.idle()
}

// proceed goes on with a protection of the volumes that the members use.
func proceed(s *situation.Situation, f Facts, p *dbv1.ClusterStorageProtection) guard {
	switch {
	case p.State == dbv1.ProtectionLifting:
		return run(s, f, p, "")
	case roomy(s, f, p) && rests(f, p):
		return guard{next: turned(s, p, dbv1.ProtectionLifting), refuses: refusal(p)}
	case p.State != dbv1.ProtectionProtected:
		return run(s, f, p, dbv1.ProtectionProtected)
	case moved(s, p):
		return guard{next: turned(s, p, dbv1.ProtectionRenewing), refuses: refusal(p)}
	default:
		return guard{next: p, refuses: refusal(p), left: lasts(s, p)}
	}
}

// begin protects a database whose volume is nearly full.
func begin(s *situation.Situation, f Facts, v verdict) guard {
	m, is := fillsUp(s, f)
	left, soon := growsSoon(s, v, m)
	slow := m.VolumeUsage
	slow.Ahead = 0
	switch {
	case !is:
		return inherit(s, f)
	case soon && slow.Room() != state.NearlyFull:
		return guard{left: left}
	case !offered(s):
		return guard{text: "the engine has no action protect, so clients write until the volume is full"}
	default:
		p := &dbv1.ClusterStorageProtection{
			Usage: m.usage(), Capacity: m.Volume.Capacity, Reserve: resource.NewQuantity(m.Reserve(), resource.BinarySI),
		}
		return guard{next: turned(s, p, dbv1.ProtectionProtecting)}
	}
}

// fillsUp returns the volume for which a database is to be protected. An unknown use, or an unknown primary, is no reason.
func fillsUp(s *situation.Situation, f Facts) (m Measured, is bool) {
	m, known := writer(s, f)
	wanted := f.Asked && s.Cluster.Spec.Storage.WhenNearlyFull != dbv1.NearlyFullContinue && !s.Cluster.Spec.Paused && !s.Stopping()
	return m, known && wanted && m.Room() == state.NearlyFull && !m.shared()
}

// growsSoon reports whether a volume is about to have more space, or has it since the measurement. Then only its margin counts, not what
// clients write ahead: unlike a protection, a growth does not disturb them. It has some time for that.
func growsSoon(s *situation.Situation, v verdict, m Measured) (left time.Duration, soon bool) {
	if m.VolumeUsage.Capacity < m.Volume.Capacity.Value()/10*9 {
		return 0, true
	}
	last := cmp.Or(v.growth, recorded(s.Cluster))
	if last == nil || last.Refused != "" || !smaller(m.Volume, last.Size.Value()) {
		return 0, false
	}
	left = max(0, last.Time.Add(headStart).Sub(s.At))
	return left, left > 0
}

func offered(s *situation.Situation) bool {
	return s.Engine != nil && s.Engine.Spec.Actions.Protect != nil
}

// writer is the volume to which clients write: that of the primary, or the fullest one if the members have no primary.
func writer(s *situation.Situation, f Facts) (Measured, bool) {
	if !s.HasRoles() {
		return f.fullest()
	}
	primary, found := s.Primary()
	if !found {
		return Measured{}, false
	}
	return state.First(f.Measured, func(m Measured) bool { return m.Ordinal == primary.Ordinal })
}

// roomy reports whether the database needs no protection any more.
func roomy(s *situation.Situation, f Facts, p *dbv1.ClusterStorageProtection) bool {
	if !asked(s.Cluster) || s.Cluster.Spec.Storage.WhenNearlyFull == dbv1.NearlyFullContinue {
		return true
	}
	m, known := stopped(s, f, p)
	newer := known && m.Measured.After(p.Usage.Time.Time)
	if newer && m.Room() == state.Enough {
		return true
	}
	claim, u := p.Usage.Claim, state.VolumeUsage{
		Capacity: p.Usage.CapacityBytes, Available: p.Usage.CapacityBytes / 100 * int64(100-p.Usage.UsedPercent), Ahead: ahead(s, p),
	}
	if newer {
		claim, u = m.Claim, m.VolumeUsage
	}
	before, grown := u.Capacity <= p.Usage.CapacityBytes, grownBy(s, claim, p)
	u.Available, u.Capacity, u.UsedPercent = u.Available+grown, u.Capacity+grown, 0
	return before && grown > 0 && u.Room() == state.Enough
}

// stopped is the volume to which clients would write. Now they do not, so it is the rate from before that counts.
func stopped(s *situation.Situation, f Facts, p *dbv1.ClusterStorageProtection) (Measured, bool) {
	m, known := writer(s, f)
	m.Ahead = ahead(s, p)
	return m, known
}

// ahead is what clients are expected to write. It counts for a while, because a restore or another burst may have ended. If they go on,
// the database is protected again, each time with less space.
func ahead(s *situation.Situation, p *dbv1.ClusterStorageProtection) int64 {
	if lasts(s, p) == 0 {
		return 0
	}
	return p.Reserve.Value()
}

// lasts is how long that counts.
func lasts(s *situation.Situation, p *dbv1.ClusterStorageProtection) time.Duration {
	if !fast(p) {
		return 0
	}
	return max(0, p.Usage.Time.Add(burst).Sub(s.At))
}

// fast reports whether a volume filled so fast that more than its margin was reserved.
func fast(p *dbv1.ClusterStorageProtection) bool {
	return p.Reserve != nil && p.Reserve.Value() > state.VolumeUsage{Capacity: p.Usage.CapacityBytes}.Reserve()
}

// grownBy is by how much a volume has grown since the protection began. It counts before the kubelet measures the larger file system,
// because a protected database hardly writes.
func grownBy(s *situation.Situation, claim string, p *dbv1.ClusterStorageProtection) int64 {
	v, _ := state.First(s.InUse(), func(v state.Volume) bool { return v.Claim == claim })
	return v.Capacity.Value() - p.Capacity.Value()
}

// kept returns the volume that keeps a database read-only, because it has not enough space to lift the protection.
func kept(s *situation.Situation, f Facts) (m Measured, keeps bool) {
	p := protection(s.Cluster)
	if p == nil || p.State == dbv1.ProtectionLifting || roomy(s, f, p) {
		return Measured{}, false
	}
	m, known := stopped(s, f, p)
	return m, known && m.Room() != state.Enough
}

// stale reports whether the last measurement would begin another protection although it is from before the volume has grown.
func stale(s *situation.Situation, f Facts, p *dbv1.ClusterStorageProtection) (left time.Duration, waits bool) {
	m, is := fillsUp(s, f)
	if !is || m.Measured.After(p.Since.Time) {
		return 0, false
	}
	return m.Measured.Add(fresh).Sub(s.At) + time.Second, true
}

// turned is a protection in another state, which begins now, with the present primary.
func turned(s *situation.Situation, p *dbv1.ClusterStorageProtection, to dbv1.ProtectionState) *dbv1.ClusterStorageProtection {
	next := *p
	next.State, next.Since = to, metav1.NewTime(s.At)
	if m, known := target(s, p); known {
		next.Pod = string(m.UID)
	}
	return &next
}

// target is the member on which the action works: the primary, or the one with the volume if the members have none.
func target(s *situation.Situation, p *dbv1.ClusterStorageProtection) (state.Member, bool) {
	if s.HasRoles() {
		return s.Primary()
	}
	_, ordinal, named := naming.TemplateOf(s.Cluster.Name, p.Usage.Claim)
	return state.First(s.Members, func(m state.Member) bool { return named && m.Ordinal == ordinal && !m.Terminating })
}

// moved reports whether another pod is the primary since the state began: it may lack what the action has changed. After a restore, its
// volume has other data.
func moved(s *situation.Situation, p *dbv1.ClusterStorageProtection) bool {
	m, known := target(s, p)
	return known && string(m.UID) != p.Pod
}

// refusal is why clients cannot write; "" if that is not known yet.
func refusal(p *dbv1.ClusterStorageProtection) string {
	if p.State == dbv1.ProtectionProtecting || inherited(p) {
		return ""
	}
	text := fmt.Sprintf("transactions are read-only, because PersistentVolumeClaim %s was used to %d%% at %s", p.Usage.Claim,
		p.Usage.UsedPercent, p.Usage.Time.UTC().Format(time.RFC3339))
	if fast(p) {
		text += fmt.Sprintf(", and clients would have written at least %s more in three minutes", amount(p.Reserve.Value()))
	}
	return text
}
