// Package netpol enforces NetworkPolicies on the local node with packet rules of nftables. It knows pods with IPv4 and
// the API networking.k8s.io/v1, and no more.
package netpol

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// World has all objects on which the rules depend.
type World struct {
	Pods       []*corev1.Pod
	Namespaces []*corev1.Namespace
	Policies   []*networkingv1.NetworkPolicy
}

// Rules returns a script for nft that replaces a table. Packets of the node itself, such as probes of the kubelet, pass
// no chain of it. An open connection stays open, whatever the policies become.
func Rules(table string, w World) string {
	var forward, input, chains strings.Builder
	for _, pod := range w.addressed() {
		in, out := w.policiesOf(pod, networkingv1.PolicyTypeIngress), w.policiesOf(pod, networkingv1.PolicyTypeEgress)
		name := strings.ReplaceAll(pod.Status.PodIP, ".", "-")
		if len(out) > 0 {
			jump := fmt.Sprintf("    ip saddr %s jump out-%s\n", pod.Status.PodIP, name)
			forward.WriteString(jump)
			input.WriteString(jump)
			chains.WriteString(chain("out-"+name, w.egress(out)))
		}
		if len(in) > 0 {
			fmt.Fprintf(&forward, "    ip daddr %s jump in-%s\n", pod.Status.PodIP, name)
			chains.WriteString(chain("in-"+name, w.ingress(pod, in)))
		}
	}
	const base = "  chain %[1]s {\n    type filter hook %[1]s priority -10;\n    ct state established,related accept\n%[2]s  }\n"
	return fmt.Sprintf("add table ip %[1]s\ndelete table ip %[1]s\ntable ip %[1]s {\n%[2]s", table, chains.String()) +
		fmt.Sprintf(base, "forward", forward.String()) + fmt.Sprintf(base, "input", input.String()) + "}\n"
}

func chain(name string, allowed []string) string {
	var all strings.Builder
	fmt.Fprintf(&all, "  chain %s {\n", name)
	for _, one := range allowed {
		fmt.Fprintf(&all, "    %s\n", strings.TrimSpace(one+" return"))
	}
	all.WriteString("    drop\n  }\n")
	return all.String()
}

// addressed are the pods with an address of their own, in a fixed order.
func (w World) addressed() []*corev1.Pod {
	pods := slices.DeleteFunc(slices.Clone(w.Pods), func(p *corev1.Pod) bool {
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		address, err := netip.ParseAddr(p.Status.PodIP)
		return ended || p.Spec.HostNetwork || err != nil || !address.Is4()
	})
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return netip.MustParseAddr(a.Status.PodIP).Compare(netip.MustParseAddr(b.Status.PodIP))
	})
	return pods
}

