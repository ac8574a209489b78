/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"slices"
	"strings"
)

// never are permissions that the operator must not have, each with the reason; "*" stands for every one.
var never = []struct {
	group, resource string
	// but are the verbs that are allowed anyway.
	but []string
	why string
}{
	{"", "secrets", []string{"get", "create", "patch", "delete"}, "listing or watching Secrets reads all of them"},
	{"", "pods/exec", nil, "it would run commands in databases"},
	{"", "pods/attach", nil, "it would see what databases print"},
	{"", "pods/portforward", nil, "it would reach into databases"},
	{"", "pods/ephemeralcontainers", nil, "it would put programs beside databases"},
	{"", "pods", []string{"get", "list", "watch", "patch", "delete"}, "StatefulSets and Jobs create the pods"},
	{"", "serviceaccounts", []string{"get", "create", "patch", "delete"}, "it creates one for a cluster by name and needs no other"},
	{"", "serviceaccounts/token", nil, "it could impersonate any user"},
	{"", "nodes", []string{"get", "list", "watch"}, "it manages no nodes, and only sees which are cordoned"},
	{"", "nodes/proxy", nil, "it would run commands in pods"},
	{"", "nodes/stats", []string{"get"}, "kubelets report how full volumes are"},
	{"", "namespaces", nil, "it manages no namespaces"},
	{"", "persistentvolumes", nil, "claims are enough"},
	{"apiextensions.k8s.io", "*", nil, "the installation creates the CRDs"},
	{"rbac.authorization.k8s.io", "roles", []string{"get", "create", "patch", "delete"},
		"it grants permissions to members by name and needs no others"},
	{"rbac.authorization.k8s.io", "rolebindings", []string{"get", "create", "patch", "delete"},
		"it grants permissions to members by name and needs no others"},
	{"rbac.authorization.k8s.io", "clusterroles", nil, "it grants permissions in one namespace only"},
	{"rbac.authorization.k8s.io", "clusterrolebindings", nil, "it grants permissions in one namespace only"},
	{"admissionregistration.k8s.io", "mutatingwebhookconfigurations", nil, "it could change the requests of others"},
	{"admissionregistration.k8s.io", "validatingwebhookconfigurations", nil, "it could deny the requests of others"},
	{"database.dbcluster.io", "databaseclusters", []string{"get", "list", "watch", "create", "patch"},
		"clusters are the users': it creates only the previews of DatabaseRestores"},
}

// neverVerbs are forbidden for every resource.
var neverVerbs = map[string]string{
	"escalate": "it could grant itself permissions", "bind": "it could grant others permissions",
	"impersonate":      "it could impersonate any user",
	"deletecollection": "it deletes objects by name and UID",
}

// Objection returns why the operator must not have a permission, or "".
func Objection(right Right) string {
	if strings.Contains(right.Verb+right.Group+right.Resource+right.Name, "*") {
		return "a wildcard allows unknown requests"
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
