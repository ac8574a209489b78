/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

const (
	// defaultPrefix begins the names of variables with the connection Secret.
	defaultPrefix = "DATABASE_"
	// bindingRoot is the variable by which libraries find connection Secrets.
	bindingRoot = "SERVICE_BINDING_ROOT"
)

// application is what runs in the pods: the spec, completed by the companion of the engine. Its JSON form is hashed, so a newer operator
// that has more fields here must leave them out while they are not set.
type application struct {
	dbv1.CompanionPods
	Image string
	Port  int32
	// Environment are the variables of scripts. A newer operator may add one, so the hash has what they are made of.
	Environment []corev1.EnvVar   `json:"-"`
	Database    *database         `json:",omitempty"`
	Scripts     map[string]string `json:",omitempty"`
	// SecretName has the credentials of the cluster, of which the pods get SecretKeys. CertificateName is the Secret with the certificate.
	SecretName, CertificateName string   `json:",omitempty"`
	SecretKeys                  []string `json:",omitempty"`
	// BindingName is the connection Secret, with BindingKeys, in a form. BindingContent is a hash of its values, if a change restarts the
	// pods.
	BindingName, BindingContent string                       `json:",omitempty"`
	BindingKeys                 []string                     `json:",omitempty"`
	Form                        dbv1.CompanionConnectionForm `json:",omitempty"`
	// Files are variables with the paths of files of the connection Secret.
	Files  map[string]string `json:",omitempty"`
	Pauses bool              `json:",omitempty"`
}

// database is what the variables of scripts are made of.
type database struct {
	TLS        string
	Port       int32
	Bootstrap  *dbv1.ClusterBootstrap `json:",omitempty"`
	Parameters map[string]string      `json:",omitempty"`
}

// applicationOf completes the spec. Nothing that it needs is missing.
func applicationOf(companion *dbv1.DatabaseCompanion, seen CompanionFacts) application {
	a := application{CompanionPods: *companion.Spec.CompanionPods.DeepCopy(), Image: companion.Spec.Image, Port: companion.Spec.Port}
	if c := engine.Companion(seen.Engine, companion.Spec.Companion); c != nil {
		a.complete(companion, c, seen)
		return a
	}
	connection := companion.Spec.Connection
	a.Form = cmp.Or(connection.Form, dbv1.ConnectionFiles)
	if a.Form == dbv1.ConnectionNone {
		return a
	}
	a.BindingName = seen.Binding.Name
	switch a.Form {
	case dbv1.ConnectionEnvironment:
		a.BindingKeys = seen.Binding.Keys
	case dbv1.ConnectionFiles:
		a.Files = files(companion, seen)
	case dbv1.ConnectionNone:
	}
	if connection.OnChange != dbv1.ConnectionReload {
		a.BindingContent = seen.Binding.Content
	}
	return a
}

// files are the variables by which clients find files of the connection Secret. Those of the spec stay.
func files(companion *dbv1.DatabaseCompanion, seen CompanionFacts) map[string]string {
	all := map[string]string{}
	if seen.Engine == nil || seen.Engine.Spec.Connection == nil {
		return all
	}
	for name, key := range seen.Engine.Spec.Connection.FileVariables {
		own := slices.ContainsFunc(companion.Spec.Container.Env, func(v corev1.EnvVar) bool { return v.Name == name })
		if !own && slices.Contains(seen.Binding.Keys, string(key)) {
			all[name] = bindingPath(companion) + "/" + string(key)
		}
	}
	return all
}

