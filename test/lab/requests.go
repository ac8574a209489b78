/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The kinds of requests that the API server counts, each by a FlowSchema of this name.
const (
	Leases  = "faults-leases"
	Watches = "faults-watches"
	Reads   = "faults-reads"
	Writes  = "faults-writes"
)

// Requests are counters of the API server.
type Requests struct{ *Lab }

// CountRequests lets the API server count the requests of all ServiceAccounts of a namespace. The counters stay: a second call
// continues them.
func (l *Lab) CountRequests(ctx context.Context, namespace string) (*Requests, error) {
	everything := []string{flowcontrolv1.ResourceAll}
	for i, schema := range []struct {
		name             string
		verbs, resources []string
	}{
		{Leases, everything, []string{"leases"}},
		{Watches, []string{"watch"}, everything},
		{Reads, []string{"get", "list"}, everything},
		{Writes, everything, everything},
	} {
		object := &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: schema.name}, Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: "workload-high"},
			MatchingPrecedence:         int32(10 + i), //nolint:gosec // four
			DistinguisherMethod:        &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType},
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects: []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindServiceAccount,
					ServiceAccount: &flowcontrolv1.ServiceAccountSubject{Namespace: namespace, Name: flowcontrolv1.NameAll}}},
				ResourceRules: []flowcontrolv1.ResourcePolicyRule{{Verbs: schema.verbs, APIGroups: everything, Resources: schema.resources,
					ClusterScope: true, Namespaces: everything}},
			}},
		}}
		if err := l.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			return nil, fmt.Errorf("create FlowSchema: %w", err)
		}
	}
	return &Requests{l}, nil
}

var dispatched = regexp.MustCompile(`(?m)^apiserver_flowcontrol_dispatched_requests_total\{flow_schema="(faults-[a-z]+)",.*\} ([0-9.e+]+)$`)

// Counted returns how many requests of each kind the API server has answered.
func (r *Requests) Counted(ctx context.Context) (map[string]int, error) {
	text, err := exec.CommandContext(ctx, "kubectl", "get", "--raw", "/metrics").Output()
	if err != nil {
		return nil, fmt.Errorf("read the metrics of the API server: %w", err)
	}
	counted := map[string]int{}
	for _, match := range dispatched.FindAllSubmatch(text, -1) {
		number, err := strconv.ParseFloat(string(match[2]), 64)
		if err != nil {
			return nil, err
		}
		counted[string(match[1])] += int(number)
	}
	return counted, nil
}

// Difference describes the requests between two counts.
func Difference(before, after map[string]int) string {
	number := func(kind string) int { return after[kind] - before[kind] }
	return fmt.Sprintf("%d reads, %d writes, %d watches, %d requests for the lease", number(Reads), number(Writes), number(Watches),
		number(Leases))
}
