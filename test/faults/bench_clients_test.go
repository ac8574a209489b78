//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// The images of the poolers. The program is the same one.
var (
	poolerImage      = cmp.Or(os.Getenv("PGBOUNCER_IMG"), "localhost/pgbouncer:1.24")
	otherPoolerImage = cmp.Or(os.Getenv("CNPG_PGBOUNCER_IMG"), "localhost/cloudnative-pg-pgbouncer:1.24")
)

// clientDisturbances are what users do to a database, and the loss of a server.
var clientDisturbances = []disturbance{
	{name: "hand-over", do: handOver},
	{name: "rollout", do: restart},
	{name: "parameter-restart", do: changeParameter},
	{name: "failover", do: deleted(0)},
}

// clients are three clients through each of two hosts. They wait for a pooler that makes them wait, as most clients do. Their pace leaves the
// node some time: on a node without any, each gap would be that of its processors.
func clients(way, host, otherWay, otherHost string) lab.Clients {
	all := lab.Clients{Pace: 200 * time.Millisecond, Connect: 5 * time.Second, Patience: time.Minute, SSLMode: "require"}
	for number := range 3 {
		all.Ways = append(all.Ways,
			lab.Way{Name: fmt.Sprintf("%s-%d", way, number), Hosts: host}, lab.Way{Name: fmt.Sprintf("%s-%d", otherWay, number), Hosts: otherHost})
	}
	return all
}

func TestBenchClients(t *testing.T) {
	l := newLab(t)
	template := l.Template("ours", "", parameters("on"))
	template.Spec.TLS = &dbv1.ClusterTLS{SelfSigned: &dbv1.TLSSelfSigned{}}
	ours, err := l.Run(t.Context(), template)
	other, problem := l.NewCloudNativePG(t.Context(), "other", otherPoolerImage)
	if err := errors.Join(err, problem); err != nil {
		t.Fatal(err)
	}
	if err := ours.Pool(t.Context(), "pool", poolerImage); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, name: "clients", disturbances: clientDisturbances, writers: map[contestant]*lab.Writers{}, markdown: lab.ClientTable}
	b.writers[ours], err = ours.WriteBy(t.Context(), "writers-ours", clients("service", "ours", "companion", "pool"))
	b.must(ours, "start writers", err)
	b.writers[other], err = other.WriteBy(t.Context(), "writers-other", clients("rw", "other-rw", "pooler", "other-pooler"))
	b.must(other, "start writers", err)
	b.turns(ours, other)
}
