/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
)

func TestTheEndpointsAreThoseOfTheServicesAndOfSeveralMembers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*PassResult)
		want   string
	}{
		"one member":     {func(p *PassResult) { p.Cluster.Spec.Replicas = 1 }, "orders orders.shop.svc:5432 Primary"},
		"no Service yet": {func(p *PassResult) { p.Service = nil }, ""},
		"two members": {
			func(*PassResult) {},
			"orders orders.shop.svc:5432 Any, orders-0 orders-0.orders-headless.shop.svc:5432 Member, orders-1 orders-1.orders-headless.shop.svc:5432 Member",
		},
		"a load balancer": {
			func(p *PassResult) {
				p.Cluster.Spec.Replicas = 1
				p.Service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}, {Hostname: "lb.example"}}
			},
			"orders orders.shop.svc:5432 Primary, orders-external-0 192.0.2.1:5432 External, orders-external-1 lb.example:5432 External",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := idle()
			p.Cluster.Namespace, p.Cluster.Spec.Container.Port, p.Service = "shop", 5432, &corev1.Service{}
			c.change(&p)
			var all []string
			for _, e := range p.endpoints() {
				all = append(all, fmt.Sprintf("%s %s:%d %s", e.Name, e.Host, e.Port, e.Role))
			}
			if got := strings.Join(all, ", "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTheAPIServerAcceptsTheEndpointsOfAnyCluster(t *testing.T) {
	for _, cluster := range []string{"external", "orders-external", strings.Repeat("a", 40)} {
		p := idle()
		p.Cluster.Name, p.Cluster.Spec.Replicas, p.Service = cluster, engine.MaxReplicas, &corev1.Service{}
		p.Service.Status.LoadBalancer.Ingress = make([]corev1.LoadBalancerIngress, 40)
		names := map[string]bool{}
		for _, e := range p.endpoints() {
			if names[e.Name] || len(e.Name) > 63 {
				t.Errorf("%s: the name %s exists twice or is too long", cluster, e.Name)
			}
			names[e.Name] = true
		}
		if len(names) != dbv1.MaxEndpoints {
			t.Errorf("%s has %d endpoints, want as many as the CRD allows", cluster, len(names))
		}
	}
}
