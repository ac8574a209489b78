//go:build e2e

/*
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"
)

// costs is a policy that adds a label to the pods and ConfigMaps of a namespace, and a toleration to pods. Policies match updates by default.
const costs = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: NAMESPACE-costs}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}
    resourceRules:
    - {apiGroups: [""], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [pods, configmaps]}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        (has(object.metadata.labels) ? [] : [JSONPatch{op: "add", path: "/metadata/labels", value: {}}]) +
        [JSONPatch{op: "add", path: "/metadata/labels/cost-center", value: "shop"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: NAMESPACE-costs}
spec: {policyName: NAMESPACE-costs}
`

// The policy is newer than the members, so each of them gets the label with its next write. The new primary writes its role first.
func TestAPolicyThatChangesPodsDoesNotCostThePrimary(t *testing.T) {
	w := withLedger(t, "")
	w.apply(strings.ReplaceAll(costs, "NAMESPACE", w.namespace))
	w.Cleanup(func() {
		for _, kind := range []string{"mutatingadmissionpolicybinding", "mutatingadmissionpolicy"} {
			_, _ = run(context.Background(), //nolint:usetesting // the context of the test has ended by then
				"", "delete", kind, w.namespace+"-costs")
		}
	})
	w.eventually("shop", "annotate", "pod", "ledger-2", "test=test", "--overwrite", "--dry-run=server", "-o", "jsonpath={.metadata.labels.cost-center}")
	before := w.primary()
	// Without a quota, the member may be back before its lock expires, and remain the primary.
	w.do("create", "quota", "none", "--hard=pods=0")
	w.eventually("0", "get", "resourcequota", "none", "-o", "jsonpath={.status.hard.pods}")
	lost := time.Now()
	w.do("delete", "pod", before, "--force", "--grace-period=0")
	for w.primary() == before || w.primary() == "" {
		if time.Since(lost) > 2*time.Minute {
			w.Fatalf("after %s, the primary is %q", time.Since(lost), w.primary())
		}
		time.Sleep(500 * time.Millisecond)
	}
	w.Logf("pod %s is the primary %s after the loss of %s", w.primary(), time.Since(lost).Round(time.Second), before)
	w.do("delete", "quota", "none")
	w.keepsTheRow()
	w.ready()
	w.must(w.do("get", "pod", w.primary(), "-o", "jsonpath={.metadata.labels.cost-center}") == "shop", "the policy has not changed the new primary")
}

// bounds are a LimitRange and a quota as administrators set them.
const bounds = `
apiVersion: v1
kind: LimitRange
metadata: {name: bounds}
spec:
  limits:
  - {type: Container, min: {cpu: 50m, memory: 64Mi}, max: {cpu: "1", memory: 1Gi}, default: {cpu: 500m, memory: 256Mi}, defaultRequest: {cpu: 50m, memory: 64Mi}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: compute}
spec:
  hard: {requests.cpu: "2", requests.memory: 4Gi, limits.cpu: "3", limits.memory: 6Gi}
`

const alone = `
apiVersion: database.dbcluster.io/v1alpha1
kind: DatabaseCluster
metadata:
  name: ledger
spec:
  engine: postgresql-v1
  replicas: 1
  image: IMAGE
  resources: {requests: {cpu: 50m, memory: 100Mi}, limits: {cpu: 500m, memory: 512Mi}}
  storage: {size: 1Gi}
  parameters: {shared_buffers: 32MB, max_connections: "50"}
  scheduling:
    affinity:
      podAntiAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
        - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app.kubernetes.io/instance: ledger}}}
  backup:
    destination: {url: "file:///ledger", claimName: backups}
`

// Every Job of the cluster has to run on the node of its only member.
func TestAClusterRunsWithinALimitRangeAndWithAntiAffinityOnOneNode(t *testing.T) {
	w := newWorld(t)
	w.replacements = append(w.replacements, "IMAGE", w.needs(patroniImage))
	w.apply(bounds)
	w.eventually("limits.cpu", "get", "resourcequota", "compute", "-o", "jsonpath={.status.hard}")
	w.apply(volume)
	w.apply(alone)
	w.await("ledger", "Ready")
	w.do("patch", "databasecluster", "ledger", "--type=merge", "-p", `{"spec":{"parameters":{"work_mem":"8MB"}}}`)
	w.ready()
	w.backup("now", "ledger")
	w.completed("now")
	w.Log(w.do("get", "jobs", "-o", `jsonpath={range .items[*]}{.metadata.name} {.spec.template.spec.containers[*].resources.limits}{"\n"}{end}`))
}
