/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// StartJob creates the Job of an action that disturbs no member.
func StartJob(text string, job objects.Child) Create {
	return Create{Work: Work{Is: Aside, Text: text}, Objects: []objects.Child{job}}
}

// Changes is the change of objects, whose names follow the text; none without objects.
func Changes(work Work, all []Patch) List {
	if len(all) == 0 {
		return nil
	}
	work.Text += Describe(all)
	return List{Change{work, all}}
}

// Deletion deletes objects that the operator created and no longer needs; none without objects.
func Deletion(all ...Removal) List { return Deletions(Work{Is: Cleanup, Text: "delete "}, all) }

// Deletions is the deletion of objects, whose names follow the text; none without objects.
func Deletions(work Work, all []Removal) List {
	if len(all) == 0 {
		return nil
	}
	work.Text += Describe(all)
	return List{Delete{Work: work, Objects: all}}
}

// Stop deletes the pod of a member, whose name follows the text.
func Stop(work Work, m state.Member) Delete {
	work.Text += m.Name
	work.Stops = m.Name
	return Delete{Work: work, Objects: []Removal{{Target: PodOf(m)}}}
}

// AddFinalizer adds the operator's finalizer to the object of the pass, before any other object is created.
func AddFinalizer() Finalizer {
	return Finalizer{Work: Work{Is: First, Text: "add the finalizer"}, Own: true}
}

// RemoveFinalizer removes the operator's finalizer from the object of the pass.
func RemoveFinalizer(is Properties, about Event) Finalizer {
	return Finalizer{Work: Work{Is: is, Text: "remove the finalizer", Event: about}, Own: true, Remove: true}
}

// Release removes the operator's finalizer from pods; none without pods. It does so for a paused cluster, too: the operator added the
// finalizer itself, and a pod with a finalizer blocks the drain of its node.
func Release(pods []Target) List {
	if len(pods) == 0 {
		return nil
	}
	names := make([]string, 0, len(pods))
	for _, pod := range pods {
		names = append(names, "pod "+pod.Name)
	}
	is := Properties{LiveRead: true, WhilePaused: true, WhileDeleting: true}
	return List{Finalizer{Work: Work{Is: is, Text: "remove the finalizer from " + strings.Join(names, ", ")}, Pods: pods, Remove: true}}
}

// RecordRequest records the state of a request of the user.
func RecordRequest(r dbv1.ClusterRequestStatus) Record {
	return Record{Work: Work{Is: Last, Text: fmt.Sprintf("record the request %s %s: %s", r.Type, r.Request, r.State)}, Request: &r}
}

// RecordConfiguration records the state of the configuration of the members.
func RecordConfiguration(c *dbv1.ClusterConfigurationStatus) Record {
	return Record{Work: Work{Is: Last, Text: fmt.Sprintf("record the configuration %s: %s", c.Hash, c.State)}, Configuration: c}
}
