/*
SPDX-License-Identifier: Apache-2.0
*/

package archiver

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const (
	// defaultLag is the time after which log is stored.
	defaultLag = 5 * time.Second
	// tolerated is how much longer the archive may lack a commit until it is behind. While the database writes nothing, the archive
	// records that only once a minute.
	tolerated = 2 * time.Minute
	// stateFile is where the probes find the state of the archive.
	stateFile = "/tmp/archive.json"
)

// Kind is the kind of the action.
var Kind = jobs.ActionKind{Component: dbv1.ComponentArchive, Resources: resources, Connects: true}

// resources are those of a receiver, and of transfer, which holds at most the objects on their way.
func resources(cluster *dbv1.DatabaseCluster) corev1.ResourceRequirements {
	defaults := corev1.ResourceRequirements{Requests: pods.Quantities("50m", "192Mi"), Limits: pods.Quantities("1", "512Mi")}
	given := pods.Over(cluster.Spec.Helpers.Resources, cluster.Spec.Backup.Archive.Resources)
	return pods.WithDefaults(given, pods.AtMost(cluster.Spec.Resources, defaults))
}

// Render is the Deployment of the archive. Without members it has no pod: they have stopped after their last record was stored.
func Render(s *situation.Situation, found Facts) objects.Child {
	cluster := *s.Cluster
	cluster.Spec.Image = image(s, found.Deployment)
	at := cluster.Spec.Backup.Destination
	call := &protocol.Archive{
		To: Location(&cluster), ID: lineage(&cluster),
		About: protocol.About{
			protocol.AboutCluster: cluster.Name, protocol.AboutNamespace: cluster.Namespace,
			protocol.AboutEngine: cluster.Spec.Engine, protocol.AboutClusterUID: lineage(&cluster),
		},
		Store: jobs.Store(&at), Compression: jobs.Compression(&cluster), MaxLag: lag(&cluster), State: stateFile,
		Command: s.Engine.Spec.Actions.Archive.Command,
	}
	probe := func(most time.Duration) *jobs.Transfer {
		return &jobs.Transfer{Call: &protocol.Lag{State: stateFile, Max: most}}
	}
	return jobs.BuildDeployment(&cluster, jobs.Deployment{
		Spec: jobs.Spec{
			Name: naming.Archive(cluster.Name), Kind: Kind, Owner: objects.OwnedBy(&cluster),
			Transfer: &jobs.Transfer{Image: found.Image, Call: call, At: &at}, Members: s.End(),
		},
		Stopped: s.Wanted == 0 && len(s.Members) == 0,
		Ready:   probe(lag(&cluster) + tolerated),
		Alive:   probe(0),
	})
}

// Location is the URL of the archive: beside the backups of the cluster.
func Location(cluster *dbv1.DatabaseCluster) string {
	return folder(cluster) + protocol.ArchiveFolder(lineage(cluster))
}

func lineage(cluster *dbv1.DatabaseCluster) string {
	return naming.Lineage(string(cluster.UID), naming.ClaimTemplate(cluster))
}

func folder(cluster *dbv1.DatabaseCluster) string {
	return protocol.FolderOf(cluster.Spec.Backup.Destination.URL, cluster.Namespace, cluster.Name)
}

func lag(cluster *dbv1.DatabaseCluster) time.Duration {
	return cmp.Or(time.Duration(cluster.Spec.Backup.Archive.MaxLagSeconds)*time.Second, defaultLag)
}
