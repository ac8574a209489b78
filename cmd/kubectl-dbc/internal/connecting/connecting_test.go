/*
SPDX-License-Identifier: Apache-2.0
*/

package connecting_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/connecting"
)

func TestAClientGetsTheSecretWithTheForwardedPort(t *testing.T) {
	c := connecting.Connection{LocalPort: 40001, CAFile: "/tmp/ca.crt", Data: map[string][]byte{
		"host": []byte("orders.shop.svc"), "port": []byte("5432"), "username": []byte("app"), "password": []byte("hunter22"), "database": []byte("app"),
		"uri": []byte("ledger://app:hunter22@orders.shop.svc:5432/app?verify=full"), "jdbc-uri": []byte("jdbc:ledger://orders.shop.svc:5432/app"), "ca.crt": []byte("CA"),
	}}
	want := []string{
		"DBC_CA_FILE=/tmp/ca.crt", "DBC_DATABASE=app", "DBC_HOST=localhost", "DBC_JDBC_URI=jdbc:ledger://localhost:40001/app", "DBC_PASSWORD=hunter22",
		"DBC_PORT=40001", "DBC_URI=ledger://app:hunter22@localhost:40001/app?verify=full", "DBC_USERNAME=app",
	}
	if got := c.Environment(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	summary := c.Summary("shop", "orders-connection")
	if strings.Contains(summary, "hunter22") || !strings.Contains(summary, "port 40001, user app, database app") || !strings.Contains(summary, "CA in /tmp/ca.crt") {
		t.Errorf("got %s", summary)
	}
}

// An engine of your own can have any form of an address in its connection.
func TestTheAddressOfTheServiceIsReplacedInEachForm(t *testing.T) {
	data := map[string][]byte{"host": []byte("orders.shop.svc"), "port": []byte("5432"), "password": []byte("orders.shop.svc:5432")}
	for given, want := range map[string]string{
		"host=orders.shop.svc port=5432 user=app":           "host=localhost port=40001 user=app",
		`{"host":"orders.shop.svc","port":5432}`:            `{"host":"localhost","port":40001}`,
		"https://orders.shop.svc:5432":                      "https://localhost:40001",
		"a://orders.shop.svc:5432,orders.shop.svc:5432/app": "a://localhost:40001,localhost:40001/app",
		"ledger://orders.shop.svc/app?port=5432":            "ledger://localhost/app?port=40001",
		"other-orders.shop.svc:5432":                        "other-orders.shop.svc:5432",
		"orders.shop.svc.example.com:5432":                  "orders.shop.svc.example.com:5432",
		"support=5432":                                      "support=5432",
	} {
		data["any"] = []byte(given)
		environment := connecting.Connection{LocalPort: 40001, Data: data}.Environment()
		if !slices.Contains(environment, "DBC_ANY="+want) {
			t.Errorf("%s: got %q", given, environment)
		}
		if !slices.Contains(environment, "DBC_PASSWORD=orders.shop.svc:5432") {
			t.Errorf("the password has changed: %q", environment)
		}
	}
}

func TestAServerThatNoClientCanVerifyIsRefused(t *testing.T) {
	cluster, secret := &dbv1.DatabaseCluster{}, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "orders-connection"}}
	if err := connecting.Check(cluster, secret, false); err != nil {
		t.Errorf("without TLS: %v", err)
	}
	cluster.Spec.TLS = &dbv1.ClusterTLS{}
	for _, data := range []map[string][]byte{nil, {"ca.crt": {}}} {
		secret.Data = data
		err := connecting.Check(cluster, secret, false)
		if err == nil || !strings.Contains(err.Error(), "Secret orders-connection has no ca.crt") || !strings.Contains(err.Error(), "--system-roots") {
			t.Errorf("without a CA: %v", err)
		}
	}
	if err := connecting.Check(cluster, secret, true); err != nil {
		t.Errorf("with the roots of the system: %v", err)
	}
	secret.Data = map[string][]byte{"ca.crt": []byte("CA")}
	if err := connecting.Check(cluster, secret, false); err != nil {
		t.Errorf("with a CA: %v", err)
	}
}

func TestThePrimaryOrAReadyMemberIsChosen(t *testing.T) {
	members := []dbv1.MemberStatus{{Pod: "orders-0"}, {Pod: "orders-1", Ordinal: 1, Ready: true}, {Pod: "orders-2", Ordinal: 2, Ready: true}}
	for name, c := range map[string]struct{ primary, asked, want string }{
		"the primary":         {"orders-2", "", "orders-2"},
		"a ready member":      {"", "", "orders-1"},
		"the named one":       {"orders-2", "orders-0", "orders-0"},
		"by its ordinal":      {"", "0", "orders-0"},
		"a primary not ready": {"orders-0", "", "no member of DatabaseCluster orders accepts connections"},
		"one of another":      {"", "billing-0", "has no member billing-0"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Name: "orders"}, Status: dbv1.DatabaseClusterStatus{Members: members, Primary: c.primary}}
			got, err := connecting.Member(cluster, c.asked)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestThePortIsThatOfTheDatabase(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orders-0"}}
	if _, err := connecting.Port(pod); err == nil || !strings.Contains(err.Error(), "pod orders-0 has no port db") {
		t.Errorf("got %v", err)
	}
	pod.Spec.Containers = []corev1.Container{
		{Name: "sidecar", Ports: []corev1.ContainerPort{{Name: "db", ContainerPort: 1}}},
		{Name: "database", Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 2}, {Name: "db", ContainerPort: 5432}}},
	}
	if got, err := connecting.Port(pod); err != nil || got != 5432 {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestAClusterWithoutAConnectionHasASentence(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Name: "orders"}}
	if _, err := connecting.SecretOf(cluster); err == nil || !strings.Contains(err.Error(), "status.binding") {
		t.Errorf("got %v", err)
	}
	cluster.Status.Binding = &dbv1.ClusterBinding{Name: "orders-connection"}
	if name, err := connecting.SecretOf(cluster); err != nil || name != "orders-connection" {
		t.Errorf("got %s, %v", name, err)
	}
}
