/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// requestEvents are the events for requests of users: for a new one, and when it has ended. A text that changes is no event.
func requestEvents(before, after *dbv1.DatabaseCluster) []kit.Event {
	var all []kit.Event
	for _, is := range after.Status.Requests {
		was, known := state.First(before.Status.Requests, func(r dbv1.ClusterRequestStatus) bool {
			return r.Type == is.Type && r.Request == is.Request
		})
		note, action := fmt.Sprintf("request %s %q", is.Type, is.Request), "Request/"+string(is.Type)
		if is.Message != "" {
			note += ": " + is.Message
		}
		switch {
		case was.State == is.State:
		case is.State == dbv1.RequestRefused:
			all = append(all, kit.Warning("RequestRefused", action, note))
		case is.State == dbv1.RequestCompleted:
			all = append(all, kit.Normal("RequestCompleted", action, note))
		case known:
		case is.State == dbv1.RequestPending:
			all = append(all, kit.Normal("RequestPending", action, note))
		default:
			all = append(all, kit.Normal("RequestAccepted", action, note))
		}
	}
	return all
}
