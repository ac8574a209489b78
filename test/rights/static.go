/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"slices"
	"strings"
)

// never are rights that the operator must not ask for, each with the reason; "*" stands for every one.
var never = []struct {
	group, resource string
	// but are the verbs that are allowed all the same.
	but []string
	why string
}{
	{"", "secrets", []string{"get"}, "to list or watch Secrets is to read all of them, and it writes none"},
	{"", "pods/exec", nil, "it would run commands in databases"},
	{"", "pods/attach", nil, "it would see what databases print"},
	{"", "pods/portforward", nil, "it would reach into databases"},
	{"", "pods/ephemeralcontainers", nil, "it would put programs beside databases"},
	{"", "pods", []string{"get", "list", "watch", "patch", "delete"}, "StatefulSets and Jobs make the pods"},
	{"", "serviceaccounts", nil, "databases need no token"},
	{"", "serviceaccounts/token", nil, "it would be anybody"},
	{"", "nodes", nil, "it looks after no node"},
	{"", "namespaces", nil, "it looks after no namespace"},
	{"", "persistentvolumes", nil, "claims are enough"},
	{"apiextensions.k8s.io", "*", nil, "whoever installs the operator brings the CRDs"},
	{"rbac.authorization.k8s.io", "*", nil, "it gives nobody rights"},
	{"admissionregistration.k8s.io", "mutatingwebhookconfigurations", nil, "it would change what others write"},
	{"admissionregistration.k8s.io", "validatingwebhookconfigurations", nil, "it would refuse what others write"},
	{"database.dbcluster.io", "databaseclusters", []string{"get", "list", "watch", "patch"}, "clusters are the users'"},
}

// neverVerbs are wrong for every resource.
var neverVerbs = map[string]string{
	"escalate": "it would give itself rights", "bind": "it would give others rights", "impersonate": "it would be anybody",
	"deletecollection": "what goes is named, with its UID",
}

// Objection says why the operator must not have a right; "" where nothing speaks against it.
func Objection(right Right) string {
	if strings.Contains(right.Verb+right.Group+right.Resource+right.Name, "*") {
		return "a wildcard allows what nobody has thought of"
	}
	if why := neverVerbs[right.Verb]; why != "" {
		return why
	}
	if strings.HasPrefix(right.Resource, "/") {
		return "it reads nothing but objects"
	}
	for _, n := range never {
		if n.group == right.Group && (n.resource == right.Resource || n.resource == "*") && !slices.Contains(n.but, right.Verb) {
			return n.why
		}
	}
	return ""
}
