/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate

import (
	"slices"

	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// loadable reports whether all members run, and need no restart before they can serve the certificate.
func loadable(s *situation.Situation) bool {
	_, known := s.Revision()
	return known && s.Ready() >= s.Wanted && mounted(s) && !awaitsRestart(s)
}

// mounted reports whether the pods of all members have the Secret. While the cluster is paused, none is outdated without it.
func mounted(s *situation.Situation) bool {
	secret := engine.TLSSecret(s.Cluster)
	return !slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.Certificate != secret })
}

// awaitsRestart reports whether a member has to restart before all serve the certificate.
func awaitsRestart(s *situation.Situation) bool {
	return slices.ContainsFunc(s.Outdated(), func(m state.Member) bool { return restartsFirst(s, m) })
}

// restartsFirst reports whether an outdated member loads the certificate by a restart: the operator is about to restart it, or its
// pod does not have the Secret. Otherwise the user decides when it restarts, and the previous certificate may expire before.
func restartsFirst(s *situation.Situation, m state.Member) bool {
	return !s.UserRestarts() || !s.Reloads() || m.Certificate != s.TLS.Certificate.Name
}

// served reports whether all members serve the certificate. Members of an engine that cannot reload it restart instead.
func served(s *situation.Situation) bool {
	if !loadable(s) {
		return false
	}
	return !s.Reloads() || servedBefore(s) == s.TLS.Certificate.Identity || len(s.Members) == 0
}

// servedBefore identifies the certificate that all members are known to serve. If the status has lost it, one reload repeats. The Job of a
// reload may be older than members without TLS.
func servedBefore(s *situation.Situation) string {
	if !mounted(s) {
		return ""
	}
	f := state.FactsOf[Facts](s.Observed)
	if identity := s.TLS.Certificate.Identity; f.Reloading && f.Reload.Succeeded && f.Reloaded == identity {
		return identity
	}
	if before := s.Cluster.Status.TLS; before != nil {
		return before.Served
	}
	return ""
}
