/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/requests"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
)

// pages is the address of the documents. Alerts have the same one.
const pages = "https://github.com/dbcluster/databasecluster-operator/blob/main/docs/"

// operatorNamespace is the namespace of the operator if it is installed as the documents show.
const operatorNamespace = "databasecluster-operator-system"

func (s *session) why() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "why CLUSTER | KIND/NAME",
		Short: "Print the one cause why a cluster is not healthy, and the command that shows more",
		Long: "Print the condition that explains the state best, the page that leads to the solution, and a command that shows more.\n" +
			"If the cluster itself is healthy, the cause can be that of its newest backup, or of a DatabaseRestore, a Database or a\n" +
			"DatabaseUser. KIND/NAME explains one of these. The exit code is 0 for a healthy cluster, and 1 if something needs attention.\n" +
			"It is 2 if the state is unknown or cannot be read. That includes a kind that you may not list, if the others need no attention.\n" +
			"If you may get the Lease of the operator, the command notices that the operator does not run.",
		Example: "  kubectl dbc why orders\n  kubectl dbc why databaseuser/reporting\n" +
			"  kubectl dbc why orders >/dev/null || echo \"orders needs attention\"",
		Args:              oneCluster(0, ""),
		ValidArgsFunction: s.clusterNames,
	}
	operator := cmd.Flags().String("operator-namespace", operatorNamespace, "Namespace of the operator, which has its Lease")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := s.target()
		if err != nil {
			return err
		}
		verdict, cause, err := s.explain(cmd.Context(), t, args[0], *operator)
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

// explain finds the cause of a cluster, or of the object that is named with its kind. If the operator does not run, that is the cause.
func (s *session) explain(ctx context.Context, t *target, name, operator string) (why.Verdict, why.Cause, error) {
	now, err := s.explainNow(ctx, t, name)
	if err != nil {
		return why.Unknown, why.Cause{}, err
	}
	lease := t.lease(ctx, operator)
	if absent, found := why.Absent(lease, now.fields, now.cause, s.now()); found {
		return why.Unknown, absent, nil
	}
	if now.unobserved != nil {
		now.cause = why.Overdue(now.cause, now.unobserved, lease, s.now())
	}
	return now.verdict, now.cause, nil
}

// explanation is a cause by the conditions of an object, and who has written that object.
type explanation struct {
	verdict why.Verdict
	cause   why.Cause
	fields  []metav1.ManagedFieldsEntry
	// unobserved is the cluster if its status does not show its spec.
	unobserved *dbv1.DatabaseCluster
}

// explainNow finds the cause by the conditions.
func (s *session) explainNow(ctx context.Context, t *target, name string) (e explanation, err error) {
	if kind, object, found := strings.Cut(name, "/"); found && nameOf(name) == name {
		one, err := t.object(ctx, kind, object)
		if err != nil {
			return e, err
		}
		cluster := &dbv1.DatabaseCluster{}
		if t.read(ctx, cluster, "DatabaseCluster", one.Cluster) != nil { // then it explains nothing of the object
			cluster = &dbv1.DatabaseCluster{}
		}
		e.fields = one.ManagedFields
		e.verdict, e.cause = one.ExplainIn(cluster)
		return e, nil
	}
	cluster, err := t.cluster(ctx, name)
	if err != nil {
		return e, err
	}
	e.fields = cluster.ManagedFields
	if verdict, _ := why.Explain(cluster); verdict == why.Unknown {
		e.unobserved = cluster
	}
	e.verdict, e.cause, err = s.explainCluster(ctx, t, cluster)
	return e, err
}

func (s *session) explainCluster(ctx context.Context, t *target, cluster *dbv1.DatabaseCluster) (why.Verdict, why.Cause, error) {
	verdict, cause := why.Explain(cluster)
	if verdict != why.Healthy {
		return verdict, cause, nil
	}
	objects, unread, err := s.objectsOf(ctx, t, cluster.Name)
	if err != nil {
		return why.Unknown, cause, err
	}
	if other, found := why.Together(cluster, objects); found {
		return why.Unhealthy, other, nil
	}
	if len(unread) > 0 {
		cause.Condition = metav1.Condition{Message: fmt.Sprintf("DatabaseCluster %s itself needs no attention. The state of its %s is unknown, "+
			"because you may not list them.", cluster.Name, strings.Join(unread, ", "))}
		return why.Unknown, cause, nil
	}
	return verdict, cause, nil
}

// lease is the Lease of the operator's leader; nil if it cannot be read.
func (t *target) lease(ctx context.Context, namespace string) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{}
	if t.Get(ctx, types.NamespacedName{Namespace: namespace, Name: why.LeaseName}, lease) != nil {
		return nil
	}
	return lease
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

// objectsOf are the objects of a cluster that can need attention although the cluster is healthy, and the kinds that the user may not list.
func (s *session) objectsOf(ctx context.Context, t *target, cluster string) (all []why.Object, unread []string, err error) {
	backups, err := t.backups(ctx)
	if err := s.readable("databasebackups", err, &unread); err != nil {
		return nil, nil, err
	}
	all = why.Current(requests.Of(cluster, backups))
	restores := &dbv1.DatabaseRestoreList{}
	if err := s.readable("databaserestores", t.List(ctx, restores, client.InNamespace(t.namespace)), &unread); err != nil {
		return nil, nil, err
	}
	for i := range restores.Items {
		if restores.Items[i].Spec.ClusterRef.Name == cluster {
			all = append(all, why.OfRestore(&restores.Items[i]))
		}
	}
	declared, databasesErr, usersErr := t.declared(ctx)
	if err := errors.Join(s.readable("databases", databasesErr, &unread), s.readable("databaseusers", usersErr, &unread)); err != nil {
		return nil, nil, err
	}
	return append(all, objectsIn(declared.Of(cluster))...), unread, nil
}

// readable returns the error of a list. A kind that the API server does not have is no error, and one that the user may not list is a note.
func (s *session) readable(kind string, err error, unread *[]string) error {
	switch {
	case apierrors.IsForbidden(err):
		s.say("You may not list %s, so their problems are unknown.", kind)
		*unread = append(*unread, kind)
		return nil
	case meta.IsNoMatchError(err):
		return nil
	}
	return err
}
