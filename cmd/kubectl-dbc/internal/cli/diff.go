/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/preview"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
)

func (s *session) diff() *cobra.Command {
	var file, manager string
	cmd := &cobra.Command{
		Use:   "diff CLUSTER",
		Short: "Show what the operator would change for a manifest, and whether members restart",
		Long: "Show how a manifest changes the DatabaseCluster and the objects that the operator renders from it, and what that means for the\n" +
			"members. The API server checks the manifest in a dry run. Without -f, show what the next pass of the operator would change for\n" +
			"the stored spec, such as a repair of a manual change.\n\n" +
			"The command reads the objects of the cluster with your rights and decides with the code of the operator of its own version.\n" +
			"Another version can decide otherwise: compare kubectl dbc --version. It does not show Secrets, certificates, Jobs, the pod\n" +
			"of the archive, nor what admission webhooks change in pods. The Secrets that the spec names are read, and not printed.\n" +
			"It names each other object of the file, and decides with those that the API server has.\n\n" +
			"The exit code is 0 without a difference, 1 with one, and 2 for an error, such as a manifest that the API server refuses.\n" +
			"Without -f, it is also 1 while the operator needs you, or is in a step.",
		Example: "  kubectl dbc diff orders -f orders.yaml\n  kubectl dbc diff orders\n" +
			"  kustomize build . | kubectl dbc diff orders -f -",
		Args:              oneCluster(0, ""),
		ValidArgsFunction: s.clusterNames,
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "",
		"Manifest with the DatabaseCluster, or - for the standard input. Default: the stored spec")
	cmd.Flags().StringVar(&manager, "field-manager", "",
		"Field manager with which you apply the manifest on the server, such as argocd-controller. Default: the patch of kubectl apply, if\n"+
			"that has applied the cluster, or else a server-side apply with the field manager of the last one")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, err := s.target()
		if err != nil {
			return err
		}
		p, err := s.compare(cmd.Context(), t, nameOf(args[0]), file, manager)
		if err != nil {
			return err
		}
		s.printPreview(p, file)
		if p.Changed() {
			return exit{code: 1}
		}
		return nil
	}
	return cmd
}

// compare decides for the stored spec, or for that of a file.
func (s *session) compare(ctx context.Context, t *target, name, file, manager string) (preview.Preview, error) {
	none := preview.Preview{}
	if file == "" {
		cluster, err := t.cluster(ctx, name)
		if err != nil {
			return none, err
		}
		return preview.OfNow(ctx, t.Client, cluster)
	}
	manifest, others, err := s.manifestOf(file, name, t.namespace)
	if err != nil {
		return none, err
	}
	before, err := t.stored(ctx, name)
	if err != nil {
		return none, err
	}
	next, notes, err := t.dryRun(ctx, manifest, manager)
	if err != nil {
		return none, fmt.Errorf("the API server refuses the manifest: %w", err)
	}
	p, err := preview.OfSpec(ctx, t.Client, before, next)
	p.Sentences = slices.Concat(p.Sentences, notes, notCompared(file, others))
	return p, err
}

// stored is the cluster as it is; nil if it does not exist.
func (t *target) stored(ctx context.Context, name string) (*dbv1.DatabaseCluster, error) {
	cluster := &dbv1.DatabaseCluster{}
	err := t.Get(ctx, types.NamespacedName{Namespace: t.namespace, Name: name}, cluster)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no cluster is an answer
	}
	return cluster, err
}

// printPreview prints a unified diff of each object, and then what it means.
func (s *session) printPreview(p preview.Preview, file string) {
	after := "with " + file
	if file == "" {
		after = "by the operator"
	}
	for _, d := range p.Differences {
		fmt.Fprintln(s.Out, s.palette().Paint(d.Kind+" "+d.Name, text.Heading))
		unified, _ := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{ // it writes to memory
			A: linesOf(d.Before), B: linesOf(d.After), FromFile: "now", ToFile: after, Context: 3,
		})
		fmt.Fprintf(s.Out, "%s\n\n", s.colored(unified))
	}
	for _, sentence := range p.Sentences {
		fmt.Fprintln(s.Out, sentence)
	}
}

// linesOf are the lines of a text; none of an empty one.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return difflib.SplitLines(strings.TrimSuffix(text, "\n"))
}

// colored shows removed and added lines in colors.
func (s *session) colored(unified string) string {
	var all strings.Builder
	for line := range strings.Lines(unified) {
		tone := map[byte]text.Tone{'-': text.Bad, '+': text.Good}[line[0]]
		all.WriteString(s.palette().Paint(strings.TrimRight(line, "\n"), tone) + "\n")
	}
	return strings.TrimRight(all.String(), "\n")
}
