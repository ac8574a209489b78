/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
)

// hookTransitions are the events for phase transitions of deletion hooks, except for a blocked deletion.
func hookTransitions(before, after *dbv1.DatabaseCluster) []kit.Event {
	var all []kit.Event
	var skipped []string
	for _, is := range after.Status.Hooks {
		was := hookNamed(before.Status.Hooks, is.Name)
		all = append(all, unknownExitCodes(was, is)...)
		if was.Phase == is.Phase {
			continue
		}
		switch is.Phase {
		case dbv1.HookSucceeded:
			all = append(all, kit.Normal("HookSucceeded", "RunHook", fmt.Sprintf("deletion hook %q: %s", is.Name, is.Message)))
		case dbv1.HookSkipped:
			skipped = append(skipped, fmt.Sprintf("%q", is.Name))
		case dbv1.HookFailed:
			if after.Spec.Deletion.HookFailurePolicy == dbv1.HookFailureContinue {
				all = append(all,
					kit.Warning("HookFailed", "RunHook", is.Message+"; the deletion continues, because spec.deletion.hookFailurePolicy is Continue"))
			}
		case dbv1.HookPending, dbv1.HookRunning:
		}
	}
	if len(skipped) > 0 {
		all = append(all, kit.Warning("HooksSkipped", "RunHook", fmt.Sprintf(
			"the deletion continues without the hooks %s, because the cluster has the annotation %s=true",
			strings.Join(skipped, ", "), dbv1.AnnotationSkipDeletionHooks)))
	}
	return all
}

func hookNamed(hooks []dbv1.HookStatus, name string) dbv1.HookStatus {
	i := slices.IndexFunc(hooks, func(h dbv1.HookStatus) bool { return h.Name == name })
	if i < 0 {
		return dbv1.HookStatus{}
	}
	return hooks[i]
}

// unknownExitCodes is the event for members whose exit code was not observed.
func unknownExitCodes(was, is dbv1.HookStatus) []kit.Event {
	var pods []string
	for _, s := range is.Stopped {
		reported := slices.ContainsFunc(was.Stopped, func(w dbv1.StoppedMember) bool { return w.Pod == s.Pod })
		if s.ExitCode == nil && !reported {
			pods = append(pods, s.Pod)
		}
	}
	if len(pods) == 0 {
		return nil
	}
	return []kit.Event{kit.Warning("ExitCodeUnknown", "Stop",
		fmt.Sprintf("the exit code of the database in %s is unknown", strings.Join(pods, ", ")))}
}
