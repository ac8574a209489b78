/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// readAgreements reads the ConfigMaps in which members keep their agreement, when they may have to be created or deleted, and in each live
// pass. The content is no fact, so the operator does not watch them. The lock of the primary is read whenever it may have
// changed since claim 0 recorded it.
func (o *observation) readAgreements(ctx context.Context) {
	names := engine.StateConfigMaps(o.Cluster.Name, o.Engine)
	if o.Err != nil || len(names) == 0 && !state.HadRights(o.ServiceAccount) || o.agrees() {
		return
	}
	found := &corev1.ConfigMapList{}
	err := o.Live.List(ctx, found, client.InNamespace(o.Cluster.Namespace), client.MatchingLabels(naming.Selector(o.Cluster.Name)))
	if err != nil {
		o.Err = fmt.Errorf("list the agreements of the members of %s: %w", o.Cluster.Name, err)
		return
	}
	o.AgreementsRead = true
	for i := range found.Items {
		// another client may use the labels of members
		if a := state.AgreementOf(&found.Items[i], o.Cluster.Name, engine.LockOf(o.Engine)); a.Cluster != "" {
			o.Agreements = append(o.Agreements, a)
		}
	}
	for _, name := range names {
		listed := slices.ContainsFunc(o.Agreements, func(a state.Agreement) bool { return a.Name == name })
		if !listed && o.FindLive(ctx, name, &corev1.ConfigMap{}) {
			o.Foreign = append(o.Foreign, state.Ref{Kind: "ConfigMap", Name: name})
		}
	}
	slices.SortFunc(o.Agreements, func(a, b state.Agreement) int { return cmp.Compare(a.Name, b.Name) })
}

// readKept reads the ConfigMap in which running members keep their configuration. The cache may not show the latest write yet, and has no
// time of it. So it is not read when a Job has just put a configuration in force.
func (o *observation) readKept(ctx context.Context) {
	name, _ := engine.ConfigurationMap(o.Cluster.Name, o.Engine)
	if name == "" || o.StatefulSet == nil || o.Cluster.DeletionTimestamp != nil {
		return
	}
	find := o.Find
	if o.hasConfigured() {
		find = o.FindLive
	}
	config := &corev1.ConfigMap{}
	if !find(ctx, name, config) {
		return
	}
	if a := state.AgreementOf(config, o.Cluster.Name, nil); a.Cluster == o.Cluster.UID && !a.Terminating {
		o.Kept, o.KeptAt = state.ConfigMapFacts(config), state.WrittenAt(config)
	}
}

// hasConfigured reports whether a Job has put a configuration in force that the status does not have yet.
func (o *observation) hasConfigured() bool {
	record := o.Cluster.Status.Configuration
	return record != nil && record.State == dbv1.ConfigurationApplying && slices.ContainsFunc(o.Jobs, func(t jobs.Job) bool {
		return t.Component == dbv1.ComponentConfigure && t.Succeeded
	})
}

// agrees reports whether running members have agreed, so that their agreement existed then. Another client may have deleted it since:
// the ConfigMap with the configuration is watched, the others are looked up before an operation that needs a live read.
func (o *observation) agrees() bool {
	if o.live || o.Cluster.DeletionTimestamp != nil || o.StatefulSet == nil || o.lacksKept() {
		return false
	}
	if !engine.HasRoles(o.Engine) {
		return o.Ready() > 0
	}
	primary, found := o.Primary()
	return found && (engine.LockOf(o.Engine) == nil || o.recordsLock(primary))
}

// lacksKept reports whether the ConfigMap with the configuration of the members does not exist.
func (o *observation) lacksKept() bool {
	name, _ := engine.ConfigurationMap(o.Cluster.Name, o.Engine)
	return name != "" && o.Kept == nil
}

// recordsLock reports whether claim 0 records the lock of the primary. A member that has just become ready may have it since then.
func (o *observation) recordsLock(primary state.Member) bool {
	first, _ := state.First(o.Volumes, func(v state.Volume) bool { return v.Ordinal == 0 })
	return first.Primary == primary.Name && first.Term != "" && primary.Steady(o.At, state.Steadily)
}

// readTasks reads the Jobs of actions on members. An engine that does not exist any more may have had some.
func (o *observation) readTasks(ctx context.Context) {
	unknown := o.Engine == nil && o.Cluster.Spec.Engine != ""
	if !unknown && !engine.Related(o.Engine) && !engine.Configures(o.Engine) {
		return
	}
	for _, kind := range resources.MemberActions {
		list := &batchv1.JobList{}
		o.Labeled(ctx, list, naming.Labels(o.Cluster, kind.Component))
		for i := range list.Items {
			o.Jobs = append(o.Jobs, o.Job(ctx, kind, &list.Items[i]))
		}
	}
	slices.SortFunc(o.Jobs, func(a, b jobs.Job) int { return cmp.Compare(a.Name, b.Name) })
}
