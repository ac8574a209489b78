/*
SPDX-License-Identifier: Apache-2.0
*/

package reporting

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
)

// Object is an object of the namespace.
type Object struct {
	schema.GroupKind
	Name string
}

// Objects are the objects of a cluster, with their UIDs.
type Objects map[Object]types.UID

// Events are the events of these objects, a line each. Another application can have an object of the same name and another kind. An event
// of an object that was deleted, and has the kind and the name of one that exists, is marked: a member keeps its name.
func Events(list []corev1.Event, of Objects) string {
	var lines []string
	for _, e := range list {
		about := e.InvolvedObject
		uid, found := of[Object{about.GroupVersionKind().GroupKind(), about.Name}]
		if !found {
			continue
		}
		at := e.LastTimestamp.Time
		if at.IsZero() {
			at = e.EventTime.Time
		}
		name := about.Kind + "/" + about.Name
		if about.UID != "" && about.UID != uid {
			name += " (deleted)"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s %s: %s (%d)\n", text.Time(at), e.Type, name, e.Reason, e.Message, e.Count))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
