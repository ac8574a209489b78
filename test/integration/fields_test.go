//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestTheAPIServerRefusesFieldsOfIdentityServiceAndSchedulingWithASentence(t *testing.T) {
	parallel(t)
	service := func(section fields) fields { return fields{"service": section} }
	scheduling := func(section fields) fields { return fields{"scheduling": section} }
	eachIsRefused(t, "databaseclusters", refusals{
		"a ServiceAccount by name and by annotations": {
			fields{"serviceAccount": fields{"name": "x", "annotations": fields{"a": "b"}}}, "spec.serviceAccount must not have both name and annotations",
		},
		"a ServiceAccount of another namespace": {fields{"serviceAccount": fields{"name": "other/x"}}, "spec.serviceAccount.name must be the name of a ServiceAccount of this namespace"},
		"an annotation of the operator":         {fields{"serviceAccount": fields{"annotations": fields{"database.dbcluster.io/x": "b"}}}, "spec.serviceAccount.annotations must not set keys"},
		"a class without a load balancer":       {service(fields{"loadBalancerClass": "a/b"}), "spec.service.loadBalancerClass is only for type LoadBalancer"},
		"a class that is no name":               {service(fields{"type": "LoadBalancer", "loadBalancerClass": "a b"}), "spec.service.loadBalancerClass must be a name with an optional prefix"},
		"ranges without a load balancer":        {service(fields{"type": "NodePort", "loadBalancerSourceRanges": list("10.0.0.0/8")}), "spec.service.loadBalancerSourceRanges are only for type LoadBalancer"},
		"a range that is an address":            {service(fields{"type": "LoadBalancer", "loadBalancerSourceRanges": list("10.0.0.1")}), "spec.service.loadBalancerSourceRanges must be address ranges in CIDR notation"},
		"a policy without external traffic":     {service(fields{"externalTrafficPolicy": "Local"}), "spec.service.externalTrafficPolicy is only for types NodePort and LoadBalancer"},
		"a label of the operator":               {service(fields{"labels": fields{"app.kubernetes.io/name": "x"}}), "spec.service.labels must not set keys"},
		"two rules for spreading": {
			scheduling(fields{"spread": fields{"nodes": "Required"}, "topologySpreadConstraints": list(fields{"maxSkew": int64(1), "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"})}),
			"spec.scheduling.spread cannot be set together with spec.scheduling.topologySpreadConstraints",
		},
		"an unknown rule for spreading":     {scheduling(fields{"spread": fields{"nodes": "Always"}}), `spec.scheduling.spread.nodes: Unsupported value: "Always"`},
		"attributes of an ephemeral volume": {storage(fields{"size": "1Gi", "ephemeral": true, "volumeAttributesClassName": "gold"}), "spec.storage.volumeAttributesClassName cannot be set together with spec.storage.ephemeral"},
		"attributes that are no name":       {storage(fields{"size": "1Gi", "volumeAttributesClassName": "GOLD"}), "spec.storage.volumeAttributesClassName must be the name of a VolumeAttributesClass"},
	})
}

func TestTheAPIServerRefusesVolumesWithASentence(t *testing.T) {
	parallel(t)
	projected := func(sources ...any) fields {
		return pod("volumes", list(fields{"name": "x", "projected": fields{"sources": sources}}))
	}
	token := fields{"audience": "vault", "path": "token"}
	eachIsRefused(t, "databaseclusters", refusals{
		"a token for the API server": {projected(fields{"serviceAccountToken": fields{"path": "token"}}), "serviceAccountToken.audience: Required value"},
		"a token for no audience":    {projected(fields{"serviceAccountToken": with(token, fields{"audience": ""})}), "audience in body should be at least 1 chars long"},
		"a token for minutes":        {projected(fields{"serviceAccountToken": with(token, fields{"expirationSeconds": int64(60)})}), "expirationSeconds in body should be greater than or equal to 600"},
		"no source":                  {projected(), "projected.sources: Required value"},
		"an empty source":            {projected(fields{}), "spec.pod.volumes[].projected.sources[] must have exactly one of"},
		"two sources in one":         {projected(fields{"serviceAccountToken": token, "secret": fields{"name": "x"}}), "spec.pod.volumes[].projected.sources[] must have exactly one of"},
		"a driver without a name":    {pod("volumes", list(fields{"name": "x", "csi": fields{}})), "csi.driver: Required value"},
		"two kinds of volume":        {pod("volumes", list(fields{"name": "x", "csi": fields{"driver": "d"}, "emptyDir": fields{}})), "spec.pod.volumes[] must have exactly one of"},
	})
}

func TestTheClassOfALoadBalancerCannotBeChanged(t *testing.T) {
	parallel(t)
	balanced := func(class any) fields {
		section := fields{"type": "LoadBalancer"}
		if class != nil {
			section["loadBalancerClass"] = class
		}
		return section
	}
	const refusal = "spec.service.loadBalancerClass cannot be changed while spec.service.type is LoadBalancer"
	cases := map[string]struct {
		before, after fields
		wants         string
	}{
		"another class":             {balanced("a/b"), balanced("a/c"), refusal},
		"no class any more":         {balanced("a/b"), balanced(nil), refusal},
		"a class for the first":     {balanced(nil), balanced("a/b"), refusal},
		"the same class":            {balanced("a/b"), with(balanced("a/b"), fields{"externalTrafficPolicy": "Local"}), ""},
		"another type":              {balanced("a/b"), fields{"type": "ClusterIP"}, ""},
		"a class with another type": {fields{"type": "ClusterIP"}, balanced("a/b"), ""},
	}
	ns := namespace(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			object := manifest(ns, "", fields{"service": c.before})
			object.SetGenerateName("balanced-")
			create(t, object)
			// A patch has no version: the operator writes to the cluster meanwhile.
			patch, err := json.Marshal(list(fields{"op": "replace", "path": "/spec/service", "value": c.after}))
			if err != nil {
				t.Fatal(err)
			}
			mustAnswer(t, admin.Patch(t.Context(), object, client.RawPatch(types.JSONPatchType, patch), client.DryRunAll), c.wants)
		})
	}
}

