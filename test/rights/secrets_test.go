/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// policyOnSecrets is the optional policy that requires permission to get the named Secrets.
const policyOnSecrets = "../../config/secret-access/policy.yaml"

// unreadable is the only field that names a Secret without a check. Only the kubelet reads such a Secret, and shows it
// to registries that the Secret names. Permission to get it would reveal more than the field does.
const unreadable = "spec.pod.imagePullSecrets[].name"

func policyText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(policyOnSecrets)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// governed finds the resources to which a policy applies.
var governed = regexp.MustCompile(`(?m)^ +resources: (\[.*\])$`)

// unchecked returns the fields that name a Secret and that a policy does not check. A policy that does not apply to a kind checks none of
// its fields, even if it checks the same path of another kind.
func unchecked(policy string, references []Reference) []string {
	var missing []string
	resources := governed.FindString(policy)
	for _, r := range references {
		if r.To != "Secret" || r.Path == unreadable {
			continue
		}
		if !strings.Contains(resources, `"`+strings.ToLower(r.Kind)+`s"`) || !strings.Contains(policy, "'field': '"+r.Path+"',") {
			missing = append(missing, r.String())
		}
	}
	return missing
}

func TestThePolicyOnSecretsChecksEveryFieldThatNamesOne(t *testing.T) {
	references, err := References(fields(t))
	if err != nil {
		t.Fatal(err)
	}
	policy := policyText(t)
	for _, field := range unchecked(policy, references) {
		t.Errorf("%s names a Secret, and %s does not check it: add the field to the variable named, and its kind to resourceRules", field, policyOnSecrets)
	}
	if !slices.ContainsFunc(references, func(r Reference) bool { return r.Path == unreadable }) {
		t.Errorf("%s no longer exists", unreadable)
	}
	for _, planted := range []Field{{"DatabaseCluster", "spec.vault.secretName"}, {"DatabaseVault", "spec.credentials.secretName"}} {
		want := Reference{Field: planted, To: "Secret"}
		if got := unchecked(policy, append(references, want)); len(got) != 1 || got[0] != want.String() {
			t.Errorf("%s is not in the policy and was not found: %q", want, got)
		}
	}
}

func TestTheDocumentListsEveryFieldThatThePolicyOnSecretsChecks(t *testing.T) {
	references, err := References(fields(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range references {
		if r.To == "Secret" && !strings.Contains(string(text), "`"+r.Path+"`") {
			t.Errorf("docs/security.md does not list %s, which names a Secret", r)
		}
	}
}

// free finds the lists of fields that users may change without permission to get the named Secrets.
var free = regexp.MustCompile(`dyn\(\[([^]]*)\]\)`)

// inert are the texts in these fields. They select no image, command, configuration or object that a container reads.
var inert = regexp.MustCompile(`^spec\.((helpers\.)?resources\.(claims\[\]\.(name|request)|limits\{\}|requests\{\})|storage\.(size|storageClassName|volumeAttributesClassName|autoGrow\.limit|usage|whenNearlyFull)|updateStrategy\.type|` +
	`deletion\.(volumes|hookFailurePolicy)|deletionPolicy)$`)

func TestAFieldThatUsersMayChangeWithoutTheSecretsRunsNoCode(t *testing.T) {
	lists := free.FindAllStringSubmatch(policyText(t), -1)
	if len(lists) != 2 {
		t.Fatalf("the policy has %d lists of fields, want one for spec and one for spec.deletion", len(lists))
	}
	judged := 0
	for i, parent := range []string{"spec.", "spec.deletion."} {
		for name := range strings.SplitSeq(lists[i][1], ", ") {
			at := parent + strings.Trim(name, "'")
			if at == "spec.deletion" {
				continue // the second list has its fields
			}
			for _, field := range fields(t) {
				if field.Kind == "DatabaseEngine" || field.Path != at && !strings.HasPrefix(field.Path, at+".") {
					continue
				}
				if judged++; !inert.MatchString(field.Path) {
					t.Errorf("%s can change without permission to get the Secrets: can it run other code in a pod?", field)
				}
			}
		}
	}
	if judged == 0 {
		t.Error("no field was judged")
	}
}
