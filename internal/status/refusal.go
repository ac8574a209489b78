/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"errors"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// Refusal is a request that the API server rejects until the user acts, for the kinds that a cluster has; nil for none.
func Refusal(err error) *situation.Stall {
	foreign := operation.ForeignError{}
	switch {
	case errors.As(err, &foreign):
		return &situation.Stall{Reason: dbv1.ReasonNameConflict, Message: foreign.Error()}
	case operation.Refused(err):
		return &situation.Stall{Reason: dbv1.ReasonRefused, Message: strings.ReplaceAll(err.Error(), "\n", "; ")}
	default:
		return nil
	}
}
