/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"regexp"
	"strings"
	"time"
)

// podlessAfter is how long a Job may have no pod before its events are read.
const podlessAfter = 5 * time.Second

// Podless reports whether a Job has had no pod for longer than its controller needs to create one.
func (t Job) Podless(at time.Time) bool {
	return t.AwaitsPod() && at.Sub(t.StartTime.Time) >= podlessAfter
}

// AwaitsPod reports whether a running Job has no pod. No watched event reports why Kubernetes cannot create one.
func (t Job) AwaitsPod() bool {
	over := t.Succeeded || t.Failed || t.Failing || t.Ending
	return !over && t.Pod == "" && t.StartTime != nil
}

// random is the name of the pod in messages of the Job controller: each attempt has another.
var random = regexp.MustCompile(`^(Error creating: )?(pods? "[^"]*" is )?`)

// bounded is how the API server refuses resources outside the bounds of a LimitRange.
var bounded = regexp.MustCompile(`(minimum|maximum) [a-z-]+ usage per (Container|Pod) is|max limit to request ratio per (Container|Pod) is`)

// Refuse records why the pod of the task could not be created, in the words of the Job controller; "" if it is unknown. A request
// that the API server forbids or finds invalid fails until the user acts; other causes may be temporary.
func (t Job) Refuse(message string) Job {
	if message == "" {
		return t
	}
	t.Refusal = random.ReplaceAllString(message, "")
	switch {
	case strings.Contains(message, "exceeded quota"), strings.Contains(message, "failed quota"):
		t.Remedy = "Increase the ResourceQuota, or reduce " + jobResources + " of the DatabaseCluster"
	case bounded.MatchString(message):
		t.Remedy = "Correct the LimitRange, or set " + jobResources + " of the DatabaseCluster within its bounds"
	case strings.Contains(message, "error looking up service account"):
		t.Remedy = "Create the ServiceAccount, or correct spec.serviceAccount of the DatabaseCluster"
	case strings.Contains(message, "forbidden"), strings.Contains(message, "is invalid"):
		t.Remedy = "Correct the cause, or the field of the DatabaseCluster that leads to it"
	}
	return t
}
