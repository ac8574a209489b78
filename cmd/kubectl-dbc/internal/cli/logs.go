/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/merging"
)

// logFlags are the flags of logs.
type logFlags struct {
	container                            string
	follow, previous, times, withoutJobs bool
	since                                time.Duration
	// tail is how many lines are read, and most how many bytes; 0 for all.
	tail, most int64
}

func (s *session) logs() *cobra.Command {
	f := &logFlags{}
	cmd := &cobra.Command{
		Use:   "logs CLUSTER",
		Short: "Print the logs of all members and Jobs in the order of time",
		Long: "Print the logs of all pods of a cluster, each line with the name of its pod and container. Without --follow, the lines are\n" +
			"in the order of time. With --follow, they are in the order in which they arrive, and pods that start later are not included.",
		Example:           "  kubectl dbc logs orders --since 1h\n  kubectl dbc logs orders -f -c database",
		Args:              oneCluster(0, ""),
		ValidArgsFunction: s.clusterNames,
	}
	flags := cmd.Flags()
	flags.BoolVarP(&f.follow, "follow", "f", false, "Print new lines until you interrupt the command")
	flags.BoolVarP(&f.previous, "previous", "p", false, "Print the logs of containers before their last restart")
	flags.BoolVar(&f.times, "timestamps", false, "Print the time of each line")
	flags.BoolVar(&f.withoutJobs, "no-jobs", false, "Leave out Jobs")
	flags.StringVarP(&f.container, "container", "c", "", "Name of a container. Default: all")
	flags.DurationVar(&f.since, "since", 0, "Only lines that are not older, such as 1h. Default: all")
	flags.Int64Var(&f.tail, "tail", 200, "Lines of each container; -1 for all")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		t, cluster, err := s.cluster(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		found, err := t.podsOf(cmd.Context(), cluster.Name, "")
		if err != nil {
			return err
		}
		sources := merging.Sources(found, f.container, !f.withoutJobs, f.previous)
		if len(sources) == 0 {
			s.say("DatabaseCluster %s has no container with a log.", cluster.Name)
			return nil
		}
		clients, err := t.clientset()
		if err != nil {
			return err
		}
		pods := clients.CoreV1().Pods(t.namespace)
		if f.follow {
			return s.follow(cmd.Context(), pods, sources, f)
		}
		f.most = most
		logs := s.readLogs(cmd.Context(), pods, sources, f)
		_, err = fmt.Fprint(s.Out, merging.Merge(logs, f.times, s.palette()))
		return err
	}
	return cmd
}

// options are the options of a log. Times are read even if they are not printed, because they are the order.
func (f *logFlags) options(container string) *corev1.PodLogOptions {
	o := &corev1.PodLogOptions{Container: container, Follow: f.follow, Previous: f.previous, Timestamps: true}
	if f.since > 0 {
		o.SinceSeconds = new(max(1, int64(f.since.Seconds())))
	}
	if f.tail >= 0 {
		o.TailLines = new(f.tail)
	}
	if f.most > 0 {
		o.LimitBytes = new(f.most)
	}
	return o
}

// readLogs reads the logs. One that cannot be read is reported, and does not hide the others.
func (s *session) readLogs(ctx context.Context, pods corev1client.PodInterface, of []merging.Source, f *logFlags) []merging.Log {
	var logs []merging.Log
	for _, source := range of {
		content, err := pods.GetLogs(source.Pod, f.options(source.Container)).DoRaw(ctx)
		if err != nil {
			s.say("The log of container %s of pod %s cannot be read: %v", source.Container, source.Pod, err)
			continue
		}
		if f.most > 0 && int64(len(content)) >= f.most { // the kubelet sends the first bytes
			s.say("Of the log of container %s of pod %s, only the first %d bytes were read: add --since or --tail.",
				source.Container, source.Pod, f.most)
		}
		logs = append(logs, merging.Log{Source: source, Text: string(content)})
	}
	return logs
}

// follow prints lines as they arrive.
func (s *session) follow(ctx context.Context, pods corev1client.PodInterface, sources []merging.Source, f *logFlags) error {
	var all sync.WaitGroup
	var mutex sync.Mutex
	for _, source := range sources {
		all.Go(func() {
			stream, err := pods.GetLogs(source.Pod, f.options(source.Container)).Stream(ctx)
			if err != nil {
				mutex.Lock()
				defer mutex.Unlock()
				s.say("The log of container %s of pod %s cannot be read: %v", source.Container, source.Pod, err)
				return
			}
			defer stream.Close()
			s.copyLines(stream, source, &mutex, f.times)
		})
	}
	all.Wait()
	return nil
}

// copyLines prints the lines of one log. A line may be longer than a buffer.
func (s *session) copyLines(stream io.Reader, source merging.Source, mutex *sync.Mutex, times bool) {
	reader := bufio.NewReader(stream)
	for {
		line, err := reader.ReadString('\n')
		if line != "" {
			if _, rest := merging.Split(line); !times {
				line = rest
			}
			mutex.Lock()
			fmt.Fprint(s.Out, source.Prefix(s.palette())+strings.TrimRight(line, "\n")+"\n")
			mutex.Unlock()
		}
		if err != nil {
			return
		}
	}
}
