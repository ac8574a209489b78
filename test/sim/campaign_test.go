/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"

	"github.com/dbcluster/databasecluster-operator/test/world"
)

var everything = flag.Bool("everything", false, "try every failure at every call, also where two are alike, and play each to its end")

// campaigns are computed once for all tests, which run one after the other.
var campaigns sync.Map // by the name of the sequence

func campaignOf(t *testing.T, s world.Story) *world.Campaign {
	t.Helper()
	if made, ok := campaigns.Load(s.Name); ok {
		return made.(*world.Campaign)
	}
	c, err := world.NewCampaign(newPlay(s, 0))
	if err != nil {
		t.Fatal(err)
	}
	c.Everything = *everything
	campaigns.Store(s.Name, c)
	return c
}

// mostReports is the number of failing plays of a sequence that are reported in full.
const mostReports = 3

func report(t *testing.T, failures []string) {
	t.Helper()
	for _, failure := range failures[:min(mostReports, len(failures))] {
		t.Error(failure)
	}
}

// unsteady are the stories whose end depends on the time without a fault of the operator, and why.
var unsteady = map[string]string{
	"volume-lost-then-deleted":                   "the StatefulSet may start the released member on its empty volume before it is scaled in",
	"pair-without-the-last-primary":              "orders-2 has all rows for the engine only if it stops after the primary",
	"pair-final-backup-unseen":                   "either replica may take over",
	"voters-final-backup-during-scale-in":        "a second decides whether the removal has ended before the deletion",
	"pair-hibernate-taken-back-touched":          "a failure may delay the hibernation until it is taken back, so the StatefulSet never gets its ordinals",
	"pair-hibernate-during-hand-over":            "either primary may stop last",
	"pair-delete-during-hand-over":               "the cluster may be deleted before the Job of the hand-over exists",
	"pair-hand-over-to-another-before-a-rollout": "a crash delays the hand-over until after the rollout",
	"pair-final-backup-of-adopted-volumes":       "a cluster that is deleted before the operator has seen it has no final backup",
	"pair-wake-touched":                          "a failure may delay the wake until the StatefulSet is touched, so its first pod is from that template",
	"volume-of-a-restore-that-changes":           "the restore may end before the other backup is named",
}

// disordered are the stories whose end depends on the order of events without a fault of the operator, and why.
var disordered = map[string]string{
	"pair-delete-foreground":                "either replica may take over",
	"pair-stop-unseen":                      "either replica may take over",
	"pair-stop-unseen-next-cluster":         "either replica may take over",
	"pair-final-backup-foreground":          "the garbage collector may stop the primary first: then no volume is known to have every write",
	"pair-hibernate-unready":                "without a lock nobody knows the last primary, and the member that starts first takes over",
	"pair-without-lock-final-backup-silent": "without a lock nobody knows the last primary, and the member that starts first takes over",
	// A member that stopped earlier may take over, although the second one has more. Starting the last one to stop first would avoid that.
	"pair-fewer-without-the-first-claim": "the deleted claim had the record of the last primary, and the member that starts first takes over",
	"data-replaced-and-undone-at-once":   "the undo may come before or after the Job that fills the volumes",
	"data-replaced-and-deleted-at-once":  "the deletion may come before or after the switch",
}

func skip(t *testing.T, s world.Story, because ...map[string]string) {
	t.Helper()
	for _, why := range because {
		if why[s.Name] != "" {
			t.Skip(why[s.Name])
		}
	}
}

func TestOneFailureAtAnyCallDoesNotChangeTheEnd(t *testing.T) {
	withoutRaces(t)
	for _, sequence := range played() {
		t.Run(sequence.Name, func(t *testing.T) {
			skip(t, sequence, unsteady)
			t.Parallel()
			c := campaignOf(t, sequence)
			var failures []string
			plans := sampled(t, sequence.Name, c.Plans(), func(p world.Plan) world.Failure { return p.Kind })
			for _, plan := range plans {
				if p, err := c.Run(plan); err != nil {
					failures = append(failures, fmt.Sprintf("%s: %s: %v\n\n%s", plan.Kind, plan.At, err, p.Text()))
				}
			}
			t.Logf("%d plans over %d calls in %d rounds, %d failed", len(plans), len(c.Trace), len(c.Rounds), len(failures))
			report(t, failures)
		})
	}
}

func TestTheOrderOfEventsDoesNotChangeTheEnd(t *testing.T) {
	withoutRaces(t)
	for _, sequence := range played() {
		t.Run(sequence.Name, func(t *testing.T) {
			skip(t, sequence, unsteady, disordered)
			t.Parallel()
			c := campaignOf(t, sequence)
			var failures []string
			for _, order := range orders() {
				p := newPlay(sequence, order)
				if err := errors.Join(p.ToTheEnd(), c.AsWithout(p)); err != nil {
					failures = append(failures, fmt.Sprintf("DBC_SEED=%d: %v\n\n%s", order, err, p.Text()))
				}
			}
			report(t, failures)
		})
	}
}
