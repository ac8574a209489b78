/*
SPDX-License-Identifier: Apache-2.0
*/

package kubelet

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/state"
)

var (
	orders = client.ObjectKey{Namespace: "shop", Name: "orders"}
	users  = client.ObjectKey{Namespace: "users", Name: "users"}
)

// used is an answer with a volume of the cluster orders.
func used(percent int32) map[string]state.VolumeUsage {
	return map[string]state.VolumeUsage{"shop/data-orders-0": {Capacity: 1000, Available: 10 * int64(100-percent), UsedPercent: percent}}
}

// testPoller is a meter whose requests a test makes.
func testPoller() (*Poller, *clocktesting.FakePassiveClock) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return newPoller(func(context.Context, string, string) (map[string]state.VolumeUsage, error) { return nil, nil }, clock), clock
}

func TestAKubeletIsAskedOnceForAllClustersAndNeverWithoutOne(t *testing.T) {
	m, clock := testPoller()
	if due := m.due(); len(due) != 0 {
		t.Errorf("without a cluster it asks %v", due)
	}
	m.Ask(orders, map[string]string{"one": "10.0.0.1"})
	m.Ask(users, map[string]string{"one": "10.0.0.1"})
	if due := m.due(); len(due) != 1 || due["one"] != "10.0.0.1" {
		t.Errorf("it asks %v", due)
	}
	if due := m.due(); len(due) != 0 {
		t.Errorf("it asks %v again before the answer", due)
	}
	m.record("one", "10.0.0.1", used(40), nil)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{period - time.Second, 0}, {time.Second, 1}} {
		clock.SetTime(clock.Now().Add(c.after))
		if due := m.due(); len(due) != c.want {
			t.Errorf("after %s it asks %v", c.after, due)
		}
	}
	m.Ask(orders, nil)
	m.Ask(users, nil)
	if due := m.due(); len(due) != 0 || len(m.nodes) != 0 {
		t.Errorf("without a cluster it asks %v, and knows %v", due, m.nodes)
	}
}

func TestAKubeletWithAVolumeThatIsNearlyFullIsAskedMoreOften(t *testing.T) {
	m, clock := testPoller()
	m.Ask(orders, map[string]string{"one": "10.0.0.1"})
	m.due()
	m.record("one", "10.0.0.1", used(urgentPercent), nil)
	clock.SetTime(clock.Now().Add(urgentPeriod))
	if due := m.due(); len(due) != 1 {
		t.Errorf("it asks %v", due)
	}
}

func TestVolumesOfOthersNeitherSpeedUpTheRequestsNorStartPasses(t *testing.T) {
	m, clock := testPoller()
	m.Ask(orders, map[string]string{"one": "10.0.0.1"})
	m.due()
	for i, percent := range []int32{50, 90, 99} {
		answer := used(40)
		for _, name := range []string{"shop/data-carts-0", "shop/cache", "other/data-orders-0"} {
			answer[name] = state.VolumeUsage{Capacity: 1000, Available: 10 * int64(100-percent), UsedPercent: percent}
		}
		if got := m.record("one", "10.0.0.1", answer, nil); len(got) > 0 != (i == 0) {
			t.Errorf("%d%%: got %v", percent, got)
		}
		clock.SetTime(clock.Now().Add(urgentPeriod))
		if due := m.due(); len(due) != 0 {
			t.Errorf("%d%%: it asks %v", percent, due)
		}
	}
}

