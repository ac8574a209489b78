/*
SPDX-License-Identifier: Apache-2.0
*/

package checks

import (
	"fmt"
	"regexp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var reason = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)

// Conditions returns missing types of conditions and incomplete conditions. A condition needs a status, a reason, a
// message, a transition time and the generation of the spec. No condition may begin after the given time.
func Conditions(conditions []metav1.Condition, types []string, generation int64, now time.Time) []string {
	var problems []string
	found := map[string]int{}
	for _, condition := range conditions {
		found[condition.Type]++
		problems = append(problems, lacks(condition, generation, now)...)
	}
	for _, name := range types {
		if found[name] != 1 {
			problems = append(problems, fmt.Sprintf("there are %d conditions of type %s, want 1", found[name], name))
		}
	}
	return problems
}

func lacks(condition metav1.Condition, generation int64, now time.Time) []string {
	var problems []string
	say := func(format string, arguments ...any) {
		problems = append(problems, "condition "+condition.Type+" "+fmt.Sprintf(format, arguments...))
	}
	switch condition.Status {
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
	default:
		say("has the status %q, which is neither True nor False nor Unknown", condition.Status)
	}
	if !reason.MatchString(condition.Reason) {
		say("has the reason %q, which is no word", condition.Reason)
	}
	if condition.Message == "" {
		say("has no message")
	}
	if condition.ObservedGeneration != generation {
		say("is about generation %d of the spec, want %d", condition.ObservedGeneration, generation)
	}
	if begun := condition.LastTransitionTime; begun.IsZero() || begun.After(now) {
		say("began at %s, want a time until %s", begun.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return problems
}
