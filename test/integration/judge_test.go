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

// meant are the refusals that operators meet which come too late, ask for what cannot be, or have less than the shipped rights.
var meant = []rights.Refusal{
	{Why: "nothing can be made in a namespace that is being deleted", Message: `unable to create new content in namespace test-\w+ because it is being terminated$`},
	{Why: "a StorageClass without allowVolumeExpansion", Message: `only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize$`},
	{Why: "rights in namespaces alone do not reach what belongs to none", Message: `User "system:serviceaccount:test-\w+:operator" cannot (get|list|watch) resource ` +
		`"(databaseengines|validatingadmissionpolicies|validatingadmissionpolicybindings)" in API group "[a-z.0-9]+" at the cluster scope$`},
}

// unseen are rights whose use shows in no request, with the test that shows it.
var unseen = map[string]string{
	"update databaseclusters/finalizers.database.dbcluster.io (manager-role)": "TestTheRightToSetFinalizersLetsAClusterWaitForWhatItOwns",
	"update databasebackups/finalizers.database.dbcluster.io (manager-role)":  "TestTheRightToSetFinalizersLetsAClusterWaitForWhatItOwns",
}

// judge looks at the whole run, when it was whole: what the operator never used of its rights, what it was refused, and
// which pods were never seen where Pod Security "restricted" is enforced. The API server's audit log is the witness.
func judge() error {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return nil
		}
	}
	log := os.Getenv("DBC_TEST_AUDIT_LOG")
	if log == "" {
		return errors.New("DBC_TEST_AUDIT_LOG is not set, so nobody can tell which rights were used: run all tests by `make test-integration`")
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
		errs = append(errs, fmt.Errorf("docs/security.md says which test shows a right: %s", problem))
	}
	return errors.Join(append(errs, used(all, requests), allowed(all, requests), admitted.judge())...)
}

// stories are the tests, by their namespaces.
var stories = &notes{}

type notes struct{ byNamespace sync.Map }

func (n *notes) note(ns, test string) { n.byNamespace.Store(ns, test) }

// of is the test in whose namespace something was asked for.
func (n *notes) of(request rights.Request) string {
	name, _ := n.byNamespace.Load(request.Namespace)
	test, _ := name.(string)
	test, _, _ = strings.Cut(test, "/")
	return test
}

// isOperator tells of a user whether it is an operator: that of all tests, or one with rights in a namespace alone.
func isOperator(user string) bool {
	return user == operatorUser || strings.HasPrefix(user, "system:serviceaccount:test-") && strings.HasSuffix(user, ":operator")
}

func used(all []rights.Right, requests []rights.Request) error {
	var errs []error
	for _, right := range rights.Unused(all, requests) {
		if _, shown := unseen[right.String()]; !shown {
			errs = append(errs, fmt.Errorf("no test made the operator use the right to %s: test what needs it, or take it away", right))
		}
	}
	return errors.Join(errs...)
}

func allowed(all []rights.Right, requests []rights.Request) error {
	var errs []error
	for _, request := range rights.Beyond(all, requests) {
		errs = append(errs, fmt.Errorf("no role of the operator allows what it did: %s", request))
	}
	unexpected, never := rights.Refused(requests, meant)
	for _, request := range unexpected {
		errs = append(errs, fmt.Errorf("the operator was refused: %s", request))
	}
	for _, refusal := range never {
		errs = append(errs, fmt.Errorf("no operator was refused as %q expects: %s", refusal.Message, refusal.Why))
	}
	return errors.Join(errs...)
}

// admitted are the kinds of pods that were made for clusters. Every namespace of these tests enforces Pod Security
// "restricted", so what there is was admitted.
var admitted = &components{seen: map[string]bool{}}

type components struct {
	mutex sync.Mutex
	seen  map[string]bool
}

func (c *components) note(pod *corev1.Pod) {
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
