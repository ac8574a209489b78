//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// pair is two operators of which one works and the other stands by, with the times that are the defaults.
type pair struct {
	cluster        *dbv1.DatabaseCluster
	leads, standby *process
	wire           *wire // between the one that leads and the API server
	holder         string
}

func lease(ns string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "databasecluster-operator"}}
}

func holder(t *testing.T, ns string) (string, error) {
	t.Helper()
	l := lease(ns)
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(l), l); err != nil {
		return "", err
	}
	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" {
		return "", errors.New("nobody holds the lease")
	}
	return *l.Spec.HolderIdentity, nil
}

func twoOperators(t *testing.T) *pair {
	t.Helper()
	ns := ownNamespace(t)
	allowIn(t, ns, operatorUser, leaderElectionRole)
	flags := []string{"--watch-namespace=" + ns, "--leader-elect", "--leader-election-namespace=" + ns,
		"--lease-duration=6s", "--lease-renew-deadline=4s", "--lease-retry-period=800ms"}
	p := &pair{cluster: smallest(ns, "orders"), wire: wireUp(t)}
	atOnce(p.cluster)
	create(t, p.cluster)
	kubelet(t, ns, healthy)
	p.leads = operator(t, kubeconfig(t, operatorUser, p.wire.Addr().String()), nil, flags...)
	awaitReady(t, p.cluster)
	p.standby = operator(t, kubeconfig(t, operatorUser, ""), nil, flags...)
	eventually(t, "the second to stand by", func() error {
		said := p.standby.said(t)
		return errorIf(!containsAll(said, "ttempting to acquire leader lease"), "it said: %s", said)
	})
	var err error
	if p.holder, err = holder(t, ns); err != nil {
		t.Fatal(err)
	}
	return p
}

// mustTakeOver changes the cluster and waits for the one that stood by to carry that out.
func (p *pair) mustTakeOver(t *testing.T) {
	t.Helper()
	since := time.Now()
	before := uids(t, p.cluster)
	change(t, p.cluster, takeSecondImage)
	eventually(t, "another to hold the lease", func() error {
		now, err := holder(t, p.cluster.Namespace)
		if err == nil && now == p.holder {
			return fmt.Errorf("%s holds it", now)
		}
		return err
	})
	t.Logf("the lease was taken over after %s", time.Since(since).Round(10*time.Millisecond))
	awaitRestarted(t, p.cluster, before)
	t.Logf("the change was carried out after %s", time.Since(since).Round(10*time.Millisecond))
}

// mustEnd waits for the end of the one that led. Kubernetes restarts what ended, and tells of what failed.
func (p *pair) mustEnd(t *testing.T) {
	t.Helper()
	p.leads.mustEnd(t)
	if code := p.leads.ProcessState.ExitCode(); code == 0 {
		t.Error("the operator that lost its lease exited with code 0: nothing would tell")
	}
}

func TestAnOperatorThatStopsHandsOver(t *testing.T) {
	parallel(t)
	p := twoOperators(t)
	p.leads.stopped(t)
	p.mustTakeOver(t)
	p.standby.stopped(t)
}

func TestTheStandbyTakesOverFromAnOperatorThatDies(t *testing.T) {
	parallel(t)
	p := twoOperators(t)
	p.leads.stop(t, syscall.SIGKILL)
	p.mustTakeOver(t)
}

func TestAnOperatorThatIsCutOffStopsByItselfAndTheStandbyTakesOver(t *testing.T) {
	parallel(t)
	p := twoOperators(t)
	p.wire.cut()
	p.mustTakeOver(t)
	p.mustEnd(t)
}

// A process that was frozen, as on a machine that swaps, believes that it still leads when it goes on, and acts
// on what it knew. What it may do before it learns better must do no harm.
func TestAnOperatorThatWasFrozenDoesNoHarmWhenItGoesOn(t *testing.T) {
	parallel(t)
	p := twoOperators(t)
	if err := p.leads.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.mustTakeOver(t)
	before, generation := uids(t, p.cluster), read(t, statefulSet(p.cluster)).Generation
	if err := p.leads.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	p.mustEnd(t)
	mustNotBeRestarted(t, p.cluster, before)
	if got := read(t, statefulSet(p.cluster)).Generation; got != generation {
		t.Error("an operator that had lost its lease changed the StatefulSet")
	}
	awaitReady(t, p.cluster)
}
