/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
)

const dnsPort = 53

// Seclusion lets the pods with some labels reach nothing but DNS and some TCP ports, and nobody reach them.
type Seclusion struct {
	Namespace, Name string
	Labels          map[string]string
	Owner           *metav1ac.OwnerReferenceApplyConfiguration
	// Pods are labels that select the pods.
	Pods  map[string]string
	Ports []int32
}

// NetworkPolicy makes a seclusion. It holds where the network enforces such policies.
func NetworkPolicy(s Seclusion) Child {
	out := networkingv1ac.NetworkPolicyEgressRule().WithPorts(
		port(corev1.ProtocolUDP, dnsPort), port(corev1.ProtocolTCP, dnsPort))
	for _, number := range s.Ports {
		out.WithPorts(port(corev1.ProtocolTCP, number))
	}
	return newChild(networkingv1ac.NetworkPolicy(s.Name, s.Namespace).
		WithLabels(s.Labels).
		WithOwnerReferences(s.Owner).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(s.Pods)).
			WithPolicyTypes(networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress).
			WithEgress(out)))
}

func port(protocol corev1.Protocol, number int32) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	return networkingv1ac.NetworkPolicyPort().WithProtocol(protocol).WithPort(intstr.FromInt32(number))
}
