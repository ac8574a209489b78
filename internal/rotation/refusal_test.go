/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation_test

import (
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestARotationWhoseJobHasNoPodIsReadAgain(t *testing.T) {
	cluster, observed := generated(t)
	since := plans.Ago(0)
	begun(job(jobs.Job{Active: true, StartTime: &since}))(cluster, &observed)
	if p := plans.Decide(cluster, observed); p.RequeueAfter != situation.ProgressRequeue {
		t.Errorf("no event reports a refusal by a quota, and it is read again in %s", p.RequeueAfter)
	}
}
