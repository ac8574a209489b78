/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/requests"
)

// decide decides the change of a cluster. Member is the second argument, or "".
type decide func(ctx context.Context, t *target, cluster *dbv1.DatabaseCluster, member string) (requests.Change, error)

// changing are the flags of a command that changes a cluster.
type changing struct {
	dryRun, yes bool
	wait        *waiting
}

// addChange adds the flags, and lets a command change a cluster.
func (s *session) addChange(cmd *cobra.Command, decide decide) *changing {
	c := &changing{}
	cmd.ValidArgsFunction = s.clusterNames
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "Print the command of kubectl that does the same, and change nothing")
	cmd.Flags().BoolVarP(&c.yes, "yes", "y", false, "Do not ask before a change that clients notice or that deletes data")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, cluster, err := s.cluster(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		member := ""
		if len(args) > 1 {
			member = args[1]
		}
		change, err := decide(cmd.Context(), t, cluster, member)
		if err != nil {
			return err
		}
		return s.change(cmd.Context(), t, cluster, change, c)
	}
	return c
}

// change applies a change, and waits for it if the user wants that.
func (s *session) change(ctx context.Context, t *target, cluster *dbv1.DatabaseCluster, change requests.Change, flags *changing) error {
	if flags.dryRun {
		fmt.Fprintln(s.Out, change.Command(t.namespace, "databasecluster/"+cluster.Name))
		return nil
	}
	if err := s.confirm(t, change.Risk, cluster.Name, flags.yes); err != nil {
		return err
	}
	if err := t.apply(ctx, cluster, change); err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "databasecluster.%s/%s changed\n", dbv1.GroupVersion.Group, cluster.Name)
	s.say("%s", change.Effect)
	if flags.wait == nil || !flags.wait.wanted {
		s.say("%s", change.Look(t.namespace, cluster.Name))
		return nil
	}
	return s.until(ctx, flags.wait, func(ctx context.Context) (bool, string, error) { return t.request(ctx, cluster.Name, change) })
}

// request is the state of a request.
func (t *target) request(ctx context.Context, cluster string, change requests.Change) (done bool, state string, err error) {
	c, err := t.cluster(ctx, cluster)
	if err != nil {
		return false, "", err
	}
	i := slices.IndexFunc(c.Status.Requests, func(r dbv1.ClusterRequestStatus) bool { return r.Request == change.Value })
	if i < 0 {
		return false, "The operator has not observed the request yet.", nil
	}
	r := c.Status.Requests[i]
	if r.State == dbv1.RequestRefused {
		return true, "", errors.New("the operator refuses the request: " + r.Message)
	}
	return r.State == dbv1.RequestCompleted, said(r), nil
}

// said is the state of a request as text. An accepted one often has no message.
func said(r dbv1.ClusterRequestStatus) string {
	if r.Message == "" {
		return string(r.State)
	}
	return fmt.Sprintf("%s: %s", r.State, r.Message)
}

func (s *session) handOver() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hand-over CLUSTER [MEMBER]",
		Short: "Let another member become the primary",
		Long: "Request that a member becomes the primary. MEMBER is the name of a pod or a number. Without it, it is the ready replica with\n" +
			"the least lag. The command sets the annotation database.dbcluster.io/hand-over.",
		Example: "  kubectl dbc hand-over orders\n  kubectl dbc hand-over orders orders-1 --yes --wait",
		Args:    oneCluster(1, " [MEMBER]"),
	}
	flags := s.addChange(cmd, func(ctx context.Context, t *target, c *dbv1.DatabaseCluster, member string) (requests.Change, error) {
		return requests.HandOver(c, member, t.lags(ctx, c), s.now())
	})
	flags.wait = addWait(cmd, "the member is the primary")
	return cmd
}

func (s *session) rebuild() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rebuild CLUSTER MEMBER",
		Short: "Delete the volume of a member, which then copies the data of the others",
		Long: "Request that the operator deletes the volume of a member when enough of the others are ready. MEMBER is the name of a pod or a\n" +
			"number. The command sets the annotation database.dbcluster.io/rebuild.",
		Example: "  kubectl dbc rebuild orders orders-2\n  kubectl dbc rebuild orders 2 --yes --wait",
		Args:    oneCluster(1, " MEMBER"),
	}
	flags := s.addChange(cmd, func(_ context.Context, _ *target, c *dbv1.DatabaseCluster, member string) (requests.Change, error) {
		if member == "" {
			return requests.Change{}, fmt.Errorf("name the member: kubectl dbc rebuild %s MEMBER", c.Name)
		}
		return requests.Rebuild(c, member, s.now())
	})
	flags.wait = addWait(cmd, "the member has a new volume. It copies the data after that")
	return cmd
}

// simple is a decision that depends on the cluster and the time alone.
func (s *session) simple(f func(*dbv1.DatabaseCluster, time.Time) (requests.Change, error)) decide {
	return func(_ context.Context, _ *target, c *dbv1.DatabaseCluster, _ string) (requests.Change, error) {
		return f(c, s.now())
	}
}

func (s *session) restart() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "restart CLUSTER",
		Short:   "Restart all members one by one",
		Long:    "Request a restart of all members, one by one. The command sets the annotation database.dbcluster.io/restart.",
		Example: "  kubectl dbc restart orders",
		Args:    oneCluster(0, ""),
	}
	s.addChange(cmd, s.simple(requests.Restart))
	return cmd
}

func (s *session) rotate() *cobra.Command {
	var certificate bool
	cmd := &cobra.Command{
		Use:   "rotate CLUSTER",
		Short: "Replace the generated passwords, or the certificate",
		Long: "Request new passwords in place of the generated ones. The command sets the annotation\n" +
			"database.dbcluster.io/rotate-credentials, or with --certificate database.dbcluster.io/renew-certificate.",
		Example: "  kubectl dbc rotate orders\n  kubectl dbc rotate orders --certificate",
		Args:    oneCluster(0, ""),
	}
	cmd.Flags().BoolVar(&certificate, "certificate", false, "Renew the certificate of spec.tls.selfSigned instead")
	s.addChange(cmd, s.simple(func(c *dbv1.DatabaseCluster, now time.Time) (requests.Change, error) {
		if certificate {
			return requests.RenewCertificate(c, now)
		}
		return requests.Rotate(c, now)
	}))
	return cmd
}

func (s *session) hibernate() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "hibernate CLUSTER",
		Short:   "Stop all members and keep their volumes",
		Long:    "Set spec.hibernated to true. The operator stops the members one by one, the primary last.",
		Example: "  kubectl dbc hibernate orders",
		Args:    oneCluster(0, ""),
	}
	s.addChange(cmd, s.simple(func(c *dbv1.DatabaseCluster, _ time.Time) (requests.Change, error) {
		return requests.Hibernate(c, true)
	}))
	return cmd
}

func (s *session) wake() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "wake CLUSTER",
		Short:   "Start a hibernated cluster",
		Long:    "Set spec.hibernated to false. The operator starts the members with their volumes.",
		Example: "  kubectl dbc wake orders",
		Args:    oneCluster(0, ""),
	}
	s.addChange(cmd, s.simple(func(c *dbv1.DatabaseCluster, _ time.Time) (requests.Change, error) {
		return requests.Hibernate(c, false)
	}))
	return cmd
}
