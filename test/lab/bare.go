/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// bareName is the value of the label app.kubernetes.io/name. The operator does not watch pods with it.
const bareName = "bare-patroni"

// Bare is Patroni without an operator: a StatefulSet that an administrator wrote, with the image, the scripts, the probes
// and the parameters of the engine.
type Bare struct {
	Database
	engine *dbv1.DatabaseEngine
}

// NewBare creates bare Patroni with three members, and waits until they are healthy.
func (l *Lab) NewBare(ctx context.Context, name string, parameters map[string]string) (*Bare, error) {
	b := &Bare{Database: Database{Lab: l, Name: name, Members: 3, Secret: name, labels: client.MatchingLabels{
		"app.kubernetes.io/name": bareName, "app.kubernetes.io/instance": name, "app.kubernetes.io/component": container,
	}}, engine: &dbv1.DatabaseEngine{}}
	if err := l.Get(ctx, client.ObjectKey{Name: Engine}, b.engine); err != nil {
		return nil, err
	}
	b.roles = b.engine.Spec.Roles
	scripts := map[string]string{}
	for file, script := range b.engine.Spec.Scripts {
		scripts[file] = strings.ReplaceAll(string(script), `"app.kubernetes.io/name": "databasecluster"`,
			`"app.kubernetes.io/name": "`+bareName+`"`)
	}
	secret := map[string]string{}
	for _, key := range b.engine.Spec.SecretKeys {
		secret[key.Name] = rand.String(32)
	}
	set, err := b.statefulSet(parameters)
	if err != nil {
		return nil, err
	}
	for _, object := range append(b.rights(), b.service(name, false), b.service(name+"-headless", true),
		&corev1.Secret{ObjectMeta: l.meta(name), StringData: secret}, &corev1.ConfigMap{ObjectMeta: l.meta(name + "-scripts"), Data: scripts},
		set) {
		if err := l.Create(ctx, object); err != nil {
			return nil, fmt.Errorf("create bare Patroni: %w", err)
		}
	}
	return b, b.AwaitReady(ctx)
}

// rights let Patroni create its ConfigMaps itself.
func (b *Bare) rights() []client.Object {
	role := &rbacv1.Role{ObjectMeta: b.meta(b.Name), Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps", "pods"},
			Verbs: []string{"create", "get", "list", "patch", "update", "watch"}},
	}}
	binding := &rbacv1.RoleBinding{ObjectMeta: b.meta(b.Name),
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: b.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: b.Namespace, Name: b.Name}}}
	return []client.Object{&corev1.ServiceAccount{ObjectMeta: b.meta(b.Name)}, role, binding}
}

// service selects the primary by its label or, if it is headless, all members.
func (b *Bare) service(name string, headless bool) *corev1.Service {
	service := &corev1.Service{ObjectMeta: b.meta(name), Spec: corev1.ServiceSpec{
		Selector: maps.Clone(b.labels),
		Ports:    []corev1.ServicePort{{Name: "db", Port: b.engine.Spec.Container.Port, TargetPort: intstr.FromString("db")}},
	}}
	if headless {
		service.Spec.ClusterIP, service.Spec.PublishNotReadyAddresses = corev1.ClusterIPNone, true
	} else {
		service.Spec.Selector[b.roles.Label] = b.roles.Primary
	}
	return service
}

// environment is that of the engine's scripts.
func (b *Bare) environment(parameters map[string]string) ([]corev1.EnvVar, error) {
	all := map[string]string{}
	for _, parameter := range b.engine.Spec.Parameters {
		all[parameter.Name] = parameter.Default
	}
	maps.Copy(all, parameters)
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	return []corev1.EnvVar{
		{Name: "DBC_DATA_DIR", Value: "/var/lib/database"}, {Name: "DBC_SECRETS_DIR", Value: "/dbc/secrets"}, {Name: "DBC_PORT", Value: "5432"},
		{Name: "DBC_DATABASE", Value: "app"}, {Name: "DBC_OWNER", Value: "app"}, {Name: "DBC_REPLICAS", Value: "3"},
		{Name: "DBC_PARAMETERS", Value: string(text)}, {Name: "DBC_MEMBERS", Value: strings.ReplaceAll(b.Hosts(), ",", " ")},
		{Name: "PATRONICTL_CONFIG_FILE", Value: "/tmp/patroni.yml"},
	}, nil
}
