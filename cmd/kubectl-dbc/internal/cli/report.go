/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/redact"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/reporting"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
)

func (s *session) report() *cobra.Command {
	var file, operator, account string
	var withoutLogs bool
	cmd := &cobra.Command{
		Use:   "report CLUSTER",
		Short: "Write one zip file for support: objects, events, logs and metrics, without passwords and keys",
		Long: "Write a zip file with the objects of a cluster, their events and logs, and the CPU and memory of the pods. It also has the\n" +
			"metrics of the operator, and the lines of its log about this cluster. It has no Secrets, no environment variables, and no content\n" +
			"of ConfigMaps. The command reads all Secrets that the cluster refers to, if you may, to remove their values from all files. Read\n" +
			"the file before you send it.\n\n" +
			"The metrics of the operator need a token, which the proxy of the API server removes from requests. So they need\n" +
			"--metrics-account. README.txt in the file lists what could not be read.",
		Example: "  kubectl dbc report orders\n  kubectl dbc report orders --file /tmp/orders.zip --no-logs\n" +
			"  kubectl dbc report orders --metrics-account monitoring/prometheus",
		Args:              oneCluster(0, ""),
		ValidArgsFunction: s.clusterNames,
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "File to write. Default: the name of the cluster and the time")
	cmd.Flags().StringVar(&operator, "operator-namespace", operatorNamespace, "Namespace of the operator")
	cmd.Flags().BoolVar(&withoutLogs, "no-logs", false, "Leave out logs")
	cmd.Flags().StringVar(&account, "metrics-account", "",
		"ServiceAccount that may read the operator's metrics, as NAMESPACE/NAME. The command requests a token of it for ten minutes")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, cluster, err := s.cluster(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if file == "" {
			file = fmt.Sprintf("%s-%s-%s.zip", t.namespace, cluster.Name, s.now().UTC().Format("20060102-150405"))
		}
		c := &collection{
			session: s, target: t, cluster: cluster, operator: operator, account: account, logs: !withoutLogs, files: map[string]string{},
		}
		if err := c.collect(cmd.Context()); err != nil {
			return err
		}
		if err := c.write(file); err != nil {
			return err
		}
		fmt.Fprintln(s.Out, file)
		return nil
	}
	return cmd
}

// collection is the content of a report.
type collection struct {
	*session
	target   *target
	cluster  *dbv1.DatabaseCluster
	operator string
	logs     bool
	account  string
	// engine is nil if it cannot be read. The objects are those of the cluster, and found has their content.
	engine  *dbv1.DatabaseEngine
	objects reporting.Objects
	found   []collected
	// secrets are the values that no file has, and short names those that are too short to be searched for.
	secrets redact.Values
	short   []string
	// files are the contents by name, and missing is what could not be read.
	files   map[string]string
	missing []string
}

// collect reads everything. Only the facts on the screen are necessary: what a user may not read is missing.
func (c *collection) collect(ctx context.Context) error {
	facts, err := c.target.facts(ctx, c.cluster, c.now())
	if err != nil {
		return err
	}
	c.readObjects(ctx)
	c.readSecrets(ctx)
	c.add("status.txt", facts.Screen(false))
	c.addObjects()
	c.readEvents(ctx)
	c.readUsage(ctx)
	c.readMetrics(ctx)
	if c.logs {
		c.readAllLogs(ctx)
	}
	return nil
}

// add adds a file without secrets.
func (c *collection) add(name, content string) { c.files[name] = c.secrets.Text(content) }

// miss records what could not be read.
func (c *collection) miss(what string, err error) {
	c.missing = append(c.missing, fmt.Sprintf("%s: %v", what, err))
}

// readme describes the report.
func (c *collection) readme() string {
	said := fmt.Sprintf("DatabaseCluster %s/%s at %s.\n\n", c.cluster.Namespace, c.cluster.Name, text.Time(c.now())) +
		"Secrets, environment variables, files of ConfigMaps, scripts in arguments and values that look like passwords or keys were removed.\n" +
		"The log of the operator has only lines about this cluster and lines about no object.\n"
	if len(c.short) > 0 {
		said += "\nThese values were not searched for, because they are shorter than three characters, or true or false:\n" +
			strings.Join(c.short, "\n") + "\n"
	}
	if len(c.missing) == 0 {
		return said + "\nEverything could be read.\n"
	}
	return said + "\nNot in this report, because it could not be read:\n" + strings.Join(c.missing, "\n") + "\n"
}

// write writes the zip file, which only its owner may read.
func (c *collection) write(name string) (err error) {
	c.add("README.txt", c.readme())
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the file that the user names
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	archive := zip.NewWriter(file)
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		entry, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: c.now()})
		if err != nil {
			return err
		}
		if _, err := entry.Write([]byte(c.files[name])); err != nil {
			return err
		}
	}
	return archive.Close()
}