func TestAClusterHasAPassOnlyWhenItsAnswerChanges(t *testing.T) {
	m, _ := testPoller()
	m.Ask(orders, map[string]string{"one": "10.0.0.1"})
	m.Ask(users, map[string]string{"one": "10.0.0.1"})
	failed := errors.New("no answer")
	for i, c := range []struct {
		volumes map[string]state.VolumeUsage
		err     error
		want    []client.ObjectKey
	}{
		{used(41), nil, []client.ObjectKey{orders, users}}, // the first answer
		{used(44), nil, nil},
		{used(45), nil, []client.ObjectKey{orders}},
		{used(84), nil, []client.ObjectKey{orders}},
		{used(85), nil, []client.ObjectKey{orders}},
		{used(85), nil, nil},
		{nil, failed, []client.ObjectKey{orders, users}},
		{nil, failed, nil},
		{used(85), nil, []client.ObjectKey{orders, users}},
	} {
		got := m.record("one", "10.0.0.1", c.volumes, c.err)
		slices.SortFunc(got, func(a, b client.ObjectKey) int { return len(b.Name) - len(a.Name) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%d: got %v", i, got)
		}
	}
}

func TestAClusterHasAPassWhenALargeVolumeIsNearlyFull(t *testing.T) {
	m, _ := testPoller()
	m.Ask(orders, map[string]string{"one": "10.0.0.1"})
	for i, c := range []struct {
		free int64
		want int
	}{{9 << 30, 1}, {5 << 30, 0}, {3 << 30, 1}, {2 << 30, 0}, {2<<30 - 1, 1}, {1 << 30, 0}, {4 << 30, 1}} {
		volumes := map[string]state.VolumeUsage{"shop/data-orders-0": {Capacity: 1 << 40, Available: c.free, UsedPercent: 100}}
		if got := m.record("one", "10.0.0.1", volumes, nil); len(got) != c.want {
			t.Errorf("%d: got %v", i, got)
		}
	}
}

func TestAVolumeThatFillsFastIsNearlyFullEarlier(t *testing.T) {
	m, clock := testPoller()
	m.Ask(orders, map[string]string{"one": "10.0.0.1"})
	start := clock.Now()
	const gibi = 1 << 30
	for i, c := range []struct {
		after    time.Duration
		free     int64
		capacity int64
		room     state.Room
	}{
		{0, 30, 100, state.Enough}, // no rate is known yet
		{time.Minute, 26, 100, state.Enough},
		{2 * time.Minute, 22, 100, state.Enough},
		{3 * time.Minute, 18, 100, state.Enough},
		{4 * time.Minute, 16, 100, state.Enough},
		{5 * time.Minute, 13, 100, state.Enough},
		{6 * time.Minute, 10, 100, state.Scarce},
		{7 * time.Minute, 6, 100, state.NearlyFull},
		{7 * time.Minute, 6, 100, state.NearlyFull}, // the same measurement, read again
		{8 * time.Minute, 6, 100, state.Enough},
		{9 * time.Minute, 25, 120, state.Enough}, // a growth is no rate
		{10 * time.Minute, 35, 120, state.Enough},
	} {
		m.record("one", "10.0.0.1", map[string]state.VolumeUsage{"shop/data-orders-0": {
			Capacity: c.capacity * gibi, Available: c.free * gibi, UsedPercent: int32(100 - c.free), Measured: start.Add(c.after), //nolint:gosec // at most 100
		}}, nil)
		if v := m.nodes["one"].Volumes["shop/data-orders-0"]; v.Room() != c.room {
			t.Errorf("%d: the room is %d, ahead %d", i, v.Room(), v.Ahead/gibi)
		}
	}
}

func TestAfterAFailureTheLastMeasurementRemainsWithItsTime(t *testing.T) {
	m, _ := testPoller()
	nodes := map[string]string{"one": "10.0.0.1"}
	m.Ask(orders, nodes)
	m.record("one", "10.0.0.1", used(41), nil)
	m.record("one", "10.0.0.1", nil, errors.New("no answer"))
	if got := m.Ask(orders, nodes)["one"]; got.Problem != "no answer" || got.Volumes["shop/data-orders-0"].UsedPercent != 41 {
		t.Errorf("got %+v", got)
	}
	nodes["one"] = "10.0.0.2"
	if got := m.Ask(orders, nodes)["one"]; got.Asked {
		t.Errorf("a node with another address has %+v", got)
	}
	if changed := m.record("one", "10.0.0.1", used(50), nil); changed != nil {
		t.Errorf("a late answer of the previous address changes %v", changed)
	}
}

func TestAMeterWakesTheClusterAndEndsWithItsContext(t *testing.T) {
	m, _ := testPoller()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	m.Ask(orders, map[string]string{"one": "10.0.0.1"})
	go func() { ended <- m.Start(ctx) }()
	if e := <-m.Signals(); e.Object.GetName() != "orders" || e.Object.GetNamespace() != "shop" {
		t.Errorf("it wakes %v", e.Object)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