func (w World) policiesOf(pod *corev1.Pod, kind networkingv1.PolicyType) []*networkingv1.NetworkPolicy {
	var all []*networkingv1.NetworkPolicy
	for _, policy := range w.Policies {
		selected := policy.Namespace == pod.Namespace && matches(&policy.Spec.PodSelector, pod.Labels)
		if selected && slices.Contains(policy.Spec.PolicyTypes, kind) {
			all = append(all, policy)
		}
	}
	slices.SortFunc(all, func(a, b *networkingv1.NetworkPolicy) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// ingress are the packets that may reach a pod.
func (w World) ingress(pod *corev1.Pod, policies []*networkingv1.NetworkPolicy) []string {
	var all []string
	for _, policy := range policies {
		for _, rule := range policy.Spec.Ingress {
			from := w.addresses("saddr", policy.Namespace, rule.From)
			all = append(all, product(from, ports(rule.Ports, pod))...)
		}
	}
	return all
}

// egress are the packets that a pod may send. The number of a named port may differ from pod to pod.
func (w World) egress(policies []*networkingv1.NetworkPolicy) []string {
	var all []string
	for _, policy := range policies {
		for _, rule := range policy.Spec.Egress {
			to := w.addresses("daddr", policy.Namespace, rule.To)
			numbered := slices.DeleteFunc(slices.Clone(rule.Ports), named)
			if len(rule.Ports) == 0 || len(numbered) > 0 {
				all = append(all, product(to, ports(numbered, nil))...)
			}
			for _, pod := range w.addressed() {
				byName := slices.DeleteFunc(slices.Clone(rule.Ports), func(p networkingv1.NetworkPolicyPort) bool { return !named(p) })
				if len(byName) > 0 && (len(rule.To) == 0 || w.isPeer(policy.Namespace, rule.To, pod)) {
					all = append(all, product([]string{"ip daddr " + pod.Status.PodIP}, ports(byName, pod))...)
				}
			}
		}
	}
	return all
}

func product(addresses, ports []string) []string {
	var all []string
	for _, address := range addresses {
		for _, port := range ports {
			all = append(all, strings.TrimSpace(address+" "+port))
		}
	}
	return all
}

// addresses are matches of peers. Without a peer, all addresses match; peers that select no pod match none.
func (w World) addresses(side, namespace string, peers []networkingv1.NetworkPolicyPeer) []string {
	if len(peers) == 0 {
		return []string{""}
	}
	var all, pods []string
	for _, peer := range peers {
		if peer.IPBlock != nil {
			all = append(all, block(side, peer.IPBlock)...)
		}
	}
	for _, pod := range w.addressed() {
		if w.isPeer(namespace, peers, pod) {
			pods = append(pods, pod.Status.PodIP)
		}
	}
	if len(pods) > 0 {
		all = append(all, "ip "+side+" "+set(pods))
	}
	return all
}

func block(side string, b *networkingv1.IPBlock) []string {
	prefix, err := netip.ParsePrefix(b.CIDR)
	if err != nil || !prefix.Addr().Is4() {
		return nil
	}
	match := "ip " + side + " " + b.CIDR
	if len(b.Except) > 0 {
		match += " ip " + side + " != " + set(b.Except)
	}
	return []string{match}
}

// isPeer reports whether peers of a policy in a namespace select a pod by labels.
func (w World) isPeer(namespace string, peers []networkingv1.NetworkPolicyPeer, pod *corev1.Pod) bool {
	return slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		switch {
		case peer.IPBlock != nil:
			return false
		case peer.NamespaceSelector == nil && pod.Namespace != namespace:
			return false
		case peer.NamespaceSelector != nil && !w.namespaceMatches(peer.NamespaceSelector, pod.Namespace):
			return false
		}
		return peer.PodSelector == nil || matches(peer.PodSelector, pod.Labels)
	})
}

func (w World) namespaceMatches(selector *metav1.LabelSelector, name string) bool {
	return slices.ContainsFunc(w.Namespaces, func(n *corev1.Namespace) bool { return n.Name == name && matches(selector, n.Labels) })
}

// matches reports whether a selector matches. The API server refuses invalid selectors.
func matches(selector *metav1.LabelSelector, set map[string]string) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(labels.Set(set))
}

// ports are matches of the ports of a rule, as a pod names them. Without a port, all ports match.
func ports(all []networkingv1.NetworkPolicyPort, pod *corev1.Pod) []string {
	if len(all) == 0 {
		return []string{""}
	}
	var matches []string
	for _, port := range all {
		protocol := "tcp"
		if port.Protocol != nil {
			protocol = strings.ToLower(string(*port.Protocol))
		}
		switch {
		case port.Port == nil:
			matches = append(matches, "meta l4proto "+protocol)
		case !named(port):
			match := protocol + " dport " + strconv.Itoa(int(port.Port.IntVal))
			if port.EndPort != nil {
				match += "-" + strconv.Itoa(int(*port.EndPort))
			}
			matches = append(matches, match)
		default:
			for _, number := range numbers(pod, port.Port.StrVal, protocol) {
				matches = append(matches, protocol+" dport "+strconv.Itoa(int(number)))
			}
		}
	}
	return matches
}

func named(port networkingv1.NetworkPolicyPort) bool {
	return port.Port != nil && port.Port.StrVal != ""
}

// numbers are the ports of a pod that have a name.
func numbers(pod *corev1.Pod, name, protocol string) []int32 {
	var all []int32
	for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, port := range container.Ports {
			if port.Name == name && strings.EqualFold(string(port.Protocol), protocol) {
				all = append(all, port.ContainerPort)
			}
		}
	}
	return all
}

func set(elements []string) string { return "{ " + strings.Join(elements, ", ") + " }" }
