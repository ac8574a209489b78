/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/dbcluster/databasecluster-operator/test/world"
)

// keptSequences test the moment at which a configuration counts as in force.
var keptSequences = []world.Story{
	world.Tell("pair-configuration-by-hand-when-its-job-ends",
		createPair(world.TuneEngine), soon(jobEnds, parameter("2")), world.ByHand(), world.Uses(`{"work_mem":"2"}`),
	),
	world.Tell("pair-configuration-by-hand-while-its-job-ends",
		createPair(world.TuneEngine), soon(jobEnds-3, parameter("2")), world.ByHand(), world.Uses(`{"work_mem":"2"}`),
	),
}

// jobEnds is the number of rounds after a change of a parameter until the pod of the Job has ended, and the Job has not.
const jobEnds = 10

func init() { maps.Copy(dataMutants, keptMutants) }

// keptMutants are mistakes about the last write of the configuration.
var keptMutants = map[string]mutant{
	"a write after the end of its Job is not seen": {
		writtenAt(func(time.Time) time.Time { return world.Began }), "pair-configuration-by-hand-when-its-job-ends", "although another client has changed it",
	},
}

// writtenAt is an operator that reads another time of the last write of a ConfigMap.
func writtenAt(as func(time.Time) time.Time) interceptor.Funcs {
	return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		err := c.Get(ctx, key, object, options...)
		if config, is := object.(*corev1.ConfigMap); is && err == nil {
			config.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(metav1.NewTime(as(config.ManagedFields[0].Time.Time)))}}
		}
		return err
	}}
}

// A doubt ends after one more Job, whatever the clocks show. Each of the two configurations gets a Job, and in doubt another one.
func TestADoubtAboutAConfigurationEnds(t *testing.T) {
	for what, c := range map[string]struct {
		mistake interceptor.Funcs
		jobs    int
	}{
		"all clocks agree":                                 {interceptor.Funcs{}, 2},
		"the time of a write is unknown":                   {writtenAt(func(time.Time) time.Time { return time.Time{} }), 4},
		"the API servers differ by a minute":               {writtenAt(func(at time.Time) time.Time { return at.Add(time.Minute) }), 4},
		"the API servers differ by a minute, in reverse":   {writtenAt(func(at time.Time) time.Time { return at.Add(-time.Minute) }), 2},
		"the clock of the API server was changed by a day": {writtenAt(func(time.Time) time.Time { return world.Began.AddDate(0, 0, 1) }), 4},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newPlay(world.Tell(what, createPair(world.TuneEngine), parameter("2"), world.Uses(`{"work_mem":"2"}`)), 0)
			p.Plant = func(server client.WithWatch) client.WithWatch { return interceptor.NewClient(server, c.mistake) }
			if err := p.ToTheEnd(); err != nil {
				t.Errorf("%v:\n%s", err, p.Text())
			}
			jobs := 0
			for what, number := range p.Counts {
				if strings.HasPrefix(what, "create Job orders-configure-") {
					jobs += number
				}
			}
			if jobs != c.jobs {
				t.Errorf("%d Jobs, want %d:\n%s", jobs, c.jobs, p.Text())
			}
		})
	}
}

// At any moment, another client may change the configuration that an action puts in force.
func TestAConfigurationIsNotInForceIfAnotherClientWroteLast(t *testing.T) {
	for rounds := 1; rounds <= 15; rounds++ {
		t.Run(fmt.Sprintf("after %d rounds", rounds), func(t *testing.T) {
			t.Parallel()
			p := newPlay(world.Tell("by hand", createPair(world.TuneEngine), soon(rounds, parameter("2")), world.ByHand(), world.Uses(`{"work_mem":"2"}`)), 0)
			if err := p.ToTheEnd(); err != nil {
				t.Errorf("%v:\n%s", err, p.Text())
			}
		})
	}
}
