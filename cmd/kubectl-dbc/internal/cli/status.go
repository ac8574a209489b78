/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/requests"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/status"
)

// clearScreen moves the cursor of a terminal to the top and clears the screen.
const clearScreen = "\x1b[H\x1b[2J"

func (s *session) status() *cobra.Command {
	var watch bool
	var interval time.Duration
	cmd := &cobra.Command{
		Use:   "status CLUSTER",
		Short: "Show members, roles, lag, storage, backups, recovery, certificates, and what is in progress",
		Long: "Show the state of a DatabaseCluster on one screen. The lag is what members report about themselves, so it is a few\n" +
			"seconds old. With -o, the command prints the DatabaseCluster.",
		Example: "  kubectl dbc status orders\n  kubectl dbc status orders --watch\n" +
			"  kubectl dbc status orders -o jsonpath='{.status.primary}'",
		Args:              oneCluster(0, ""),
		ValidArgsFunction: s.clusterNames,
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "Show the state again until you interrupt the command")
	cmd.Flags().DurationVar(&interval, "interval", 2*time.Second, "Time between two looks with --watch")
	out := addOutput(cmd, "")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := s.target()
		if err != nil {
			return err
		}
		for {
			if err := s.look(cmd.Context(), t, nameOf(args[0]), out, watch); err != nil || !watch {
				return err
			}
			select {
			case <-cmd.Context().Done():
				return nil
			case <-time.After(max(interval, time.Second)):
			}
		}
	}
	return cmd
}

// look shows the state once.
func (s *session) look(ctx context.Context, t *target, name string, out output, again bool) error {
	cluster, err := t.cluster(ctx, name)
	if err != nil {
		return err
	}
	if printed, err := out.print(s, cluster); printed {
		return err
	}
	facts, err := t.facts(ctx, cluster, s.now())
	if err != nil {
		return err
	}
	start := ""
	if again && isTerminal(s.Out) {
		start = clearScreen
	}
	_, err = fmt.Fprint(s.Out, start+facts.Screen(s.palette()))
	return err
}

func (t *target) facts(ctx context.Context, cluster *dbv1.DatabaseCluster, now time.Time) (status.Facts, error) {
	f := status.Facts{Cluster: cluster, Engine: t.engine(ctx, cluster), Now: now}
	pods, err := t.podsOf(ctx, cluster.Name, dbv1.ComponentDatabase)
	f.Pods = pods
	backups, backupsErr := t.backups(ctx)
	f.Backups = requests.Of(cluster.Name, backups)
	restores := &dbv1.DatabaseRestoreList{}
	restoresErr := t.List(ctx, restores, client.InNamespace(t.namespace))
	f.Restores = slices.DeleteFunc(restores.Items, func(r dbv1.DatabaseRestore) bool { return r.Spec.ClusterRef.Name != cluster.Name })
	all, databasesErr, usersErr := t.declared(ctx)
	f.Objects = objectsIn(all.Of(cluster.Name))
	for _, read := range []struct {
		kind string
		err  error
	}{
		{"pods", err}, {"databasebackups", backupsErr}, {"databaserestores", restoresErr}, {"databases", databasesErr},
		{"databaseusers", usersErr},
	} {
		switch {
		case meta.IsNoMatchError(read.err): // the CRDs are older, so there are no such objects
		case apierrors.IsForbidden(read.err):
			f.Missing = append(f.Missing, read.kind)
		case read.err != nil:
			return f, read.err
		}
	}
	return f, nil
}
