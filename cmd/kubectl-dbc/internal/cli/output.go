/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
)

// palette is true if the output is a terminal, and its user wants colors.
func (s *session) palette() text.Palette {
	return text.Palette(isTerminal(s.Out) && os.Getenv("NO_COLOR") == "")
}

func isTerminal(stream any) bool {
	file, is := stream.(*os.File)
	return is && term.IsTerminal(int(file.Fd()))
}

// output is the flag -o.
type output struct{ *genericclioptions.PrintFlags }

func addOutput(cmd *cobra.Command, operation string) output {
	flags := genericclioptions.NewPrintFlags(operation)
	if known, err := scheme(); err == nil {
		flags = flags.WithTypeSetter(known)
	}
	flags.AddFlags(cmd)
	return output{flags}
}

// print prints an object in the format of -o. It reports false without -o.
func (o output) print(s *session, object runtime.Object) (printed bool, err error) {
	if !o.wanted() {
		return false, nil
	}
	printer, err := o.ToPrinter()
	if err != nil {
		return true, err
	}
	return true, printer.PrintObj(object, s.Out)
}

// listOf is a list as kubectl prints it: the printer of names accepts no other list.
func listOf(items []unstructured.Unstructured) *unstructured.UnstructuredList {
	return &unstructured.UnstructuredList{
		Object: map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}}, Items: items,
	}
}

// itemsOf are objects of a kind of the operator, for listOf.
func itemsOf[T any](kind string, objects []T) ([]unstructured.Unstructured, error) {
	var all []unstructured.Unstructured
	for i := range objects {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&objects[i])
		if err != nil {
			return nil, err
		}
		item := unstructured.Unstructured{Object: fields}
		item.SetGroupVersionKind(dbv1.GroupVersion.WithKind(kind))
		all = append(all, item)
	}
	return all, nil
}

func (o output) wanted() bool {
	return *o.OutputFormat != "" || *o.TemplatePrinterFlags.TemplateArgument != ""
}

// wide reports whether the table gets all columns.
func (o output) wide() bool { return *o.OutputFormat == "wide" }

// manifest prints an object as a file for kubectl apply.
func (s *session) manifest(object client.Object) error {
	content, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := yaml.Unmarshal(content, &fields); err != nil {
		return err
	}
	delete(fields, "status")
	if content, err = yaml.Marshal(fields); err != nil {
		return err
	}
	_, err = s.Out.Write(content)
	return err
}

// say prints a sentence about what happens. It is not a result, so a program that reads the output does not get it.
func (s *session) say(format string, args ...any) {
	fmt.Fprintf(s.ErrOut, format+"\n", args...)
}

// confirm asks the user before something that clients notice or that deletes data. The question has the context and the namespace: clusters
// of the same name exist in others.
func (s *session) confirm(t *target, risk, cluster string, yes bool) error {
	if risk == "" || yes {
		return nil
	}
	question := fmt.Sprintf("DatabaseCluster %s in namespace %s of context %s: %s", cluster, t.namespace, cmp.Or(t.context, "(none)"), risk)
	if !isTerminal(s.In) {
		return errors.New(question + " Add --yes if you want that")
	}
	fmt.Fprintf(s.ErrOut, "%s\nType the name of the cluster to continue: ", question)
	answer, err := bufio.NewReader(s.In).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != cluster {
		return errors.New("nothing was changed")
	}
	return nil
}
