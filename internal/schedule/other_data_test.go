/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// of lets backups have data of these members: each a volume, and after a slash a database. "" is not recorded.
func of(members ...string) func(*state.Backup) {
	return func(b *state.Backup) {
		b.Members = int32(len(members))
		for ordinal, text := range members {
			volume, database, _ := strings.Cut(text, "/")
			b.Data[ordinal] = state.Data{Volume: types.UID(volume), Identity: database}
		}
	}
}

// since lets the backups of the last nights have this data, and until those before them.
func since(nights int, members ...string) func(int, *state.Backup) {
	return func(ago int, b *state.Backup) {
		if ago < nights {
			of(members...)(b)
		}
	}
}

func until(last int, members ...string) func(int, *state.Backup) {
	return func(ago int, b *state.Backup) {
		if ago >= last {
			of(members...)(b)
		}
	}
}

func failsVerification(b *state.Backup) {
	b.Verification = state.Verification{Phase: dbv1.VerificationFailed, Started: b.Completed}
}

func TestABackupOfOtherDataNeverReplacesTheLastOnesOfTheFormer(t *testing.T) {
	related, independent := dbv1.TopologyPrimaryReplica, dbv1.TopologyIndependent
	cases := map[string]struct {
		retention *dbv1.BackupRetention
		backups   []state.Backup
		topology  dbv1.EngineTopology
		want      string
	}{
		"by count, each volume for itself": {keep(2, 0), nights(7, until(3, "a"), since(3, "b")), independent, "nightly-2611150300 nightly-2611160300 nightly-2611190300"},
		"by age, the last one stays":       {keep(0, time.Minute), nights(5, until(2, "a"), since(2, "b")), independent, "nightly-2611170300 nightly-2611180300 nightly-2611200300"},
		"and the last that is not bad":     {keep(0, time.Minute), nights(5, until(2, "a"), since(2, "b"), only([]int{2}, failsVerification), only([]int{0}, provedAt(noon))), independent, "nightly-2611170300 nightly-2611200300"},
		"one of two members":               {keep(1, 0), nights(4, until(2, "a", "x"), since(2, "b", "x")), independent, "nightly-2611180300 nightly-2611200300"},
		"a member more":                    {keep(1, 0), nights(3, until(1, "a"), since(1, "a", "x")), independent, "nightly-2611190300 nightly-2611200300"},
		"a member less":                    {keep(1, 0), nights(3, until(1, "a", "x"), since(1, "a")), independent, "nightly-2611190300"},
		"two former volumes":               {keep(1, 0), nights(5, until(3, "a"), only([]int{2, 1}, of("b")), since(1, "c")), independent, "nightly-2611170300 nightly-2611190300"},
		"without a record, of this claim":  {keep(1, 0), nights(3, until(1, ""), since(1, "now")), independent, "nightly-2611190300 nightly-2611200300"},
		"members of one database":          {keep(1, 0), nights(3, until(1, "a"), since(1, "b")), related, "nightly-2611190300 nightly-2611200300"},

		"another database on the same volume":            {keep(2, 0), nights(7, until(3, "a/1"), since(3, "a/2")), independent, "nightly-2611150300 nightly-2611160300 nightly-2611190300"},
		"by age, its last one stays":                     {keep(0, time.Minute), nights(5, until(2, "a/1"), since(2, "a/2")), independent, "nightly-2611170300 nightly-2611180300 nightly-2611200300"},
		"another database of one of two members":         {keep(1, 0), nights(4, until(2, "a/1", "x/1"), since(2, "a/2", "x/1")), independent, "nightly-2611180300 nightly-2611200300"},
		"another one of all members":                     {keep(1, 0), nights(4, until(2, "/1"), since(2, "/2")), related, "nightly-2611180300 nightly-2611200300"},
		"the same one of all members":                    {keep(1, 0), nights(3, until(1, "/1"), since(1, "/1")), related, "nightly-2611190300 nightly-2611200300"},
		"the same one on another volume":                 {keep(1, 0), nights(4, until(2, "a/1"), since(2, "b/1")), independent, "nightly-2611180300 nightly-2611200300"},
		"unknown before, as without identities":          {keep(1, 0), nights(4, until(2, "a"), since(2, "a/1")), independent, "nightly-2611180300 nightly-2611190300 nightly-2611200300"},
		"unknown since, so it may be another one":        {keep(1, 0), nights(4, until(2, "a/1"), since(2, "a")), independent, "nightly-2611180300 nightly-2611200300"},
		"unknown since, of all members":                  {keep(1, 0), nights(4, until(2, "/1"), since(2, "")), related, "nightly-2611180300 nightly-2611200300"},
		"unknown for one night, which counts for itself": {keep(1, 0), nights(4, until(2, "a/1"), only([]int{1}, of("a")), since(1, "a/1")), independent, "nightly-2611180300 nightly-2611190300 nightly-2611200300"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(expiredOf(t, c.topology, c.retention, day(20, 0), c.backups), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	older := nights(5, until(2, ""), since(2, "now"))
	if got := strings.Join(expiredOf(t, independent, keep(1, 0), day(1, 12), older), " "); got != "nightly-2611170300 nightly-2611180300 nightly-2611200300" {
		t.Errorf("without a record, older than the claim: %s", got)
	}
}

// expiredOf returns the backups that expire. The claim of member 0 was created at a time.
func expiredOf(t *testing.T, topology dbv1.EngineTopology, retention *dbv1.BackupRetention, claim time.Time, backups []state.Backup) []string {
	t.Helper()
	cluster := backedUp()
	cluster.CreationTimestamp = metav1.NewTime(day(20, 0))
	cluster.Spec.Backup.Schedules[0].Retention = retention
	observed := seen(t, cluster, backups...)
	observed.Engine.Spec.Topology = topology
	observed.Volumes = []state.Volume{{Claim: "data-orders-0", UID: "now", Created: metav1.NewTime(claim)}}
	return expiredNames(For(cluster, observed))
}

func TestTheFormerBackupHasOtherDataOfAMember(t *testing.T) {
	for name, c := range map[string]struct {
		backups []state.Backup
		want    string
	}{
		"the same data":                {nights(3, until(0, "a/1")), ""},
		"another database":             {nights(5, until(2, "a/1"), since(2, "a/2")), "nightly-2611190300"},
		"another volume":               {nights(5, until(2, "a/1"), since(2, "b/1")), "nightly-2611190300"},
		"of the second member":         {nights(3, until(1, "a/1", "b/1"), since(1, "a/1", "b/2")), "nightly-2611200300"},
		"of a member that was removed": {nights(3, until(1, "a/1", "b/1"), since(1, "a/1")), ""},
		"of a new member":              {nights(3, until(1, "a/1"), since(1, "a/1", "b/1")), ""},
		"unknown before":               {nights(3, until(1, ""), since(1, "a/1")), ""},
		"unknown since":                {nights(3, until(1, "a/1"), since(1, "")), ""},
		"the last of two":              {nights(4, until(3, "a/1"), only([]int{2, 1}, of("a/2")), since(1, "a/3")), "nightly-2611200300"},
		"not one that is bad":          {nights(4, until(2, "a/1"), since(2, "a/2"), only([]int{2}, failsVerification)), "nightly-2611180300"},
		"nor an incomplete one":        {nights(3, until(1, "a/1"), since(1, "a/2"), only([]int{2, 1}, pendingBackup)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			observed := state.Observed{Backups: c.backups}
			former, found := situation.Former(observed, c.backups[len(c.backups)-1])
			if got := strings.TrimPrefix(former.Name, "orders-"); got != c.want || found != (c.want != "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if younger, found := situation.Former(observed, c.backups[0]); found {
				t.Errorf("the first one has %s before it", younger.Name)
			}
		})
	}
}

func TestARescueHasABackupOfEachDatabaseOfAClaim(t *testing.T) {
	related, independent := dbv1.TopologyPrimaryReplica, dbv1.TopologyIndependent
	for name, c := range map[string]struct {
		backups  []state.Backup
		topology dbv1.EngineTopology
		ordinal  int32
		want     string
	}{
		"the newest one":                {nights(3, until(0, "a/1")), independent, 0, "nightly-2611210300"},
		"not of another claim":          {nights(4, until(2, "a/1"), since(2, "b/2")), independent, 0, "nightly-2611190300"},
		"of each database":              {nights(5, until(3, "a/1"), only([]int{2}, of("a/2")), since(2, "a/3")), independent, 0, "nightly-2611210300 nightly-2611190300 nightly-2611180300"},
		"not bad ones":                  {nights(4, until(2, "a/1"), since(2, "a/2"), only([]int{0, 2}, failsVerification)), independent, 0, "nightly-2611200300 nightly-2611180300"},
		"without records":               {nights(3), independent, 0, "nightly-2611210300"},
		"of another member":             {nights(4, until(2, "x/1", "a/1"), since(2, "x/2", "a/1")), independent, 1, "nightly-2611210300"},
		"of one of many members":        {nights(2), independent, 12, "nightly-2611210300"},
		"of any member of one database": {nights(4, until(2, "/1"), since(2, "/2")), related, 2, "nightly-2611210300 nightly-2611190300"},
		"none":                          {nights(2, until(0, "b/1")), independent, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			observed := state.Observed{Backups: c.backups, Engine: &dbv1.DatabaseEngine{}}
			observed.Engine.Spec.Topology = c.topology
			var names []string
			for _, b := range situation.Rescue(observed, c.ordinal, "a") {
				names = append(names, strings.TrimPrefix(b.Name, "orders-"))
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