// complete takes what spec does not set from the engine.
func (a *application) complete(companion *dbv1.DatabaseCompanion, c *dbv1.EngineCompanion, seen CompanionFacts) {
	a.Image, a.Port, a.Pauses = cmp.Or(a.Image, c.Image), c.Port, c.Pause == dbv1.PauseSupported
	if len(a.Container.Command) == 0 {
		a.Container.Command = c.Command
	}
	setDefault(&a.Container.StartupProbe, c.StartupProbe)
	setDefault(&a.Container.ReadinessProbe, c.ReadinessProbe)
	setDefault(&a.Container.LivenessProbe, c.LivenessProbe)
	setDefault(&a.Pod.TerminationGracePeriodSeconds, c.TerminationGracePeriodSeconds)
	if c.RunAsUser != nil {
		setDefault(&a.Pod.SecurityContext, &corev1.PodSecurityContext{})
		setDefault(&a.Pod.SecurityContext.RunAsUser, c.RunAsUser)
	}
	a.Scripts = map[string]string{}
	for _, name := range c.Scripts {
		a.Scripts[name] = string(seen.Engine.Spec.Scripts[name])
	}
	if len(c.SecretKeys) > 0 {
		a.SecretName, a.SecretKeys = seen.Cluster.Spec.Credentials.SecretName, c.SecretKeys
	}
	if seen.Cluster.Spec.TLS != nil {
		a.CertificateName = naming.CompanionCertificate(companion.Name)
	}
	a.Environment = variables(companion, c, seen.Cluster, seen.Engine)
	a.Database = &database{Port: seen.Cluster.Spec.Container.Port, TLS: mode(seen.Cluster), Parameters: parameters(companion, c)}
	if b := seen.Cluster.Spec.Bootstrap; b != nil {
		a.Database.Bootstrap = &dbv1.ClusterBootstrap{Database: b.Database, Owner: b.Owner}
	}
}

func setDefault[T comparable](field *T, value T) {
	var unset T
	if *field == unset {
		*field = value
	}
}

// variables are those of the scripts of a companion: where the database is, and the parameters.
func variables(companion *dbv1.DatabaseCompanion, c *dbv1.EngineCompanion, cluster *dbv1.DatabaseCluster,
	declared *dbv1.DatabaseEngine) []corev1.EnvVar {
	replicas := ""
	if engine.HasRoles(declared) {
		replicas = naming.ServiceHost(naming.ReplicasService(cluster.Name), cluster.Namespace)
	}
	all := []corev1.EnvVar{
		{Name: "DBC_CLUSTER", Value: cluster.Name},
		{Name: "DBC_NAMESPACE", Value: cluster.Namespace},
		{Name: "DBC_COMPANION", Value: companion.Name},
		{Name: "DBC_HOST", Value: naming.ServiceHost(naming.Service(cluster.Name), cluster.Namespace)},
		{Name: "DBC_REPLICAS_HOST", Value: replicas},
		{Name: "DBC_PORT", Value: strconv.Itoa(int(cluster.Spec.Container.Port))},
		{Name: "DBC_LISTEN_PORT", Value: strconv.Itoa(int(c.Port))},
		{Name: "DBC_TLS", Value: mode(cluster)},
		{Name: "DBC_SECRETS_DIR", Value: naming.SecretsPath},
	}
	if b := cluster.Spec.Bootstrap; b != nil {
		all = append(all, corev1.EnvVar{Name: "DBC_DATABASE", Value: b.Database}, corev1.EnvVar{Name: "DBC_OWNER", Value: b.Owner})
	}
	all = slices.DeleteFunc(all, func(v corev1.EnvVar) bool { return v.Value == "" })
	return append(all, engine.ParameterVariables(parameters(companion, c))...)
}

// mode is how clients connect to the database.
func mode(cluster *dbv1.DatabaseCluster) string {
	if cluster.Spec.TLS == nil {
		return "Off"
	}
	return string(cluster.Spec.TLS.Mode)
}

// parameters are the values of spec, and the defaults of the engine.
func parameters(companion *dbv1.DatabaseCompanion, c *dbv1.EngineCompanion) map[string]string {
	all := map[string]string{}
	for _, p := range c.Parameters {
		all[p.Name] = p.Default
	}
	maps.Copy(all, given(companion))
	return all
}

func given(companion *dbv1.DatabaseCompanion) map[string]string {
	all := map[string]string{}
	for name, value := range companion.Spec.Parameters {
		all[name] = string(value)
	}
	return all
}
