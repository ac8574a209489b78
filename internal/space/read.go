/*
SPDX-License-Identifier: Apache-2.0
*/

package space

import (
	"context"
	"fmt"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=storage.k8s.io,resources=storageclasses,verbs=get,roleName=manager-cluster-role

// ProtectionJob is a Job of the protection, if it exists.
type ProtectionJob struct {
	jobs.Job
	Found bool
}

// idle reports whether the Job makes no transactions read-only any more: it does not exist, or has failed.
func (j ProtectionJob) idle() bool { return !j.Found || j.Failed }

// ended reports whether no pod of the Job runs.
func (j ProtectionJob) ended() bool { return !j.Found || j.Ended() }

// young is how long a pod may have no measurement: the kubelet measures the volumes of a new pod within two minutes.
const young = 3 * time.Minute

// read asks the kubelets of the members about their volumes, and reads the StorageClass of one that fills. Only clusters that ask cost a
// request.
func read(ctx context.Context, o *subject.ClusterReading) {
	if o.Err != nil {
		return
	}
	f := Facts{Asked: o.Meter != nil && asked(o.Cluster), Image: o.TransferImage}
	f.measure(ctx, o)
	f.readJob(ctx, o)
	f.readLook(ctx, o)
	state.Put(&o.Observed, f)
}

func (f *Facts) measure(ctx context.Context, o *subject.ClusterReading) {
	if o.Meter == nil {
		return
	}
	nodes := map[string]string{}
	for _, m := range o.Members {
		if f.Asked && m.Node != "" && m.NodeAddress != "" {
			nodes[m.Node] = m.NodeAddress
		}
	}
	answers := o.Meter.Ask(client.ObjectKeyFromObject(o.Cluster), nodes)
	if f.Asked {
		f.match(o, answers)
		f.readClass(ctx, o)
	}
}

// match finds the measurement of each member's volume.
func (f *Facts) match(o *subject.ClusterReading, answers map[string]state.NodeUsage) {
	f.Begun = true
	for _, v := range o.Volumes {
		m, runs := state.First(o.Members, func(m state.Member) bool { return m.Ordinal == v.Ordinal && !m.Terminating })
		if !runs {
			continue
		}
		answer := answers[m.Node]
		asked := m.Node == "" || answer.Asked
		f.Begun = f.Begun && asked
		seen, known := answer.Volumes[o.Cluster.Namespace+"/"+v.Claim]
		switch {
		case known && o.At.Sub(seen.Measured) <= fresh:
			f.Measured = append(f.Measured, Measured{v, seen})
		case !asked:
		case m.Created.Add(young).After(o.At) && answer.Problem == "":
			f.Awaits = situation.Sooner(f.Awaits, m.Created.Add(young).Sub(o.At)+time.Second)
		default:
			f.Unknown = append(f.Unknown, fmt.Sprintf("PersistentVolumeClaim %s: %s", v.Claim, unmeasured(m, answer)))
		}
	}
}

// unmeasured is why a volume has no fresh measurement.
func unmeasured(m state.Member, answer state.NodeUsage) string {
	switch {
	case answer.Problem != "":
		return answer.Problem
	case m.Node == "":
		return fmt.Sprintf("pod %s has no node", m.Name)
	default:
		return fmt.Sprintf("the kubelet of node %s reports no use of the volume; its CSI driver may not support that", m.Node)
	}
}

// readClass reads whether volumes can be expanded, if one fills. Without the right, the API server refuses an expansion that is impossible.
func (f *Facts) readClass(ctx context.Context, o *subject.ClusterReading) {
	fullest, known := f.fullest()
	if o.Err != nil || !known || fullest.StorageClass == "" || fullest.UsedPercent < at(o.Cluster) || o.Cluster.Spec.Storage.AutoGrow == nil {
		return
	}
	class := &storagev1.StorageClass{}
	err := o.Live.Get(ctx, client.ObjectKey{Name: fullest.StorageClass}, class)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
	case err != nil:
		o.Err = fmt.Errorf("read StorageClass %s: %w", fullest.StorageClass, err)
	case class.AllowVolumeExpansion == nil || !*class.AllowVolumeExpansion:
		f.Expansion = fmt.Sprintf("StorageClass %s does not set allowVolumeExpansion", class.Name)
	}
}

// readJob reads the Job of the current state of the protection.
func (f *Facts) readJob(ctx context.Context, o *subject.ClusterReading) {
	recorded := protection(o.Cluster)
	if recorded == nil || o.Cluster.DeletionTimestamp != nil {
		return
	}
	_, ordinal, named := naming.TemplateOf(o.Cluster.Name, recorded.Usage.Claim)
	if name := jobName(o.Cluster, recorded, ordinal); named && name != "" {
		_, f.Protection.Job, f.Protection.Found = o.JobNamed(ctx, protectAction, name)
	}
}

// readLook reads the Job of the action measure.
func (f *Facts) readLook(ctx context.Context, o *subject.ClusterReading) {
	if !f.Asked || o.Engine == nil || o.Engine.Spec.Actions.Measure == nil {
		return
	}
	job, seen, found := o.JobNamed(ctx, lookAction, naming.MeasureJob(o.Cluster.Name, o.Cluster.UID))
	if found {
		f.Look = LookJob{Job: seen, Found: true}
		f.Look.Claim, f.Look.Capacity = occasionOf(job.Annotations[dbv1.AnnotationOccasion])
	}
}
