/*
SPDX-License-Identifier: Apache-2.0
*/

package identity

import (
	"fmt"
	"slices"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// tokenLife is how long a pod can keep a token. The kubelet requests another one before that.
const tokenLife = time.Hour

// replaced is the cause if members are down that are older than their ServiceAccount, and the time after which no token can be older. A
// token names the UID of the account, so the API server refuses those of an account that was deleted, although one of that name exists
// again. No pod starts without its account, so an older pod has had another one.
func replaced(s *situation.Situation) (*situation.Stall, time.Duration) {
	if !engine.Identifies(s.Engine) || s.ServiceAccount == nil {
		return nil, 0
	}
	created := s.ServiceAccount.CreationTimestamp
	older := state.Only(s.Members, func(m state.Member) bool { return !m.Terminating && m.Created.Before(&created) })
	left := created.Add(tokenLife).Sub(s.At)
	if left <= 0 || !slices.ContainsFunc(older, func(m state.Member) bool { return !m.Ready }) {
		return nil, 0
	}
	var names []string
	for _, m := range older {
		names = append(names, m.Name)
	}
	return &situation.Stall{Reason: dbv1.ReasonServiceAccountReplaced, Message: fmt.Sprintf(
		"ServiceAccount %s was created at %s, after pods that use it: an account of that name was deleted. The API server refuses the tokens "+
			"of these pods for up to an hour, so their members cannot elect a primary. Delete the pods: kubectl delete pod -n %s %s",
		s.ServiceAccount.Name, created.UTC().Format(time.RFC3339), s.Cluster.Namespace, strings.Join(names, " "))}, left
}
