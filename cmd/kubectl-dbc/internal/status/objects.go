/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
)

// most is the number of names in a line: a cluster can have hundreds of objects with the same problem.
const most = 3

// group are the objects of one kind that are not as they should be for the same reason.
type group struct {
	kind, reason, message string
	names                 []string
}

// pending are the objects that wait for the next Job.
func (f Facts) pending() [][]text.Cell { return f.groups(true) }

// failing are the other objects that need attention.
func (f Facts) failing() [][]text.Cell { return f.groups(false) }

func (f Facts) groups(pending bool) [][]text.Cell {
	var all []*group
	known := map[string]*group{}
	for _, o := range f.Objects {
		verdict, cause := o.Explain()
		if verdict != why.Unhealthy || pending != (cause.Reason == dbv1.ReasonObjectPending) {
			continue
		}
		key := o.Kind + " " + cause.Reason
		if known[key] == nil {
			known[key] = &group{kind: o.Kind, reason: cause.Reason, message: cause.Message}
			all = append(all, known[key])
		}
		known[key].names = append(known[key].names, o.Name)
	}
	var rows [][]text.Cell
	for _, g := range all {
		first, last := g.texts()
		tone := text.Bad
		if pending {
			tone = text.Plain
		}
		rows = append(rows, []text.Cell{{Text: first, Tone: tone}, {Text: g.reason}, {Text: last}})
	}
	return rows
}

// texts are the first and the last cell of a line: the name with the message of one object, or the number with the names of many.
func (g group) texts() (first, last string) {
	if len(g.names) == 1 {
		return g.kind + " " + g.names[0], g.message
	}
	last = strings.Join(g.names[:min(len(g.names), most)], ", ")
	if more := len(g.names) - most; more > 0 {
		last += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d %ss", len(g.names), g.kind), last + " (kubectl dbc users -o wide)"
}
