/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// disk is the state outside the API: data of volumes and the bucket, completed work, and planned failures. Its values
// are replaced, never changed.
type disk struct {
	bucket  map[string]artifact // by location
	volumes map[types.UID]volume
	// succeeded are the names of the Jobs that have succeeded.
	succeeded map[string]bool
	// exits are the exit codes of databases in pods with the shutdown finalizer.
	exits map[string]int32
	// streams are the backups of volumes that started after the last possible write of a member. They map streamOf to
	// the UID of the claim.
	streams map[string]types.UID
	// lost are the pods on nodes that do not answer.
	lost map[string]bool
	// full are the claims whose volumes have no space.
	full map[types.UID]bool
	// used is the used part of volumes in percent, by their claims; a volume that is not in it is nearly empty.
	used map[types.UID]int32
	// parts is what the action measure prints.
	parts string
	// passwords are those that the database of a member accepts, by the name of its pod.
	passwords map[string][]string
	// own are the DatabaseBackups that the operator created.
	own map[types.UID]bool
	// serving are the volumes with which members with data of their own served at the end of the last step, consent is the request of
	// the annotation rebuild then.
	serving  map[string]types.UID
	servedBy types.UID
	consent  string
	// quota is the highest CPU limit of a Job's pod; 0 for any.
	quota    int64
	troubles []Trouble
	// backOff is how long a Job waits after a failed attempt.
	backOff time.Duration
	// shared is the state of a database that members have together.
	shared shared
	// accounts are the databases and users in the database.
	accounts map[string]account
	// completed are the places of complete backups among all, by their IDs. Only a search depends on them: two backups of one story may
	// end in any order.
	completed map[string]int
	// failed are the volumeClaimTemplates of the DatabaseRestores into whose volumes a restore has failed.
	failed map[string]bool
	// nodes are the drains of nodes, and the changes of the primary.
	nodes nodeFacts
}

// artifact is a backup in the bucket.
type artifact struct {
	id string
	// parts are the data of each member.
	parts map[int]string
	// sources are the origins of the parts.
	sources map[int]origin
	// cluster is the UID of the cluster in the manifest, and engine its engine; "" if the manifest has none.
	cluster, engine string
	complete        bool
	corrupt         bool
	// lossy makes a restore omit data and succeed nevertheless.
	lossy bool
}

// origin is what a part was read from: the UID of the cluster, the image that read it, the volume with the data, and the rows of the data
// at the beginning, if members have one database. offline is true if no member ran.
type origin struct {
	cluster, image, data string
	volume               types.UID
	rows                 int
	offline              bool
}

// marker is the marker of a restore: its ID and its progress.
type marker struct {
	id    string
	state protocol.MarkState
}

// volume is the volume of a claim.
type volume struct {
	// data is its content, marker is the content that a restore wrote.
	data   string
	marker marker
	// rows is how many rows of clients it has, if members have one database.
	rows int
	// served reports whether a member ran with it.
	served bool
	// engines are those that ran with it, in order.
	engines string
	// wipes is how often its content was lost.
	wipes int
	// protected is true while the action protect lets no client write to it.
	protected bool
}

// Trouble is a planned failure of a container: a verb of transfer, "hook" or "member".
type Trouble struct {
	Verb string
	// About is a part of the arguments; "" for any.
	About string
	Code  protocol.ExitCode
	// Hangs makes the container run without an end.
	Hangs bool
	// Times is the number of failures; less than 0 for always.
	Times int
}

func newDisk() *disk {
	return &disk{
		bucket: map[string]artifact{}, volumes: map[types.UID]volume{}, succeeded: map[string]bool{},
		exits: map[string]int32{}, streams: map[string]types.UID{}, lost: map[string]bool{}, full: map[types.UID]bool{},
		used: map[types.UID]int32{}, own: map[types.UID]bool{},
		serving: map[string]types.UID{}, shared: newShared(), accounts: map[string]account{}, completed: map[string]int{},
		failed: map[string]bool{},
	}
}

func (d *disk) clone() *disk {
	return &disk{
		maps.Clone(d.bucket), maps.Clone(d.volumes), maps.Clone(d.succeeded), maps.Clone(d.exits), maps.Clone(d.streams), maps.Clone(d.lost),
		maps.Clone(d.full), maps.Clone(d.used), d.parts, maps.Clone(d.passwords), maps.Clone(d.own), maps.Clone(d.serving), d.servedBy,
		d.consent, d.quota, slices.Clone(d.troubles), d.backOff, d.shared.clone(), maps.Clone(d.accounts), maps.Clone(d.completed),
		maps.Clone(d.failed), nodeFacts{slices.Clone(d.nodes.drains), d.nodes.last, d.nodes.moved},
	}
}

