/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/connecting"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/declared"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
)

func (s *session) users() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "users [CLUSTER]",
		Short: "List the databases and users that are declared for a cluster, or for all clusters of the namespace",
		Long: "List Databases and DatabaseUsers: their name in the database, the privileges, the Secret with which applications connect, and\n" +
			"whether the database has them as declared. With -o wide, the list has the message, too. It has no users that exist only in the\n" +
			"database.",
		Example:           "  kubectl dbc users orders\n  kubectl dbc users orders -o wide\n  kubectl dbc users -o name",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.clusterNames,
	}
	out := addOutput(cmd, "")
	cmd.Flags().Lookup("output").Usage += " Or wide: the table with messages."
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := s.target()
		if err != nil {
			return err
		}
		name := ""
		if len(args) == 1 {
			name = nameOf(args[0])
		}
		all, databasesErr, usersErr := t.declared(cmd.Context())
		if err := s.listed(databasesErr, usersErr); err != nil {
			return err
		}
		own := all.Of(name)
		if out.wanted() && !out.wide() {
			return s.printDeclared(out, own)
		}
		if own.Empty() {
			return s.noUsers(cmd.Context(), t, name)
		}
		_, err = fmt.Fprint(s.Out, own.Table(out.wide(), s.palette()))
		return err
	}
	return cmd
}

func (s *session) printDeclared(out output, own declared.Objects) error {
	databases, err := itemsOf("Database", own.Databases)
	if err != nil {
		return err
	}
	users, err := itemsOf("DatabaseUser", own.Users)
	if err != nil {
		return err
	}
	_, err = out.print(s, listOf(append(databases, users...)))
	return err
}

// noUsers distinguishes a cluster without databases and users from one that does not exist.
func (s *session) noUsers(ctx context.Context, t *target, name string) error {
	if name == "" {
		s.say("There are no Databases and no DatabaseUsers in namespace %s.", t.namespace)
		return nil
	}
	if _, err := t.cluster(ctx, name); err != nil {
		return err
	}
	s.say("No Database and no DatabaseUser names DatabaseCluster %s.", name)
	return nil
}

// declared are the Databases and DatabaseUsers of the namespace. A user may be allowed to list only one of both kinds.
func (t *target) declared(ctx context.Context) (all declared.Objects, databasesErr, usersErr error) {
	databases, users := &dbv1.DatabaseList{}, &dbv1.DatabaseUserList{}
	databasesErr, usersErr = t.List(ctx, databases, client.InNamespace(t.namespace)), t.List(ctx, users, client.InNamespace(t.namespace))
	for _, err := range []*error{&databasesErr, &usersErr} {
		if meta.IsNoMatchError(*err) {
			*err = fmt.Errorf("the API server has no kinds Database and DatabaseUser, so the CRDs of the operator are older, or missing: %w", *err)
		}
	}
	return declared.Objects{Databases: databases.Items, Users: users.Items}, databasesErr, usersErr
}

// listed returns why nothing can be listed. If the user may list one of both kinds, the list has that.
func (s *session) listed(databasesErr, usersErr error) error {
	switch noDatabases, noUsers := apierrors.IsForbidden(databasesErr), apierrors.IsForbidden(usersErr); {
	case noDatabases && usersErr == nil:
		s.say("You may not list databases, so only users are shown.")
		return nil
	case noUsers && databasesErr == nil:
		s.say("You may not list databaseusers, so only databases are shown.")
		return nil
	case databasesErr != nil:
		return databasesErr
	default:
		return usersErr
	}
}

// secretOf is the Secret with which a client connects: the named one, that of a DatabaseUser, or the connection Secret.
func (t *target) secretOf(ctx context.Context, cluster *dbv1.DatabaseCluster, secret, user string) (string, error) {
	switch {
	case secret != "":
		return secret, nil
	case user == "":
		return connecting.SecretOf(cluster)
	}
	found := &dbv1.DatabaseUser{}
	if err := t.read(ctx, found, "DatabaseUser", user); err != nil {
		return "", err
	}
	return connecting.SecretOfUser(cluster, found)
}

// objectsIn are Databases and DatabaseUsers in the form in which their state is explained.
func objectsIn(own declared.Objects) (all []why.Object) {
	for i := range own.Databases {
		all = append(all, why.OfDatabase(&own.Databases[i]))
	}
	for i := range own.Users {
		all = append(all, why.OfUser(&own.Users[i]))
	}
	return all
}

// userNames completes the names of the DatabaseUsers of the cluster that the command names; of all clusters before it is named.
func (s *session) userNames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	t, err := s.target()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	cluster := ""
	if len(args) > 0 {
		cluster = nameOf(args[0])
	}
	names, err := t.userNames(cmd.Context(), cluster)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (t *target) userNames(ctx context.Context, cluster string) (names []string, err error) {
	all, _, err := t.declared(ctx)
	for _, u := range all.Of(cluster).Users {
		names = append(names, u.Name)
	}
	return names, err
}