func TestTheFieldsOfTheServiceFollowTheSpecAndAreRemovedWithIt(t *testing.T) {
	parallel(t)
	cluster := started(t, nil, healthy)
	is := service(cluster)
	expect := func(what string, edit func(*dbv1.ClusterService), fits func(corev1.ServiceSpec) bool) {
		t.Helper()
		change(t, cluster, func(c *dbv1.DatabaseCluster) { edit(&c.Spec.Service) })
		await(t, is, what, func() bool { return fits(is.Spec) })
		awaitReady(t, cluster)
	}
	class := func(s corev1.ServiceSpec) string {
		if s.LoadBalancerClass == nil {
			return ""
		}
		return *s.LoadBalancerClass
	}
	balanced := dbv1.ClusterService{
		Type: corev1.ServiceTypeLoadBalancer, LoadBalancerClass: "example.test/lb", LoadBalancerSourceRanges: []string{"10.0.0.0/8"},
		ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, Labels: map[string]string{"team": "shop"},
	}
	whole := func(s corev1.ServiceSpec) bool {
		return s.Type == balanced.Type && class(s) == balanced.LoadBalancerClass && slices.Equal(s.LoadBalancerSourceRanges, balanced.LoadBalancerSourceRanges) &&
			s.ExternalTrafficPolicy == balanced.ExternalTrafficPolicy && is.Labels["team"] == "shop"
	}
	expect("a load balancer with its fields", func(s *dbv1.ClusterService) { *s = balanced }, whole)
	expect("fields that were removed to be removed", func(s *dbv1.ClusterService) {
		s.LoadBalancerSourceRanges, s.ExternalTrafficPolicy, s.Labels = nil, "", nil
	}, func(s corev1.ServiceSpec) bool {
		return len(s.LoadBalancerSourceRanges) == 0 && s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyCluster && is.Labels["team"] == ""
	})
	expect("them back", func(s *dbv1.ClusterService) { *s = balanced }, whole)
	expect("no load balancer", func(s *dbv1.ClusterService) { *s = dbv1.ClusterService{Type: corev1.ServiceTypeClusterIP} }, func(s corev1.ServiceSpec) bool {
		return s.Type == corev1.ServiceTypeClusterIP && class(s) == "" && len(s.LoadBalancerSourceRanges) == 0 && s.ExternalTrafficPolicy == ""
	})
	expect("another class of a new load balancer", func(s *dbv1.ClusterService) {
		*s = dbv1.ClusterService{Type: corev1.ServiceTypeLoadBalancer, LoadBalancerClass: "example.test/other"}
	}, func(s corev1.ServiceSpec) bool { return class(s) == "example.test/other" })
}

func TestMembersGetProjectedAndCSIVolumesAndTheirReferencesAreObserved(t *testing.T) {
	parallel(t)
	cluster := created(t, func(c *dbv1.DatabaseCluster) {
		c.Spec.Pod.Volumes = []dbv1.ClusterVolume{
			{Name: "identity", Projected: &dbv1.ClusterProjectedVolume{Sources: []dbv1.ClusterVolumeProjection{
				{ServiceAccountToken: &dbv1.ClusterTokenProjection{Audience: "vault", Path: "token"}},
				{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "vault"}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "name", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}},
			}}},
			{Name: "store", CSI: &dbv1.ClusterCSIVolume{
				Driver: "secrets-store.csi.k8s.io", ReadOnly: new(true), VolumeAttributes: map[string]string{"secretProviderClass": "orders"},
				NodePublishSecretRef: &corev1.LocalObjectReference{Name: "store"},
			}},
		}
		c.Spec.Container.VolumeMounts = []dbv1.ClusterVolumeMount{{Name: "identity", MountPath: "/identity", ReadOnly: true}, {Name: "store", MountPath: "/store", ReadOnly: true}}
		atOnce(c)
	})
	kubelet(t, cluster.Namespace, healthy)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonReferenceMissing,
		"Secret vault, which spec.pod.volumes[identity].projected names, does not exist", "Secret store, which spec.pod.volumes[store].csi.nodePublishSecretRef names, does not exist")
	for _, name := range []string{"vault", "store"} {
		secret := keys(cluster.Namespace, name)
		create(t, secret)
	}
	awaitReady(t, cluster)
	before := uids(t, cluster)
	for _, pod := range podsOf(t, cluster) {
		i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "identity" })
		j := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "store" })
		if i < 0 || j < 0 || pod.Spec.Volumes[i].Projected.Sources[0].ServiceAccountToken.Audience != "vault" || pod.Spec.Volumes[j].CSI.NodePublishSecretRef.Name != "store" {
			t.Fatalf("%+v", pod.Spec.Volumes)
		}
	}
	secret := keys(cluster.Namespace, "vault")
	change(t, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"AWS_ACCESS_KEY_ID": "other"} })
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Annotations = map[string]string{dbv1.AnnotationRefresh: "now"} })
	eventually(t, "each member to restart with the new Secret", func() error {
		now := uids(t, cluster)
		for name, uid := range before {
			if now[name] == uid || now[name] == "" {
				return fmt.Errorf("%s has not restarted", name)
			}
		}
		return nil
	})
	awaitReady(t, cluster)
}
