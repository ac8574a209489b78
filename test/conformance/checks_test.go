//go:build conformance

/*
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// contractOf are all checks, in the order of their run. The last ones delete the cluster, or need another one.
func contractOf(t *trial) []check {
	all := []check{
		{name: "lint", run: lint, alone: true},
		{name: "interrupted-start", run: interruptedStart, alone: true},
		{name: "create", run: create},
		{name: "connect", lacks: noConnect, run: connect},
		{name: "roles", run: roles},
		{name: "write-and-read", lacks: noRows, run: writeAndRead},
		{name: "join", lacks: notRelated, run: join},
		{name: "hand-over", lacks: noRoles, run: handOver},
		{name: "rollout", run: rollout},
		{name: "scale", lacks: noScale, run: scale},
		{name: "kill", run: kill},
		{name: "freeze", lacks: noProbe, run: freeze},
		{name: "delete-by-force", run: deleteByForce},
		{name: "hibernate", run: hibernate},
		{name: "parameter", lacks: noParameter, run: parameter},
		{name: "bad-parameter", lacks: noParameter, run: badParameter},
		{name: "edit-credentials", lacks: noGenerated, run: edit},
		{name: "rotate-credentials", lacks: noGenerated, run: rotate},
		{name: "backup-online", lacks: noBackup, run: backupOnline},
		{name: "verify-facts", lacks: noFacts, run: verifyFacts},
		{name: "restore", lacks: noBackup, run: restore},
		{name: "incomplete-restore", lacks: noBackup, run: incompleteRestore},
		{name: "recover-moment", lacks: noArchive, run: recoverMoment, alone: true},
		{name: "backup-offline", lacks: noBackup, run: backupOffline},
	}
	if t.engine.Spec.TLS == nil {
		return append(all, check{name: "tls", lacks: func(*trial) string { return "the engine has no spec.tls" }})
	}
	for _, mode := range t.engine.Spec.TLS.Modes {
		all = append(all, check{name: "tls-" + strings.ToLower(string(mode)), run: tlsIn(mode), alone: true})
	}
	return all
}

func noConnect(t *trial) string {
	switch {
	case t.engine.Spec.Connection == nil:
		return "the engine has no spec.connection"
	case t.client.Connect == "":
		return "the client file has no text connect"
	default:
		return ""
	}
}

func noRows(t *trial) string {
	if t.client.Write == "" || t.client.List == "" {
		return "the client file has no texts write and list"
	}
	return noConnect(t)
}

func notRelated(t *trial) string {
	switch {
	case !t.related():
		return "each member has data of its own"
	case t.client.Replicas == 1:
		return "the client file has one replica"
	default:
		return ""
	}
}

func noRoles(t *trial) string {
	if t.engine.Spec.Roles == nil {
		return "no member is the primary"
	}
	return notRelated(t)
}

func noProbe(t *trial) string {
	if t.engine.Spec.Container.ReadinessProbe == nil {
		return "the engine has no readinessProbe, so Kubernetes does not see that a member hangs"
	}
	return ""
}

func lint(ctx context.Context, _ *trial) (string, error) {
	output, err := exec.CommandContext(ctx, "../../hack/engine", "lint", engineFile).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, strings.Join(lines, " "))
	}
	_, counts, _ := strings.Cut(lines[len(lines)-1], ": ")
	return counts, nil
}

func create(ctx context.Context, t *trial) (string, error) {
	stored := &dbv1.DatabaseEngine{}
	if err := t.Get(ctx, client.ObjectKey{Name: t.stored}, stored); err != nil {
		return "", err
	}
	if accepted := meta.FindStatusCondition(stored.Status.Conditions, dbv1.ConditionAccepted); accepted == nil || accepted.Status != "True" {
		return "", fmt.Errorf("the engine is not Accepted: %+v", accepted)
	}
	object, err := t.Object(ctx)
	if err != nil {
		return "", err
	}
	version := object.Status.Version
	switch {
	case len(t.engine.Spec.Container.VersionCommand) == 0:
		version = "not reported"
	case version == "":
		return "", errors.New("status.version is empty: see the log of the init container dbc-version")
	}
	return fmt.Sprintf("%d members ready after %.0f s, version %s", t.Members, t.readyAfter.Seconds(), version), nil
}

// interruptedStart kills the first member three times while it creates its data, a little later each time.
func interruptedStart(ctx context.Context, t *trial) (string, error) {
	t.number++
	cluster, err := t.Begin(ctx, t.template(fmt.Sprintf("interrupted%d", t.number)))
	if err != nil {
		return "", err
	}
	var previous string
	for times := range 3 {
		if err := lab.Await(ctx, "the first member to start", func() bool {
			pod, err := cluster.Pod(ctx, cluster.Member(0))
			if err != nil || life(pod) == "" || life(pod) == previous {
				return false
			}
			time.Sleep(time.Duration(times) * 500 * time.Millisecond)
			previous = life(pod)
			return lab.Signal(pod, syscall.SIGKILL, lab.Any) == nil
		}); err != nil {
			return "", err
		}
	}
	if err := cluster.AwaitReady(ctx); err != nil {
		return "", fmt.Errorf("%w\n%s", err, cluster.Conditions(ctx))
	}
	return "killed three times during its first start, then Ready", t.remove(ctx, cluster)
}

func connect(ctx context.Context, t *trial) (string, error) {
	var answer string
	var problem error
	err := lab.Await(ctx, "a connection", func() bool {
		answer, problem = t.visitor.run(ctx, "", t.client.Connect)
		return problem == nil
	})
	if err != nil {
		return "", fmt.Errorf("%w: %w", err, problem)
	}
	data, err := t.binding(ctx, t.Cluster)
	return fmt.Sprintf("a client connects with the %d keys of the connection Secret and sees %.40q", len(data), answer), err
}

// roles compares the labels of the members with the addresses of the Services.
func roles(ctx context.Context, t *trial) (string, error) {
	pods, err := t.Pods(ctx)
	if err != nil {
		return "", err
	}
	if t.engine.Spec.Roles == nil {
		return "the Service reaches all members", t.reaches(ctx, naming.Service(t.Name), pods)
	}
	primary, err := t.Primary(ctx)
	if err != nil {
		return "", err
	}
	if !t.Healthy(ctx) {
		return "", errors.New("not exactly one member is the primary")
	}
	replicas := slices.DeleteFunc(pods, func(p corev1.Pod) bool { return p.Name == primary.Name })
	err = errors.Join(t.reaches(ctx, naming.Service(t.Name), []corev1.Pod{*primary}), t.reaches(ctx, naming.ReplicasService(t.Name), replicas), t.reportPositions(ctx))
	return fmt.Sprintf("the primary is %s, and the Services reach the primary and the %d replicas", primary.Name, len(replicas)), err
}

// reportPositions waits until the lag of each replica is known, if the engine declares positions.
func (t *trial) reportPositions(ctx context.Context) error {
	if t.engine.Spec.Roles.PositionField == "" {
		return nil
	}
	cluster, err := t.Object(ctx)
	if err != nil {
		return err
	}
	return lab.Await(ctx, "the annotation status of each member with spec.roles.positionField", func() bool {
		pods, err := t.Pods(ctx)
		all := make([]*corev1.Pod, len(pods))
		for i := range pods {
			all[i] = &pods[i]
		}
		return err == nil && len(state.Lags(cluster, t.engine, all)) == len(pods)-1
	})
}

// reaches waits until a Service has exactly the addresses of these pods.
func (t *trial) reaches(ctx context.Context, service string, pods []corev1.Pod) error {
	var want, got []string
	for _, pod := range pods {
		want = append(want, pod.Status.PodIP)
	}
	slices.Sort(want)
	err := lab.Await(ctx, "the addresses of the Service "+service, func() bool {
		got = nil
		var all discoveryv1.EndpointSliceList
		err := t.List(ctx, &all, client.InNamespace(t.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service})
		for _, slice := range all.Items {
			for _, endpoint := range slice.Endpoints {
				if endpoint.Conditions.Ready != nil && *endpoint.Conditions.Ready {
					got = append(got, endpoint.Addresses...)
				}
			}
		}
		slices.Sort(got)
		return err == nil && slices.Equal(got, want)
	})
	if err != nil {
		return fmt.Errorf("%w: it has %v, want %v", err, got, want)
	}
	return nil
}

func writeAndRead(ctx context.Context, t *trial) (string, error) {
	if err := t.visitor.awaitProgress(ctx); err != nil {
		return "", err
	}
	rows, err := t.visitor.acknowledged(ctx)
	if err != nil {
		return "", err
	}
	if err := t.visitor.has(ctx, "", rows); err != nil {
		return "", err
	}
	members, err := t.visitor.keeps(ctx)
	return fmt.Sprintf("%d rows written and read%s", len(rows), members), err
}

// noScale reports why the number of members cannot grow.
func noScale(t *trial) string {
	if most := t.engine.Spec.Replicas.Max; most != 0 && int(t.client.Replicas)+t.step() > int(most) {
		return fmt.Sprintf("the engine allows at most %d members", most)
	}
	return ""
}

// step is by how many members the cluster grows.
func (t *trial) step() int {
	if t.engine.Spec.Replicas.Odd {
		return 2
	}
	return 1
}

func noParameter(t *trial) string {
	if t.client.Parameter == nil {
		return "the client file has no parameter"
	}
	return noConnect(t)
}

func noGenerated(t *trial) string {
	generated := func(k dbv1.EngineSecretKey) bool { return k.Generate != nil }
	if !slices.ContainsFunc(t.engine.Spec.SecretKeys, generated) {
		return "the engine has no generated secretKeys"
	}
	return ""
}

func noFacts(t *trial) string {
	if check := t.engine.Spec.Actions.Check; check == nil || len(check.Facts) == 0 {
		return "the engine has no action check with facts"
	}
	return ""
}

func noBackup(t *trial) string {
	if t.engine.Spec.Actions.Backup == nil {
		return "the engine has no action backup"
	}
	return ""
}
