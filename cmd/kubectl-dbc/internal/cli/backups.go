/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/requests"
)

func (s *session) backups() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "backups [CLUSTER]",
		Short:             "List the backups of a cluster, or of all clusters of the namespace",
		Long:              "List DatabaseBackups, the newest first, with the reason why one failed or has not started.",
		Example:           "  kubectl dbc backups orders\n  kubectl dbc backups -o name",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: s.clusterNames,
	}
	out := addOutput(cmd, "")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := s.target()
		if err != nil {
			return err
		}
		name := ""
		if len(args) == 1 {
			name = nameOf(args[0])
		}
		all, err := t.backups(cmd.Context())
		if err != nil {
			return err
		}
		own := requests.Of(name, all)
		items, err := itemsOf("DatabaseBackup", own)
		if err != nil {
			return err
		}
		if printed, err := out.print(s, listOf(items)); printed {
			return err
		}
		if len(own) == 0 {
			return s.noBackups(cmd.Context(), t, name)
		}
		_, err = fmt.Fprint(s.Out, requests.Table(own, s.now(), s.palette()))
		return err
	}
	return cmd
}

// noBackups distinguishes a cluster without backups from one that does not exist.
func (s *session) noBackups(ctx context.Context, t *target, name string) error {
	if name == "" {
		s.say("There are no DatabaseBackups in namespace %s.", t.namespace)
		return nil
	}
	if _, err := t.cluster(ctx, name); err != nil {
		return err
	}
	s.say("DatabaseCluster %s has no DatabaseBackups: kubectl dbc backup %s creates one.", name, name)
	return nil
}

func (s *session) backup() *cobra.Command {
	var name, policy string
	var dryRun bool
	cmd := &cobra.Command{
		Use:               "backup CLUSTER",
		Short:             "Back up a cluster now",
		Long:              "Create a DatabaseBackup, which the operator executes. The destination is spec.backup.destination of the cluster.",
		Example:           "  kubectl dbc backup orders --wait\n  kubectl dbc backup orders --name before-the-migration",
		Args:              oneCluster(0, ""),
		ValidArgsFunction: s.clusterNames,
	}
	cmd.Flags().StringVar(&name, "name", "", "Name of the DatabaseBackup. Default: the name of the cluster and the time")
	cmd.Flags().StringVar(&policy, "deletion-policy", string(dbv1.BackupRetain),
		"Retain or Delete: what happens to the data when the DatabaseBackup is deleted")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "Print the manifest, and create nothing")
	wait, out := addWait(cmd, "the backup is complete"), addOutput(cmd, "created")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, cluster, err := s.cluster(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		backup, err := requests.Backup(cluster, name, dbv1.BackupDeletionPolicy(policy), s.now())
		if err != nil {
			return err
		}
		if dryRun {
			return s.manifest(backup)
		}
		if err := t.Create(cmd.Context(), backup); err != nil {
			return err
		}
		if printed, err := out.print(s, backup); err != nil {
			return err
		} else if !printed {
			fmt.Fprintf(s.Out, "databasebackup.%s/%s created\n", dbv1.GroupVersion.Group, backup.Name)
		}
		return s.until(cmd.Context(), wait, func(ctx context.Context) (bool, string, error) { return t.backedUp(ctx, backup.Name) })
	}
	return cmd
}

// backedUp is the state of a backup.
func (t *target) backedUp(ctx context.Context, name string) (done bool, state string, err error) {
	b := &dbv1.DatabaseBackup{}
	if err := t.read(ctx, b, "DatabaseBackup", name); err != nil {
		return false, "", err
	}
	if b.Status.Phase == dbv1.BackupFailed {
		return true, "", fmt.Errorf("DatabaseBackup %s failed: %s", name, b.Status.Message)
	}
	state = string(b.Status.Phase)
	for _, part := range []string{b.Status.Size, b.Status.Message} {
		if part != "" {
			state += ": " + part
		}
	}
	return b.Status.Phase == dbv1.BackupCompleted, state, nil
}

func (s *session) verify() *cobra.Command {
	var name string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "verify CLUSTER",
		Short: "Restore a backup into a temporary copy and check it",
		Long: "Request the verification of a backup. Without --backup, it is the newest complete one. The command sets the annotation\n" +
			"database.dbcluster.io/verify on the DatabaseBackup.",
		Example:           "  kubectl dbc verify orders --wait\n  kubectl dbc verify orders --backup orders-nightly-2611210200",
		Args:              oneCluster(0, ""),
		ValidArgsFunction: s.clusterNames,
	}
	cmd.Flags().StringVar(&name, "backup", "", "Name of the DatabaseBackup. Default: the newest complete one")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "Print the command of kubectl that does the same, and change nothing")
	wait := addWait(cmd, "the verification has ended")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, cluster, err := s.cluster(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		all, err := t.backups(cmd.Context())
		if err != nil {
			return err
		}
		backup, change, err := requests.Verify(cluster, all, name, s.now())
		if err != nil {
			return err
		}
		if dryRun {
			fmt.Fprintln(s.Out, change.Command(t.namespace, "databasebackup/"+backup.Name))
			return nil
		}
		if err := t.apply(cmd.Context(), &backup, change); err != nil {
			return err
		}
		fmt.Fprintf(s.Out, "databasebackup.%s/%s changed\n", dbv1.GroupVersion.Group, backup.Name)
		s.say("%s", change.Effect)
		return s.until(cmd.Context(), wait, func(ctx context.Context) (bool, string, error) {
			return t.verified(ctx, backup.Name, change.Value)
		})
	}
	return cmd
}

// verified is the state of a verification that was requested.
func (t *target) verified(ctx context.Context, name, request string) (done bool, state string, err error) {
	b := &dbv1.DatabaseBackup{}
	if err := t.read(ctx, b, "DatabaseBackup", name); err != nil {
		return false, "", err
	}
	v := b.Status.Verification
	switch {
	case v == nil || v.Request != request:
		return false, "The verification has not started yet.", nil
	case v.Phase == dbv1.VerificationFailed:
		return true, "", errors.New("the verification failed: " + v.Message)
	default:
		return v.Phase == dbv1.VerificationSucceeded, string(v.Phase) + ": " + v.Message, nil
	}
}
