/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

var (
	readsPods = Right{Role: "r", Verb: "get", Resource: "pods"}
	policy    = Right{Role: "r", Verb: "create", Group: "admissionregistration.k8s.io", Resource: "validatingadmissionpolicies", Name: "ours"}
)

func TestARightIsUsedByTheRequestsThatNeedIt(t *testing.T) {
	applied := Request{Verb: "patch", Group: policy.Group, Resource: policy.Resource, Name: "ours", Code: 201}
	with := func(edit func(*Request)) Request { r := applied; edit(&r); return r }
	cases := map[string]struct {
		right   Right
		request Request
		used    bool
	}{
		"the very request":                   {readsPods, Request{Verb: "get", Resource: "pods", Code: 200}, true},
		"one that found nothing":             {readsPods, Request{Verb: "get", Resource: "pods", Code: 404}, true},
		"one that was forbidden":             {readsPods, Request{Verb: "get", Resource: "pods", Code: 403}, false},
		"another verb":                       {readsPods, Request{Verb: "list", Resource: "pods", Code: 200}, false},
		"another group":                      {readsPods, Request{Verb: "get", Group: "metrics.k8s.io", Resource: "pods", Code: 200}, false},
		"a subresource":                      {readsPods, Request{Verb: "get", Resource: "pods/log", Code: 200}, false},
		"an apply that created the object":   {policy, applied, true},
		"an apply that found it there":       {policy, with(func(r *Request) { r.Code = 200 }), false},
		"an apply that was refused":          {policy, with(func(r *Request) { r.Code = 422 }), false},
		"an apply of another name":           {policy, with(func(r *Request) { r.Name = "theirs" }), false},
		"an apply that created another kind": {policy, with(func(r *Request) { r.Resource = "validatingadmissionpolicybindings" }), false},
	}
	for what, c := range cases {
		if unused := Unused([]Right{c.right}, []Request{c.request}); (len(unused) == 0) != c.used {
			t.Errorf("%s: used %v, want %v", what, len(unused) == 0, c.used)
		}
	}
}

func TestARequestThatTheRightsDoNotAllowIsFound(t *testing.T) {
	made := Request{Verb: "patch", Resource: "configmaps", Code: 201}
	patches, creates := Right{Verb: "patch", Resource: "configmaps"}, Right{Verb: "create", Resource: "configmaps"}
	cases := map[string]struct {
		rights   []Right
		requests []Request
		beyond   int
	}{
		"all are allowed":          {[]Right{patches, creates}, []Request{made}, 0},
		"only a part is":           {[]Right{patches}, []Request{made}, 1},
		"none is":                  {[]Right{readsPods}, []Request{made}, 1},
		"what was forbidden":       {[]Right{readsPods}, []Request{{Verb: "list", Resource: "pods", Code: 403}}, 0},
		"what was allowed to fail": {[]Right{readsPods}, []Request{{Verb: "list", Resource: "pods", Code: 404}}, 1},
	}
	for what, c := range cases {
		if got := Beyond(c.rights, c.requests); len(got) != c.beyond {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func TestARefusalIsExpectedByItsMessageAndMustOccur(t *testing.T) {
	requests := []Request{{Code: 200}, {Code: 403, Message: `cannot get resource "nodes"`}, {Code: 403, Message: "namespace a is being terminated"}}
	terminated, quota := Refusal{"a", "being terminated"}, Refusal{"b", "exceeded quota"}
	unexpected, never := Refused(requests, []Refusal{terminated, quota})
	if len(unexpected) != 1 || unexpected[0].Message != requests[1].Message {
		t.Errorf("unexpected: %v", unexpected)
	}
	if !slices.Equal(never, []Refusal{quota}) {
		t.Errorf("never: %v", never)
	}
}

func TestARuleIsEveryCombinationOfWhatItLists(t *testing.T) {
	got := Flatten("r", []rbacv1.PolicyRule{{
		Verbs: []string{"get", "patch"}, APIGroups: []string{"", "g"}, Resources: []string{"a", "a/status"}, ResourceNames: []string{"x", "y"},
	}})
	if len(got) != 16 || !slices.Contains(got, Right{"r", "patch", "g", "a/status", "y"}) {
		t.Errorf("%d: %v", len(got), got)
	}
	got = Flatten("r", []rbacv1.PolicyRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"/metrics"}}})
	if len(got) != 1 || got[0].Resource != "/metrics" {
		t.Errorf("%v", got)
	}
}

func TestTheAuditLogIsRead(t *testing.T) {
	const log = `{"verb":"get","user":{"username":"admin"},"impersonatedUser":{"username":"operator"},"objectRef":{"resource":"pods","subresource":"log","namespace":"a","name":"b"},"responseStatus":{"code":200}}
{"verb":"get","user":{"username":"admin"},"objectRef":{"resource":"secrets"},"responseStatus":{"code":200}}
{"verb":"patch","user":{"username":"operator"},"objectRef":{"resource":"jobs","apiGroup":"batch"},"responseStatus":{"code":403,"message":"no"}}
{"verb":"get","user":{"username":"operator"},"requestURI":"/apis"}
{"verb":"get","user":{"user`
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Requests(path, func(user string) bool { return user == "operator" })
	want := []Request{
		{User: "operator", Verb: "get", Resource: "pods/log", Namespace: "a", Name: "b", Code: 200},
		{User: "operator", Verb: "patch", Group: "batch", Resource: "jobs", Code: 403, Message: "no"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
}
