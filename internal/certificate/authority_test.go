/*
SPDX-License-Identifier: Apache-2.0
*/

package certificate_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// Members load a certificate of another CA without a restart, so clients need that CA at once.
func TestClientsGetAnotherCAAlsoWhileAMemberWaitsForItsRestart(t *testing.T) {
	c, o := encrypted(t)
	c.Spec.UpdateStrategy.Type = dbv1.UpdateOnDelete
	o.Engine.Spec.Connection = &dbv1.EngineConnection{Type: "ledger"}
	o.TLS.Certificate.CA = "new CA"
	o.Connection = &corev1.Secret{Type: "servicebinding.io/ledger", Data: map[string][]byte{engine.EntryCA: []byte("old CA")}}
	o.Connection.Name, o.Connection.UID = "orders-connection", "c"
	o.Members[1].References, o.Members[1].Revision = "before", "old"
	for _, op := range plans.Decide(c, o).Operations {
		if apply, is := op.(operation.Apply); is && apply.Name() == "orders-connection" && strings.HasSuffix(apply.Text, "(data.ca.crt)") {
			return
		}
	}
	t.Error("clients keep the previous CA")
}
