package netpol

import (
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func pod(namespace, name, address string, ports ...corev1.ContainerPort) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Ports: ports}}},
		Status:     corev1.PodStatus{PodIP: address},
	}
}

func selects(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func port(number intstr.IntOrString) networkingv1.NetworkPolicyPort {
	tcp := corev1.ProtocolTCP
	return networkingv1.NetworkPolicyPort{Protocol: &tcp, Port: &number}
}

func policy(app string, change func(*networkingv1.NetworkPolicySpec)) *networkingv1.NetworkPolicy {
	made := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: app}}
	made.Spec.PodSelector = *selects(app)
	change(&made.Spec)
	return made
}

// shop is a database with two clients, and one in another namespace.
func shop(policies ...*networkingv1.NetworkPolicy) World {
	ended := pod("shop", "web", "10.244.0.9")
	ended.Status.Phase = corev1.PodSucceeded
	host := pod("shop", "web", "10.244.0.1")
	host.Spec.HostNetwork = true
	return World{
		Pods: []*corev1.Pod{
			pod("shop", "database", "10.244.0.2", corev1.ContainerPort{Name: "db", ContainerPort: 5432, Protocol: corev1.ProtocolTCP}),
			pod("shop", "web", "10.244.0.3"), pod("reports", "web", "10.244.0.4"), ended, host, pod("shop", "web", ""),
		},
		Namespaces: []*corev1.Namespace{
			{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
			{ObjectMeta: metav1.ObjectMeta{Name: "reports", Labels: map[string]string{"app": "reports"}}},
		},
		Policies: policies,
	}
}

func ingress(rules ...networkingv1.NetworkPolicyIngressRule) func(*networkingv1.NetworkPolicySpec) {
	return func(s *networkingv1.NetworkPolicySpec) {
		s.PolicyTypes, s.Ingress = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}, rules
	}
}

func egress(rules ...networkingv1.NetworkPolicyEgressRule) func(*networkingv1.NetworkPolicySpec) {
	return func(s *networkingv1.NetworkPolicySpec) {
		s.PolicyTypes, s.Egress = []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}, rules
	}
}

func TestTheRulesAllowWhatThePoliciesAllow(t *testing.T) {
	byPort := []networkingv1.NetworkPolicyPort{port(intstr.FromString("db"))}
	ranged := port(intstr.FromInt32(80))
	ranged.EndPort = new(int32(90))
	for name, one := range map[string]struct {
		policies []*networkingv1.NetworkPolicy
		chain    string
		want     []string
	}{
		"no rule allows nothing": {
			[]*networkingv1.NetworkPolicy{policy("database", ingress())}, "in-10-244-0-2", []string{"drop"},
		},
		"an empty rule allows everything": {
			[]*networkingv1.NetworkPolicy{policy("database", ingress(networkingv1.NetworkPolicyIngressRule{}))},
			"in-10-244-0-2", []string{"return", "drop"},
		},
		"a selector of pods is about the namespace of the policy, and a named port about the pod": {
			[]*networkingv1.NetworkPolicy{policy("database", ingress(networkingv1.NetworkPolicyIngressRule{
				From: []networkingv1.NetworkPolicyPeer{{PodSelector: selects("web")}}, Ports: byPort,
			}))},
			"in-10-244-0-2", []string{"ip saddr { 10.244.0.3 } tcp dport 5432 return", "drop"},
		},
		"a selector of namespaces selects other namespaces": {
			[]*networkingv1.NetworkPolicy{policy("database", ingress(networkingv1.NetworkPolicyIngressRule{
				From: []networkingv1.NetworkPolicyPeer{{PodSelector: selects("web"), NamespaceSelector: selects("reports")}},
			}))},
			"in-10-244-0-2", []string{"ip saddr { 10.244.0.4 } return", "drop"},
		},
		"peers that select no pod allow nobody": {
			[]*networkingv1.NetworkPolicy{policy("database", ingress(networkingv1.NetworkPolicyIngressRule{
				From: []networkingv1.NetworkPolicyPeer{{PodSelector: selects("nobody")}},
			}))},
			"in-10-244-0-2", []string{"drop"},
		},
		"a range of addresses has exceptions, and one of ports an end": {
			[]*networkingv1.NetworkPolicy{policy("database", ingress(networkingv1.NetworkPolicyIngressRule{
				From: []networkingv1.NetworkPolicyPeer{
					{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8", Except: []string{"10.1.0.0/16"}}},
					{IPBlock: &networkingv1.IPBlock{CIDR: "2001:db8::/32"}},
				},
				Ports: []networkingv1.NetworkPolicyPort{ranged},
			}))},
			"in-10-244-0-2", []string{"ip saddr 10.0.0.0/8 ip saddr != { 10.1.0.0/16 } tcp dport 80-90 return", "drop"},
		},
		"policies add up": {
			[]*networkingv1.NetworkPolicy{
				policy("database", ingress()),
				{
					ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more"},
					Spec: networkingv1.NetworkPolicySpec{
						PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
						Ingress:     []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}}},
					},
				},
			},
			"in-10-244-0-2", []string{"ip saddr { 10.244.0.2, 10.244.0.3 } return", "drop"},
		},
		"a pod may send to a named port": {
			[]*networkingv1.NetworkPolicy{policy("web", egress(networkingv1.NetworkPolicyEgressRule{Ports: byPort}))},
			"out-10-244-0-3", []string{"ip daddr 10.244.0.2 tcp dport 5432 return", "drop"},
		},
		"a pod that may send nothing": {
			[]*networkingv1.NetworkPolicy{policy("web", egress())}, "out-10-244-0-3", []string{"drop"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			script := Rules("test", shop(one.policies...))
			_, after, found := strings.Cut(script, "  chain "+one.chain+" {\n")
			got, _, _ := strings.Cut(after, "  }\n")
			if want := "    " + strings.Join(one.want, "\n    ") + "\n"; !found || got != want {
				t.Errorf("got %q, want %q in\n%s", got, want, script)
			}
			understood(t, script)
		})
	}
}

func TestOnlySelectedPodsPassAChain(t *testing.T) {
	script := Rules("test", shop(policy("web", egress()), policy("database", ingress())))
	for _, want := range []string{
		"chain forward {\n    type filter hook forward priority -10;\n    ct state established,related accept\n" +
			"    ip daddr 10.244.0.2 jump in-10-244-0-2\n    ip saddr 10.244.0.3 jump out-10-244-0-3\n  }",
		"chain input {\n    type filter hook input priority -10;\n    ct state established,related accept\n    ip saddr 10.244.0.3 jump out-10-244-0-3\n  }",
	} {
		if !strings.Contains(script, want) {
			t.Errorf("%q is not in\n%s", want, script)
		}
	}
	if strings.Contains(script, "10.244.0.4") || strings.Contains(script, "10.244.0.9") || strings.Contains(script, "10.244.0.1 ") {
		t.Errorf("a pod that no policy selects, an ended one or one of the host's network has rules:\n%s", script)
	}
}

// understood checks a script with nft, where it is installed and allowed.
func understood(t *testing.T, script string) {
	t.Helper()
	if exec.Command("nft", "list", "tables").Run() != nil {
		t.Log("nft is missing, or the user may not use it: the script is not checked")
		return
	}
	command := exec.Command("nft", "--check", "--file", "-")
	command.Stdin = strings.NewReader(script)
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("nft: %v: %s\n%s", err, output, script)
	}
}
