/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/requests"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/restoring"
)

// restoreFlags are the flags of restore.
type restoreFlags struct {
	at, backup, name     string
	preview, dryRun, yes bool
	wait                 *waiting
	out                  output
}

func (s *session) restore() *cobra.Command {
	f := &restoreFlags{}
	cmd := &cobra.Command{
		Use:   "restore CLUSTER",
		Short: "Bring back the data of a moment, in the cluster itself or in a preview",
		Long: "Create a DatabaseRestore. The command first prints which backup it begins with, which times can be recovered, and how long\n" +
			"it takes. Without --at, the data is that of a backup. With --preview, another DatabaseCluster gets the data, and this one does\n" +
			"not change. Without --preview, this cluster gets the data, and its volumes from before are retained until you delete the\n" +
			"DatabaseRestore.",
		Example: "  kubectl dbc restore orders --at 10m --preview\n  kubectl dbc restore orders --at 2026-11-21T14:05:00Z --wait\n" +
			"  kubectl dbc restore orders --backup orders-nightly-2611210200 --dry-run > restore.yaml",
		Args:              oneCluster(0, ""),
		ValidArgsFunction: s.clusterNames,
	}
	flags := cmd.Flags()
	flags.StringVar(&f.at, "at", "", "The moment: RFC 3339, 14:05 or another time without a zone for your time zone, 10m for ten minutes "+
		"ago, or latest")
	flags.StringVar(&f.backup, "backup", "", "Name of the DatabaseBackup. Default: the best one for the moment")
	flags.StringVar(&f.name, "name", "", "Name of the DatabaseRestore. Default: the name of the cluster and the time")
	flags.BoolVar(&f.preview, "preview", false, "Create another DatabaseCluster with the data, and do not change this one")
	flags.BoolVar(&f.dryRun, "dry-run", false, "Print the manifest, and create nothing")
	flags.BoolVarP(&f.yes, "yes", "y", false, "Do not ask before the data is replaced")
	f.wait, f.out = addWait(cmd, "clients can use the data"), addOutput(cmd, "created")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := s.target()
		if err != nil {
			return err
		}
		choice, err := s.choose(cmd.Context(), t, nameOf(args[0]), f)
		if err != nil {
			return err
		}
		for _, line := range choice.Lines {
			s.say("%s", line)
		}
		if f.dryRun {
			return s.manifest(choice.Restore)
		}
		if err := s.confirm(t, choice.Risk, nameOf(args[0]), f.yes); err != nil {
			return err
		}
		return s.create(cmd.Context(), t, choice.Restore, f)
	}
	return cmd
}

func (s *session) choose(ctx context.Context, t *target, name string, f *restoreFlags) (restoring.Choice, error) {
	moment, err := restoring.ParseMoment(f.at, s.now())
	if err != nil {
		return restoring.Choice{}, err
	}
	cluster, err := t.cluster(ctx, name)
	if err != nil {
		return restoring.Choice{}, err
	}
	backups, err := t.backups(ctx)
	if err != nil {
		return restoring.Choice{}, err
	}
	return restoring.Choose(restoring.Facts{Cluster: cluster, Backups: backups, Now: s.now()},
		restoring.Ask{Moment: moment, Backup: f.backup, Name: f.name, Preview: f.preview})
}

// create creates a DatabaseRestore, and waits for it.
func (s *session) create(ctx context.Context, t *target, restore *dbv1.DatabaseRestore, f *restoreFlags) error {
	if err := t.Create(ctx, restore); err != nil {
		return err
	}
	if printed, err := f.out.print(s, restore); err != nil {
		return err
	} else if !printed {
		fmt.Fprintf(s.Out, "databaserestore.%s/%s created\n", dbv1.GroupVersion.Group, restore.Name)
	}
	if !f.wait.wanted {
		s.say("Wait for it: kubectl -n %s wait --for=condition=Ready databaserestore/%s --timeout=2h", t.namespace, restore.Name)
	}
	if !f.preview {
		undo := requests.Change{Patch: []byte(`{"spec":{"mode":"Undo"}}`)}
		s.say("The way back: %s", undo.Command(t.namespace, "databaserestore/"+restore.Name))
	}
	s.say("When you no longer need the other volumes: kubectl -n %s delete databaserestore %s", t.namespace, restore.Name)
	return s.until(ctx, f.wait, func(ctx context.Context) (bool, string, error) { return t.restored(ctx, restore.Name) })
}

// restored is the state of a restore.
func (t *target) restored(ctx context.Context, name string) (done bool, state string, err error) {
	r := &dbv1.DatabaseRestore{}
	if err := t.read(ctx, r, "DatabaseRestore", name); err != nil {
		return false, "", err
	}
	stalled := meta.FindStatusCondition(r.Status.Conditions, dbv1.ConditionStalled)
	if stalled != nil && stalled.Status == metav1.ConditionTrue {
		return true, "", errors.New("the restore needs you: " + stalled.Message)
	}
	ready := meta.FindStatusCondition(r.Status.Conditions, dbv1.ConditionReady)
	if ready == nil {
		return false, "The operator has not observed the DatabaseRestore yet.", nil
	}
	return ready.Status == metav1.ConditionTrue && r.Status.ObservedGeneration == r.Generation, ready.Message, nil
}
