/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/requests"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
)

// pages is the address of the documents. Alerts have the same one.
const pages = "https://github.com/dbcluster/databasecluster-operator/blob/main/docs/"

func (s *session) why() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "why CLUSTER | KIND/NAME",
		Short: "Print the one cause why a cluster is not healthy, and the command that shows more",
		Long: "Print the condition that explains the state best, the page that leads to the solution, and a command that shows more.\n" +
			"If the cluster itself is healthy, the cause can be that of its newest backup, or of a DatabaseRestore, a Database or a\n" +
			"DatabaseUser. KIND/NAME explains one of these. The exit code is 0 for a healthy cluster, and 1 for one that is not. It is 2 if\n" +
			"the state is unknown or cannot be read.",
		Example: "  kubectl dbc why orders\n  kubectl dbc why databaseuser/reporting\n" +
			"  kubectl dbc why orders >/dev/null || echo \"orders needs attention\"",
		Args:              oneCluster(0, ""),
		ValidArgsFunction: s.clusterNames,
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		verdict, cause, err := s.explain(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		fmt.Fprint(s.Out, cause.Text(pages))
		if verdict != why.Healthy {
			return exit{code: int(verdict)}
		}
		return nil
	}
	return cmd
}

// explain finds the cause of a cluster, or of the object that is named with its kind.
func (s *session) explain(ctx context.Context, name string) (why.Verdict, why.Cause, error) {
	if kind, object, found := strings.Cut(name, "/"); found && nameOf(name) == name {
		t, err := s.target()
		if err != nil {
			return why.Unknown, why.Cause{}, err
		}
		one, err := t.object(ctx, kind, object)
		if err != nil {
			return why.Unknown, why.Cause{}, err
		}
		verdict, cause := one.Explain()
		return verdict, cause, nil
	}
	t, cluster, err := s.cluster(ctx, name)
	if err != nil {
		return why.Unknown, why.Cause{}, err
	}
	verdict, cause := why.Explain(cluster)
	if verdict != why.Healthy {
		return verdict, cause, nil
	}
	objects, err := s.objectsOf(ctx, t, cluster.Name)
	if other, found := why.First(objects); found {
		return why.Unhealthy, other, nil
	}
	return verdict, cause, err
}

// object reads an object by the name of its kind, as kubectl accepts it.
func (t *target) object(ctx context.Context, kind, name string) (why.Object, error) {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ".")
	switch strings.TrimSuffix(kind, "s") {
	case "database", "db":
		d := &dbv1.Database{}
		err := t.read(ctx, d, "Database", name)
		return why.OfDatabase(d), err
	case "databaseuser", "dbu":
		u := &dbv1.DatabaseUser{}
		err := t.read(ctx, u, "DatabaseUser", name)
		return why.OfUser(u), err
	case "databasebackup", "dbb":
		b := &dbv1.DatabaseBackup{}
		err := t.read(ctx, b, "DatabaseBackup", name)
		return why.OfBackup(b), err
	case "databaserestore", "dbr":
		r := &dbv1.DatabaseRestore{}
		err := t.read(ctx, r, "DatabaseRestore", name)
		return why.OfRestore(r), err
	}
	return why.Object{}, fmt.Errorf("%s is no kind that why explains: use databasebackup, databaserestore, database or databaseuser", kind)
}

// objectsOf are the objects of a cluster that can need attention although the cluster is healthy. Without the right to read a kind, the
// others count.
func (s *session) objectsOf(ctx context.Context, t *target, cluster string) ([]why.Object, error) {
	backups, err := t.backups(ctx)
	if err := s.readable("databasebackups", err); err != nil {
		return nil, err
	}
	all := why.Current(requests.Of(cluster, backups))
	restores := &dbv1.DatabaseRestoreList{}
	if err := s.readable("databaserestores", t.List(ctx, restores, client.InNamespace(t.namespace))); err != nil {
		return nil, err
	}
	for i := range restores.Items {
		if restores.Items[i].Spec.ClusterRef.Name == cluster {
			all = append(all, why.OfRestore(&restores.Items[i]))
		}
	}
	declared, err := t.declared(ctx)
	if err := s.readable("databases and databaseusers", err); err != nil {
		return nil, err
	}
	own := declared.Of(cluster)
	for i := range own.Databases {
		all = append(all, why.OfDatabase(&own.Databases[i]))
	}
	for i := range own.Users {
		all = append(all, why.OfUser(&own.Users[i]))
	}
	return all, nil
}

// readable reports the error of a list, unless the user may not read the kind or the API server does not have it. Then it is a note.
func (s *session) readable(kinds string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		s.say("You may not list %s, so their problems are not considered.", kinds)
		return nil
	case meta.IsNoMatchError(err):
		return nil
	}
	return err
}
