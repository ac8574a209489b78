/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"cmp"
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// endpoints are the addresses of the Services, and of each member if there are several. The API server
// refuses a status with a repeated name or too many endpoints, so the names of external addresses differ from those of members.
func (p PassResult) endpoints() []dbv1.ClusterEndpoint {
	if p.Service == nil || !p.EngineKnown() {
		return nil
	}
	name, port := p.Cluster.Name, p.Cluster.Spec.Container.Port
	all := []dbv1.ClusterEndpoint{{Name: name, Host: p.host(naming.Service(name)), Port: port, Role: dbv1.EndpointPrimary}}
	if p.HasRoles() {
		replicas := naming.ReplicasService(name)
		all = append(all, dbv1.ClusterEndpoint{Name: replicas, Host: p.host(replicas), Port: port, Role: dbv1.EndpointReplica})
	}
	if members := p.Cluster.Spec.Replicas; members > 1 {
		if !p.HasRoles() {
			all[0].Role = dbv1.EndpointAny
		}
		for ordinal := range members {
			all = append(all, dbv1.ClusterEndpoint{
				Name: naming.Member(name, ordinal), Host: p.host(naming.MemberHost(name, ordinal)), Port: port, Role: dbv1.EndpointMember,
			})
		}
	}
	for i, ingress := range p.Service.Status.LoadBalancer.Ingress {
		all = append(all, dbv1.ClusterEndpoint{
			Name: fmt.Sprintf("%s-external-%d", name, i), Host: cmp.Or(ingress.Hostname, ingress.IP), Port: port, Role: dbv1.EndpointExternal,
		})
	}
	return all[:min(len(all), dbv1.MaxEndpoints)]
}

func (p PassResult) host(name string) string { return naming.ServiceHost(name, p.Cluster.Namespace) }
