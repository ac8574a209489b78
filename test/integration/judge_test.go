//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/rights"
)

// expectedRefusals are requests of operators that the API server must refuse: late requests, impossible requests, and
// requests of operators with fewer rights.
var expectedRefusals = []rights.Refusal{
	{Why: "a terminating namespace accepts no new objects", Message: `unable to create new content in namespace test-\w+ because it is being terminated$`},
	{Why: "a StorageClass without allowVolumeExpansion", Message: `only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize$`},
	{Why: "a ResourceQuota of storage", Message: `exceeded quota: storage, requested: requests\.storage=\w+, used: requests\.storage=\w+, limited: requests\.storage=\w+$`},
	{Why: "rights in namespaces do not include cluster-scoped objects", Message: `User "system:serviceaccount:test-\w+:operator" cannot (get|list|watch) resource ` +
		`"(databaseengines|validatingadmissionpolicies|validatingadmissionpolicybindings|nodes)" in API group "[a-z.0-9]*" at the cluster scope$`},
}

// unobserved reports a right whose use shows in no request. TestTheRightToSetFinalizersLetsAClusterBlockOwnerDeletion shows it, for each kind.
// Kubelets check the right to their statistics, and there is none here: TestTheOperatorMayReadTheStatisticsOfNodesAndNothingElseOfThem.
func unobserved(right rights.Right) bool {
	if right.Resource == "nodes/stats" {
		return true
	}
	return right.Role == managerRole && right.Group == dbv1.GroupVersion.Group && right.Verb == "update" && strings.HasSuffix(right.Resource, finalizers)
}

// judge checks a complete test run. It reports unused rights of the operator, refused requests, and components
// without a pod under Pod Security "restricted". It reads the audit log of the API server.
func judge() error {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return nil
		}
	}
	log := os.Getenv("DBC_TEST_AUDIT_LOG")
	if log == "" {
		return errors.New("DBC_TEST_AUDIT_LOG is not set, so the used rights are unknown: run all tests with `make test-integration`")
	}
	all, err := rights.Shipped()
	if err != nil {
		return err
	}
	requests, err := rights.Requests(log, isOperator)
	if err != nil {
		return err
	}
	rows, err := rights.Documented("../../docs/security.md")
	if err != nil {
		return err
	}
	var errs []error
	for _, problem := range rights.Unshown(rows, requests, stories.of) {
		errs = append(errs, fmt.Errorf("docs/security.md: %s", problem))
	}
	return errors.Join(append(errs, used(all, requests), allowed(all, requests), admitted.judge())...)
}

// stories records the test of each namespace.
var stories = &testNames{}

type testNames struct{ byNamespace sync.Map }

func (n *testNames) record(ns, test string) { n.byNamespace.Store(ns, test) }

// of returns the test in whose namespace a request was sent.
func (n *testNames) of(request rights.Request) string {
	name, _ := n.byNamespace.Load(request.Namespace)
	test, _ := name.(string)
	test, _, _ = strings.Cut(test, "/")
	return test
}

// isOperator reports whether a user is an operator: the shared one, or one with rights in a single namespace.
func isOperator(user string) bool {
	return user == operatorUser || strings.HasPrefix(user, "system:serviceaccount:test-") && strings.HasSuffix(user, ":operator")
}

func used(all []rights.Right, requests []rights.Request) error {
	var errs []error
	for _, right := range rights.Unused(all, requests) {
		if !unobserved(right) {
			errs = append(errs, fmt.Errorf("the operator did not use the right to %s in any test: test the feature that needs it, or remove the right", right))
		}
	}
	return errors.Join(errs...)
}

func allowed(all []rights.Right, requests []rights.Request) error {
	var errs []error
	for _, request := range rights.Beyond(all, requests) {
		errs = append(errs, fmt.Errorf("no role of the operator allows its request: %s", request))
	}
	unexpected, never := rights.Refused(requests, expectedRefusals)
	for _, request := range unexpected {
		errs = append(errs, fmt.Errorf("the API server refused a request of the operator: %s", request))
	}
	for _, refusal := range never {
		errs = append(errs, fmt.Errorf("the API server refused no request as %q expects: %s", refusal.Message, refusal.Why))
	}
	return errors.Join(errs...)
}

// admitted records the components whose pods the tests created. Every namespace enforces Pod Security "restricted",
// so the API server admitted each recorded pod.
var admitted = &components{seen: map[string]bool{}}

type components struct {
	mutex sync.Mutex
	seen  map[string]bool
}

func (c *components) record(pod *corev1.Pod) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.seen[pod.Labels[dbv1.LabelComponent]] = true
}

func (c *components) judge() error {
	var errs []error
	for _, component := range []string{
		dbv1.ComponentDatabase, dbv1.ComponentHook, dbv1.ComponentBackup, dbv1.ComponentRestore, dbv1.ComponentVerification, dbv1.ComponentBackupDeletion,
	} {
		if !c.seen[component] {
			errs = append(errs, fmt.Errorf("no pod of component %s was admitted where Pod Security \"restricted\" is enforced", component))
		}
	}
	return errors.Join(errs...)
}
