/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/connecting"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/merging"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/reporting"
)

// readAllLogs reads the logs of the cluster and of the operator.
func (c *collection) readAllLogs(ctx context.Context) {
	clients, err := c.target.clientset()
	if err != nil {
		c.miss("logs", err)
		return
	}
	pods, err := c.target.podsOf(ctx, c.cluster.Name, "")
	if err != nil {
		c.miss("logs", err)
	}
	operators, err := c.operators(ctx)
	if err != nil {
		c.miss("log of the operator", err)
	}
	// The log of a client has all that a user has typed.
	pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Labels[dbv1.LabelComponent] == connecting.Component })
	c.readLogsOf(ctx, clients, pods, func(text string) string { return text })
	c.readLogsOf(ctx, clients, operators, c.ofOperator)
}

// ofOperator are the lines of the operator's log that are about this cluster, or about no object.
func (c *collection) ofOperator(text string) string {
	lines := reporting.Log{Namespace: c.target.namespace, Operator: c.operator, Objects: c.objects}
	kept, others := lines.Of(text)
	return fmt.Sprintf("(%d other lines were left out)\n", others) + kept
}

// operators are the pods of the operator.
func (c *collection) operators(ctx context.Context) ([]corev1.Pod, error) {
	list, labels := &corev1.PodList{}, client.MatchingLabels{
		"control-plane": "controller-manager", "app.kubernetes.io/name": "databasecluster-operator",
	}
	err := c.target.List(ctx, list, client.InNamespace(c.operator), labels)
	return list.Items, err
}

const (
	// longest is how many lines of each log a report reads. Most is how many bytes any command reads, so that a log fits into the memory.
	longest, most = 10000, 64 << 20
	// kept is how many bytes of each log are in the report.
	kept = 8 << 20
)

// readLogsOf reads the logs of pods of a namespace, with those before the last restart of a container.
func (c *collection) readLogsOf(ctx context.Context, clients kubernetes.Interface, pods []corev1.Pod, part func(string) string) {
	if len(pods) == 0 {
		return
	}
	namespace := pods[0].Namespace
	for _, previous := range []bool{false, true} {
		f := &logFlags{tail: longest, most: most, previous: previous}
		for _, source := range merging.Sources(pods, "", true, previous) {
			name := fmt.Sprintf("logs/%s/%s/%s%s.log", namespace, source.Pod, source.Container, map[bool]string{true: "-previous"}[previous])
			content, err := clients.CoreV1().Pods(namespace).GetLogs(source.Pod, f.options(source.Container)).DoRaw(ctx)
			if err != nil {
				c.miss(name, err)
				continue
			}
			if len(content) >= most { // the kubelet sends the first bytes
				c.miss(name, fmt.Errorf("only the first %d bytes of its last %d lines were read", most, longest))
			}
			c.add(name, end(part(string(content)), kept))
		}
	}
}

// end is the end of a text, from the start of a line. At most so many bytes remain.
func end(text string, most int) string {
	if len(text) <= most {
		return text
	}
	_, lines, _ := strings.Cut(text[len(text)-most:], "\n")
	return fmt.Sprintf("(%d bytes were left out)\n", len(text)-len(lines)) + lines
}
