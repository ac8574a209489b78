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

// pair is two operators, a leader and a standby, with the default lease durations.
type pair struct {
	cluster        *dbv1.DatabaseCluster
	leads, standby *process
	wire           *wire // between the leader and the API server
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
		return "", errors.New("the lease has no holder")
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
		output := p.standby.output(t)
		return errorIf(!containsAll(output, "ttempting to acquire leader lease"), "the output is: %s", output)
	})
	var err error
	if p.holder, err = holder(t, ns); err != nil {
		t.Fatal(err)
	}
	return p
}

// mustTakeOver changes the cluster and waits until the standby applies the change.
func (p *pair) mustTakeOver(t *testing.T) {
	t.Helper()
	since := time.Now()
	before := uids(t, p.cluster)
	change(t, p.cluster, setSecondImage)
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

// mustEnd waits until the process that lost the lease exits. Kubernetes restarts a process that exited and reports a failure.
func (p *pair) mustEnd(t *testing.T) {
	t.Helper()
	p.leads.mustEnd(t)
	if code := p.leads.ProcessState.ExitCode(); code == 0 {
		t.Error("the operator that lost its lease exited with code 0, which Kubernetes does not report as a failure")
	}
}

func TestATerminatingOperatorReleasesItsLease(t *testing.T) {
	parallel(t)
	p := twoOperators(t)
	p.leads.mustStop(t)
	p.mustTakeOver(t)
	p.standby.mustStop(t)
}

func TestTheStandbyTakesOverFromACrashedOperator(t *testing.T) {
	parallel(t)
	p := twoOperators(t)
	p.leads.stop(t, syscall.SIGKILL)
	p.mustTakeOver(t)
}

func TestADisconnectedOperatorExitsAndTheStandbyTakesOver(t *testing.T) {
	parallel(t)
	p := twoOperators(t)
	p.wire.cut()
	p.mustTakeOver(t)
	p.mustEnd(t)
}

// A process that was frozen, for example on a machine that swaps, resumes as if it were still the leader. It acts on
// stale data. Its actions until it notices must be harmless.
func TestAFrozenOperatorIsHarmlessWhenItResumes(t *testing.T) {
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
