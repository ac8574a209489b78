/*
SPDX-License-Identifier: Apache-2.0
*/

package identity

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

// A deleted ServiceAccount is created again, but running members cannot use it.
func TestMembersWithTokensOfADeletedServiceAccountAreReported(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }
	member := func(name string, age time.Duration, ready bool) state.Member {
		return state.Member{Name: name, Created: ago(age), Ready: ready}
	}
	const text = "ServiceAccount orders was created at 2026-01-01T11:50:00Z, after pods that use it: an account of that name was deleted. The API " +
		"server refuses the tokens of these pods for up to an hour, so their members cannot elect a primary. Delete the pods: kubectl delete pod -n shop "
	terminating := member("orders-2", time.Hour, false)
	terminating.Terminating = true
	cases := map[string]struct {
		account time.Duration
		members []state.Member
		want    string
		left    time.Duration
	}{
		"a member is down": {10 * time.Minute,
			[]state.Member{member("orders-0", time.Hour, false), member("orders-1", time.Hour, true), member("orders-2", time.Minute, true)},
			text + "orders-0 orders-1", 50 * time.Minute},
		"all serve": {10 * time.Minute, []state.Member{member("orders-0", time.Hour, true)}, "", 0},
		"the one that is down is younger": {10 * time.Minute,
			[]state.Member{member("orders-0", time.Minute, false), member("orders-1", time.Hour, true)}, "", 0},
		"it is of the same moment": {10 * time.Minute, []state.Member{member("orders-0", 10*time.Minute, false)}, "", 0},
		"it stops":                 {10 * time.Minute, []state.Member{terminating}, "", 0},
		"no token is so old":       {time.Hour, []state.Member{member("orders-0", 2*time.Hour, false)}, "", 0},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			cluster, declared := golden.Replicated(orders())
			account := &corev1.ServiceAccount{}
			account.Name, account.CreationTimestamp = "orders", ago(c.account)
			stall, left := replaced(situation.Of(cluster, state.Observed{At: now, Engine: declared, Members: c.members,
				ServiceAccount: state.ServiceAccountFacts(account)}))
			if got := stall; (got == nil) != (c.want == "") || got != nil && got.Message != c.want || left != c.left {
				t.Errorf("got %+v after %s", got, left)
			}
		})
	}
}
