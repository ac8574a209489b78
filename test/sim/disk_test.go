/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// disk is what is not in the API: what volumes and the bucket hold, what has come about, and what goes wrong.
// Its values are replaced, never changed.
type disk struct {
	bucket  map[string]artifact // by location
	volumes map[types.UID]volume
	// succeeded are the names of the Jobs that have succeeded.
	succeeded map[string]bool
	// exits are the codes with which the databases of pods ended that were held for that.
	exits map[string]int32
	// streams are the backups of volumes that began after the last moment at which a member could write to them: the UID of
	// the claim by streamOf.
	streams map[string]types.UID
	// lost are the pods whose node does not answer.
	lost map[string]bool
	// own are the DatabaseBackups that the operator created.
	own map[types.UID]bool
	// quota is how many CPUs the pod of a Job may have as its limit; 0 for any.
	quota    int64
	troubles []trouble
}

// artifact is a backup in the bucket.
type artifact struct {
	id string
	// parts are the data of each member.
	parts map[int]string
	// sources are where each part comes from.
	sources  map[int]origin
	complete bool
	corrupt  bool
	// lossy tells that a restore leaves data out, and succeeds all the same.
	lossy bool
}

// origin is the UID of the cluster that a part was read from, and the image that read it.
type origin struct{ cluster, image string }

// marker is the mark of a restore: its ID and how far it is.
type marker struct {
	id    string
	state protocol.MarkState
}

// volume is what a claim stands for.
type volume struct {
	// data is what is on it, marker what a restore has written there.
	data   string
	marker marker
	// served tells that a member ran with it.
	served bool
	// engines are those that ran with it, in their order.
	engines string
}

// trouble is something that goes wrong with what a container does: a verb of transfer, "hook" or "member".
type trouble struct {
	verb string
	// about is a part of the arguments; "" for any.
	about string
	code  protocol.ExitCode
	// hangs tells that the container does not end.
	hangs bool
	// times is how often it goes wrong; less than 0 for always.
	times int
}

func newDisk() *disk {
	return &disk{
		bucket: map[string]artifact{}, volumes: map[types.UID]volume{}, succeeded: map[string]bool{},
		exits: map[string]int32{}, streams: map[string]types.UID{}, lost: map[string]bool{}, own: map[types.UID]bool{},
	}
}

func (d *disk) clone() *disk {
	return &disk{
		maps.Clone(d.bucket), maps.Clone(d.volumes), maps.Clone(d.succeeded), maps.Clone(d.exits), maps.Clone(d.streams), maps.Clone(d.lost),
		maps.Clone(d.own), d.quota, slices.Clone(d.troubles),
	}
}

func (d *disk) String() string {
	return fmt.Sprintln(d.bucket, d.volumes, d.succeeded, d.exits, d.streams, d.lost, d.own, d.quota, d.troubles)
}

// goesWrong is what goes wrong with a call this time, and whether anything does.
func (d *disk) goesWrong(c call) (trouble, bool) {
	i := slices.IndexFunc(d.troubles, func(t trouble) bool {
		return t.verb == c.verb && t.times != 0 && strings.Contains(strings.Join(c.args, " "), t.about)
	})
	if i < 0 {
		return trouble{}, false
	}
	if t := &d.troubles[i]; !t.hangs && t.times > 0 {
		t.times--
	}
	return d.troubles[i], true
}

// streamOf names the part of a backup that one member gives.
func streamOf(location string, member int) string {
	return fmt.Sprintf("%s member %d", location, member)
}

// with is an artifact with one more part.
func (a artifact) with(member int, data string) artifact {
	a.parts = maps.Clone(a.parts)
	if a.parts == nil {
		a.parts = map[int]string{}
	}
	a.parts[member] = data
	return a
}

// from is an artifact that knows where one of its parts comes from.
func (a artifact) from(member int, source origin) artifact {
	a.sources = maps.Clone(a.sources)
	if a.sources == nil {
		a.sources = map[int]origin{}
	}
	a.sources[member] = source
	return a
}

// claimOf is the claim behind one of a pod's volumes, or nil.
func (w *world) claimOf(pod *corev1.Pod, volume string) *corev1.PersistentVolumeClaim {
	for _, v := range pod.Spec.Volumes {
		if v.Name == volume && claimName(pod, v) != "" {
			return get[*corev1.PersistentVolumeClaim](w.store, claimName(pod, v))
		}
	}
	return nil
}

// claimName is the claim of a volume; an ephemeral one is called after its pod.
func claimName(pod *corev1.Pod, v corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	default:
		return ""
	}
}

// runs tells whether containers of a pod run.
func runs(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning }

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// isSacred tells whether a claim is that of a member, whose data is the user's.
func isSacred(claim *corev1.PersistentVolumeClaim) bool {
	return strings.HasPrefix(claim.Name, "data-"+name+"-")
}