// String has all that a play depends on, except the order in which backups were complete.
func (d *disk) String() string {
	of := d.shared
	bucket, volumes, acked := d.ranked()
	return fmt.Sprintln(bucket, volumes, d.succeeded, d.exits, d.streams, d.lost, d.full, d.used, d.parts, d.own, d.serving,
		d.consent, d.quota, d.troubles, d.backOff, acked, of.voters, of.left, of.ran, of.frozen, of.stalled, of.unnoticed, of.divided,
		of.gone, of.passedTo, of.parameters, of.tunedFor, d.accounts, d.nodes.drains)
}

// goesWrong returns the planned failure of a call, if there is one.
func (d *disk) goesWrong(c call) (Trouble, bool) {
	i := slices.IndexFunc(d.troubles, func(t Trouble) bool {
		return t.Verb == c.verb && t.Times != 0 && strings.Contains(strings.Join(c.args, " "), t.About)
	})
	if i < 0 {
		return Trouble{}, false
	}
	if t := &d.troubles[i]; !t.Hangs && t.Times > 0 {
		t.Times--
	}
	return d.troubles[i], true
}

// streamOf names the part of one member in a backup.
func streamOf(location string, member int) string {
	return fmt.Sprintf("%s member %d", location, member)
}

// with returns an artifact with one more part.
func (a artifact) with(member int, data string) artifact {
	a.parts = maps.Clone(a.parts)
	if a.parts == nil {
		a.parts = map[int]string{}
	}
	a.parts[member] = data
	return a
}

// from returns an artifact with the origin of one of its parts.
func (a artifact) from(member int, source origin) artifact {
	a.sources = maps.Clone(a.sources)
	if a.sources == nil {
		a.sources = map[int]origin{}
	}
	a.sources[member] = source
	return a
}

// Claim returns the claim that a member uses, or nil.
func (w *World) Claim(ordinal int32) *corev1.PersistentVolumeClaim {
	return store.Get[*corev1.PersistentVolumeClaim](w.Store, naming.Claim(w.inUse(), ordinal))
}

// inUse is the cluster with the volumes that its members use.
func (w *World) inUse() *dbv1.DatabaseCluster {
	cluster := w.Cluster()
	if cluster == nil {
		return &dbv1.DatabaseCluster{ObjectMeta: w.Meta(w.Name)}
	}
	return state.Observed{StatefulSet: store.Get[*appsv1.StatefulSet](w.Store, w.Name), ClaimTemplates: w.templates()}.WithVolumes(cluster)
}

func (w *World) templates() []string {
	var claims []corev1.PersistentVolumeClaim
	for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		claims = append(claims, *claim)
	}
	return state.ClaimTemplatesOf(w.Name, claims)
}

// ClaimOf returns the claim of a pod's data volume, or nil.
func (w *World) ClaimOf(pod *corev1.Pod) *corev1.PersistentVolumeClaim {
	for _, v := range pod.Spec.Volumes {
		_, _, restored := naming.TemplateOf(w.Name, v.Name+"-"+naming.Member(w.Name, 0))
		if (v.Name == naming.DataVolume || restored) && claimName(pod, v) != "" {
			return store.Get[*corev1.PersistentVolumeClaim](w.Store, claimName(pod, v))
		}
	}
	return nil
}

// claimName returns the claim of a volume; an ephemeral claim has the name of its pod.
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

// Runs reports whether containers of a pod run.
func Runs(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning }

// HasEnded reports whether all containers of a pod have ended.
func HasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// isAgreement reports whether members keep their agreement in an object.
func (w *World) isAgreement(object client.Object) bool {
	_, is := object.(*corev1.ConfigMap)
	return is && (object.GetName() == naming.State(w.Name, AgreementName) || object.GetName() == naming.State(w.Name, KeptName))
}

// isRight reports whether an object is one of the rights of members, which have no owner.
func isRight(object client.Object) bool {
	switch object.(type) {
	case *corev1.ServiceAccount, *rbacv1.Role, *rbacv1.RoleBinding:
		return true
	default:
		return false
	}
}

// IsMemberClaim reports whether a claim belongs to a member, so that it has the user's data.
func (w *World) IsMemberClaim(claim *corev1.PersistentVolumeClaim) bool {
	_, _, named := naming.TemplateOf(w.Name, claim.Name)
	return named
}
