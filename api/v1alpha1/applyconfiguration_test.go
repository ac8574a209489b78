/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1_test

import (
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/api/v1alpha1/applyconfiguration"
	dbv1ac "github.com/dbcluster/databasecluster-operator/api/v1alpha1/applyconfiguration/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/config/crd"
)

// A program sets only the fields that it decides. It sends them by server-side apply under its own field manager,
// for example with the Apply method of a controller-runtime client. Fields of other managers are not changed.
func Example_applyConfiguration() {
	cluster := dbv1ac.DatabaseCluster("orders", "shop").
		WithLabels(map[string]string{"team": "checkout"}).
		WithSpec(dbv1ac.DatabaseClusterSpec().
			WithReplicas(3).
			WithImage("docker.io/library/postgres:17").
			WithEngine("postgresql-single-v1").
			WithResources(corev1ac.ResourceRequirements().
				WithRequests(corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")})).
			WithStorage(dbv1ac.ClusterStorage().WithSize(resource.MustParse("20Gi"))).
			WithContainer(dbv1ac.ClusterContainer().WithEnv(corev1ac.EnvVar().WithName("TZ").WithValue("UTC"))).
			WithDeletion(dbv1ac.ClusterDeletion().WithProtection(true).WithVolumes(dbv1.VolumesRetain)))
	text, err := yaml.Marshal(cluster)
	if err != nil {
		panic(err)
	}
	fmt.Print(string(text))
	// Output:
	// apiVersion: database.dbcluster.io/v1alpha1
	// kind: DatabaseCluster
	// metadata:
	//   labels:
	//     team: checkout
	//   name: orders
	//   namespace: shop
	// spec:
	//   container:
	//     env:
	//     - name: TZ
	//       value: UTC
	//   deletion:
	//     protection: true
	//     volumes: Retain
	//   engine: postgresql-single-v1
	//   image: docker.io/library/postgres:17
	//   replicas: 3
	//   resources:
	//     requests:
	//       memory: 1Gi
	//   storage:
	//     size: 20Gi
}

// The generated packages are for other programs. They must contain the types, and not import the operator or its
// dependencies.
func TestApplyConfigurationsDoNotImportTheOperator(t *testing.T) {
	const module = "github.com/dbcluster/databasecluster-operator/"
	const ours = module + "api/v1alpha1"
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./applyconfiguration/...").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if !strings.Contains(string(output), ours+"/applyconfiguration/") {
		t.Fatalf("there are no apply configurations among %s", output)
	}
	for name := range strings.Lines(string(output)) {
		name = strings.TrimSpace(name)
		if strings.HasPrefix(name, module) && name != ours && !strings.HasPrefix(name, ours+"/applyconfiguration") {
			t.Errorf("they import %s of the operator", name)
		}
		if strings.HasPrefix(name, "sigs.k8s.io/controller-runtime") {
			t.Errorf("they import %s", name)
		}
	}
}

// A plain Kubernetes type would set each of its fields. CORE_TYPES of make/dev.mk names the types that have an
// apply configuration.
func TestApplyConfigurationsContainOnlySetFields(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(of reflect.Type, at string)
	walk = func(of reflect.Type, at string) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		switch path := of.PkgPath(); {
		case strings.HasPrefix(path, "k8s.io/api/"):
			t.Errorf("%s is a %s.%s: name it in CORE_TYPES of make/dev.mk", at, path, of.Name())
		case strings.Contains(path, "/applyconfiguration/"):
			for field := range of.Fields() {
				walk(field.Type, at+"."+field.Name)
			}
		}
	}
	definitions, err := crd.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	for _, definition := range definitions {
		kind := definition.Spec.Names.Kind
		configuration := applyconfiguration.ForKind(dbv1.GroupVersion.WithKind(kind))
		if configuration == nil {
			t.Errorf("%s has no apply configuration", kind)
			continue
		}
		walk(reflect.TypeOf(configuration), kind)
	}
	if len(seen) < 30 {
		t.Errorf("only %d types were seen", len(seen))
	}
}
