/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"

// Unconfigured reports whether the action configure has to put the spec in force.
func (s *Situation) Unconfigured() bool {
	wanted := s.Configuration()
	return wanted != "" && s.StatefulSet != nil && !s.RecordedAs(dbv1.ConfigurationInForce)
}

// RecordedAs reports whether the status has the configuration of the spec in a state.
func (s *Situation) RecordedAs(as dbv1.ClusterConfigurationState) bool {
	record := s.Configured()
	return record != nil && record.Hash == s.Configuration() && record.State == as
}
