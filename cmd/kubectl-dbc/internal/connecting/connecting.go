/*
SPDX-License-Identifier: Apache-2.0
*/

// Package connecting describes a client and its connection: through a forwarded port, or from a Job.
package connecting

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// authority is the key of the CA in the connection Secret.
const authority = "ca.crt"

// Connection is the content of a connection Secret, through a port of this machine.
type Connection struct {
	Data map[string][]byte
	// LocalPort is the forwarded port.
	LocalPort uint16
	// CAFile is the file with the CA; empty without TLS.
	CAFile string
}

// CA is the certificate by which clients verify the server; nil if there is none.
func CA(data map[string][]byte) []byte {
	if len(data[authority]) == 0 {
		return nil
	}
	return data[authority]
}

// Check refuses a connection on which no client can verify the server. With the roots of the system, it can if a public CA has issued the
// certificate.
func Check(cluster *dbv1.DatabaseCluster, secret *corev1.Secret, systemRoots bool) error {
	if cluster.Spec.TLS == nil || systemRoots || CA(secret.Data) != nil {
		return nil
	}
	return fmt.Errorf("DatabaseCluster %s has spec.tls, but Secret %s has no %s: a client cannot verify the server, and could send the "+
		"password to another one. Add the CA as %s to the Secret with the certificate (docs/tls.md). If a public CA has issued the "+
		"certificate, add --system-roots", cluster.Name, secret.Name, authority, authority)
}

// SecretOf is the name of the connection Secret.
func SecretOf(cluster *dbv1.DatabaseCluster) (string, error) {
	if cluster.Status.Binding == nil {
		return "", fmt.Errorf("DatabaseCluster %s has no connection Secret: its engine describes no connection, or the operator has not "+
			"created it yet (status.binding)", cluster.Name)
	}
	return cluster.Status.Binding.Name, nil
}

// SecretOfUser is the name of the Secret of a DatabaseUser, which has the form of the connection Secret.
func SecretOfUser(cluster *dbv1.DatabaseCluster, user *dbv1.DatabaseUser) (string, error) {
	switch of := user.Spec.ClusterRef.Name; {
	case of != cluster.Name:
		return "", fmt.Errorf("DatabaseUser %s is a user of DatabaseCluster %s, not of %s", user.Name, of, cluster.Name)
	case user.Spec.Authentication == dbv1.AuthenticateCertificate:
		return "", fmt.Errorf("DatabaseUser %s logs in by its certificate (spec.authentication), and this command has only passwords. "+
			"Connect as docs/databases-and-users.md shows in the section \"Log in by a certificate\"", user.Name)
	case user.Status.Binding == nil:
		return "", fmt.Errorf("DatabaseUser %[1]s has no Secret yet (status.binding): kubectl dbc why databaseuser/%[1]s has the cause",
			user.Name)
	}
	return user.Status.Binding.Name, nil
}

// Member is the pod to connect to: the named one, or else the primary, or else a ready member.
func Member(cluster *dbv1.DatabaseCluster, name string) (string, error) {
	chosen := func(m dbv1.MemberStatus) bool {
		if name != "" {
			return name == m.Pod || name == strconv.Itoa(int(m.Ordinal))
		}
		return m.Ready && (cluster.Status.Primary == "" || m.Pod == cluster.Status.Primary)
	}
	i := slices.IndexFunc(cluster.Status.Members, chosen)
	switch {
	case i >= 0:
		return cluster.Status.Members[i].Pod, nil
	case name != "":
		return "", fmt.Errorf("DatabaseCluster %s has no member %s", cluster.Name, name)
	default:
		return "", fmt.Errorf("no member of DatabaseCluster %s accepts connections: kubectl dbc why %s has the cause", cluster.Name, cluster.Name)
	}
}

// Port is the port of the database in a pod.
func Port(pod *corev1.Pod) (int32, error) {
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if c.Name == "database" && p.Name == "db" {
				return p.ContainerPort, nil
			}
		}
	}
	return 0, errors.New("pod " + pod.Name + " has no port db")
}

// Environment are the variables of a client: one for each key of the Secret, such as DBC_URI and DBC_PASSWORD. Addresses in them are
// those of the forwarded port.
func (c Connection) Environment() []string {
	all := []string{"DBC_HOST=localhost", fmt.Sprintf("DBC_PORT=%d", c.LocalPort)}
	for key, value := range c.Data {
		switch key {
		case "host", "port", authority:
		case "username", "password", "database":
			all = append(all, variable(key)+"="+string(value))
		default:
			all = append(all, variable(key)+"="+c.local(string(value)))
		}
	}
	if c.CAFile != "" {
		all = append(all, "DBC_CA_FILE="+c.CAFile)
	}
	slices.Sort(all)
	return all
}

// variable is the name of a variable for a key.
func variable(key string) string {
	return "DBC_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(key))
}

// local replaces the address of the Service: HOST:PORT, HOST alone, and a port with its name, such as port=PORT.
func (c Connection) local(value string) string {
	host, port := string(c.Data["host"]), string(c.Data["port"])
	if host == "" || port == "" {
		return value
	}
	here := strconv.Itoa(int(c.LocalPort))
	replaced := replaceHost(value, host, port, here)
	if replaced == value {
		return value
	}
	named := regexp.MustCompile(`(?i)(\bport["']?\s*[=:]\s*["']?)` + regexp.QuoteMeta(port) + `\b`)
	return named.ReplaceAllString(replaced, "${1}"+here)
}

// replaceHost replaces a host and the port behind it, where the host is no part of a longer name.
func replaceHost(value, host, port, here string) string {
	all := ""
	for {
		before, after, found := strings.Cut(value, host)
		all += before
		switch {
		case !found:
			return all
		case inName.MatchString(all[max(0, len(all)-1):]), inName.MatchString(after[:min(1, len(after))]):
			all += host
		default:
			all += "localhost"
			if rest, is := strings.CutPrefix(after, ":"+port); is && !digit.MatchString(rest) {
				all, after = all+":"+here, rest
			}
		}
		value = after
	}
}

// inName matches a character of the name of a host, and digit a text that begins with one.
var (
	inName = regexp.MustCompile(`[\w.-]`)
	digit  = regexp.MustCompile(`^[0-9]`)
)

// Summary describes the connection without its password.
func (c Connection) Summary(namespace, secret string) string {
	said := fmt.Sprintf("Host localhost, port %d, user %s, database %s.\n", c.LocalPort, c.Data["username"], c.Data["database"])
	said += fmt.Sprintf("The password: kubectl -n %s get secret %s -o jsonpath='{.data.password}' | base64 -d\n", namespace, secret)
	if c.CAFile != "" {
		said += fmt.Sprintf("TLS: verify the server with the CA in %s, and the name localhost.\n", c.CAFile)
	}
	return said
}
