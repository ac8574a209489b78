/*
SPDX-License-Identifier: Apache-2.0
*/

// Package kubelet measures the volumes of clusters: it asks the kubelets of their nodes.
package kubelet

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

const (
	// period is the time between two requests to a kubelet, which measures its volumes once a minute itself.
	period = time.Minute
	// urgentPeriod is the same while a volume on the node is nearly full, so that a measurement is not seen a minute late.
	urgentPeriod = 15 * time.Second
	// urgentPercent is the used part from which that applies.
	urgentPercent = 85
	// delay is how long it takes until something follows from the next measurement: the period of a kubelet is one to two minutes, because
	// it has a jitter (volume_stat_calculator.go). Then the operator asks it and starts a Job.
	delay = 3 * time.Minute
	// look is how often the meter looks for kubelets to ask. A new cluster waits for that long.
	look = time.Second
	// atOnce is how many kubelets are asked at the same time.
	atOnce = 8
)

// summaries reads what a kubelet has measured.
type summaries func(ctx context.Context, node, address string) (map[string]state.VolumeUsage, error)

// Poller asks the kubelets of the nodes on which clusters have members, once for all clusters.
type Poller struct {
	read    summaries
	clock   clock.PassiveClock
	signals chan event.GenericEvent

	lock     sync.Mutex
	clusters map[client.ObjectKey]map[string]string
	nodes    map[string]*node
}

// node is a kubelet that is asked.
type node struct {
	address string
	state.NodeUsage
	next time.Time
	busy bool
}

func newPoller(read summaries, clock clock.PassiveClock) *Poller {
	return &Poller{
		read: read, clock: clock, signals: make(chan event.GenericEvent),
		clusters: map[client.ObjectKey]map[string]string{}, nodes: map[string]*node{},
	}
}

// Signals are the clusters with another use of their volumes.
func (m *Poller) Signals() <-chan event.GenericEvent { return m.signals }

// Ask implements subject.Meter.
func (m *Poller) Ask(cluster client.ObjectKey, nodes map[string]string) map[string]state.NodeUsage {
	m.lock.Lock()
	defer m.lock.Unlock()
	if len(nodes) == 0 {
		delete(m.clusters, cluster)
		return nil
	}
	m.clusters[cluster] = maps.Clone(nodes)
	known := map[string]state.NodeUsage{}
	for name, address := range nodes {
		if n := m.nodes[name]; n == nil || n.address != address {
			m.nodes[name] = &node{address: address}
		}
		known[name] = m.nodes[name].NodeUsage
	}
	return known
}

// Start asks the kubelets until the context ends. The manager starts it only in the leader.
func (m *Poller) Start(ctx context.Context) error {
	places := make(chan struct{}, atOnce)
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		for name, address := range m.due() {
			go func() {
				places <- struct{}{}
				defer func() { <-places }()
				m.measure(ctx, name, address)
			}()
		}
	}, look)
	return nil
}

// due are the nodes to ask now, with their addresses. It forgets nodes without a cluster that asks.
func (m *Poller) due() map[string]string {
	m.lock.Lock()
	defer m.lock.Unlock()
	wanted := map[string]bool{}
	for _, nodes := range m.clusters {
		for name := range nodes {
			wanted[name] = true
		}
	}
	maps.DeleteFunc(m.nodes, func(name string, _ *node) bool { return !wanted[name] })
	due, now := map[string]string{}, m.clock.Now()
	for name, n := range m.nodes {
		if !n.busy && !now.Before(n.next) {
			n.busy, due[name] = true, n.address
		}
	}
	return due
}

// measure asks a kubelet, and wakes the clusters whose answer changes.
func (m *Poller) measure(ctx context.Context, name, address string) {
	volumes, err := m.read(ctx, name, address)
	for _, cluster := range m.record(name, address, volumes, err) {
		object := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name}}
		select {
		case m.signals <- event.GenericEvent{Object: object}:
		case <-ctx.Done():
			return
		}
	}
}

// record keeps an answer, and returns the clusters for which it is another one. After an error the last measurement remains: it has a time.
func (m *Poller) record(name, address string, volumes map[string]state.VolumeUsage, err error) (changed []client.ObjectKey) {
	m.lock.Lock()
	defer m.lock.Unlock()
	n := m.nodes[name]
	if n == nil || n.address != address {
		return nil
	}
	before := n.NodeUsage
	n.busy, n.Asked, n.Problem = false, true, ""
	if err != nil {
		n.Problem = err.Error()
	} else {
		n.Volumes = expect(before.Volumes, volumes)
	}
	wait := period
	for cluster, nodes := range m.clusters {
		if _, has := nodes[name]; !has {
			continue
		}
		now := of(cluster, n.NodeUsage)
		wait = min(wait, patience(now.Volumes))
		if differs(of(cluster, before), now) {
			changed = append(changed, cluster)
		}
	}
	n.next = m.clock.Now().Add(wait)
	return changed
}

// of is the answer of a kubelet about the volumes of a cluster. Those of others on the node are no reason to ask it more often.
func of(cluster client.ObjectKey, answer state.NodeUsage) state.NodeUsage {
	theirs := map[string]state.VolumeUsage{}
	for name, v := range answer.Volumes {
		claim, found := strings.CutPrefix(name, cluster.Namespace+"/")
		if _, _, named := naming.TemplateOf(cluster.Name, claim); found && named {
			theirs[name] = v
		}
	}
	answer.Volumes = theirs
	return answer
}

// expect adds to measurements what clients write ahead, by what they wrote since the ones before.
func expect(before, now map[string]state.VolumeUsage) map[string]state.VolumeUsage {
	for name, v := range now {
		was, known := before[name]
		passed := v.Measured.Sub(was.Measured)
		switch {
		case !known || v.Capacity != was.Capacity:
		case passed <= 0:
			v.Ahead = was.Ahead
		default:
			v.Ahead = max(0, int64(float64(was.Available-v.Available)*float64(delay)/float64(passed)))
		}
		now[name] = v
	}
	return now
}

// patience is the time until the next request to a kubelet.
func patience(volumes map[string]state.VolumeUsage) time.Duration {
	for _, v := range volumes {
		if v.UsedPercent >= urgentPercent || v.Room() != state.Enough {
			return urgentPeriod
		}
	}
	return period
}

// differs reports whether a cluster has to know a change: an exact number only while a volume is nearly full.
func differs(before, after state.NodeUsage) bool {
	return before.Asked != after.Asked || before.Problem != after.Problem || !maps.Equal(rounded(before.Volumes), rounded(after.Volumes))
}

// seen is what a change of a volume is judged by.
type seen struct {
	percent  int32
	capacity int64
	room     state.Room
}

func rounded(volumes map[string]state.VolumeUsage) map[string]seen {
	all := map[string]seen{}
	for name, v := range volumes {
		all[name] = seen{state.RoundedUse(v.UsedPercent), v.Capacity, v.Room()}
	}
	return all
}
