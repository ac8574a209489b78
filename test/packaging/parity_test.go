//go:build helm

/*
SPDX-License-Identifier: Apache-2.0
*/

package packaging

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// With the image and the names of config/default, the chart equals config/default, except for the differences in
// normalized. test/bundle compares the bundle with config.
func TestTheChartInstallsWhatConfigDefaultInstalls(t *testing.T) {
	chart, config := bothInstalls(t)
	for _, problem := range differences(chart, config) {
		t.Error(problem)
	}
}

// A Role per namespace is useless if a ClusterRoleBinding grants the same permission everywhere.
func TestWatchedNamespacesGetTheRulesOfConfigEachInARoleOfItsOwn(t *testing.T) {
	_, config := bothInstalls(t)
	chart := rendered(t, "--set", "watchNamespaces={shop,bank}")
	want := config["ClusterRole databasecluster-operator-manager-role"].Object["rules"]
	for _, space := range []string{"shop", "bank"} {
		role := chart["Role "+space+"/databasecluster-operator-manager-role"]
		if role == nil || text(role.Object["rules"]) != text(want) {
			t.Errorf("the Role of namespace %s has not the rules of config/rbac: %v", space, role)
		}
		binding := chart["RoleBinding "+space+"/databasecluster-operator-manager-rolebinding"]
		if binding == nil || !strings.Contains(text(binding.Object["roleRef"]), "kind: Role\n") || !strings.Contains(text(binding.Object["subjects"]), "namespace: "+namespace) {
			t.Errorf("the RoleBinding of namespace %s does not give the operator of %s that Role: %v", space, namespace, binding)
		}
	}
	for _, name := range []string{"ClusterRole databasecluster-operator-manager-role", "ClusterRoleBinding databasecluster-operator-manager-rolebinding"} {
		if chart[name] != nil {
			t.Errorf("%s grants everywhere what only shop and bank should", name)
		}
	}
}

func TestADifferenceBetweenChartAndConfigIsFound(t *testing.T) {
	const deployment = "Deployment databasecluster-operator-system/databasecluster-operator-controller-manager"
	set := func(name string, value any, fields ...string) func(objects) {
		return func(chart objects) {
			if err := unstructured.SetNestedField(chart[name].Object, value, fields...); err != nil {
				t.Fatal(err)
			}
		}
	}
	planted := map[string]struct {
		plant func(objects)
		where string
	}{
		"a rule less": {func(chart objects) {
			role := chart["ClusterRole databasecluster-operator-manager-role"].Object
			role["rules"] = role["rules"].([]any)[1:]
		}, "ClusterRole databasecluster-operator-manager-role"},
		"a verb more": {func(chart objects) {
			rule := chart["ClusterRole databasecluster-operator-manager-cluster-role"].Object["rules"].([]any)[0].(map[string]any)
			rule["verbs"] = append(rule["verbs"].([]any), "delete")
		}, "ClusterRole databasecluster-operator-manager-cluster-role"},
		"another ServiceAccount": {func(chart objects) {
			chart["ClusterRoleBinding databasecluster-operator-manager-rolebinding"].Object["subjects"].([]any)[0].(map[string]any)["name"] = "default"
		}, "ClusterRoleBinding databasecluster-operator-manager-rolebinding"},
		"an unexpected role": {func(chart objects) {
			chart["ClusterRole more"] = &unstructured.Unstructured{Object: map[string]any{"kind": "ClusterRole", "metadata": map[string]any{}}}
		}, "ClusterRole more"},
		"an object less":       {func(chart objects) { delete(chart, deployment) }, deployment},
		"one replica":          {set(deployment, int64(1), "spec", "replicas"), deployment},
		"another grace period": {set(deployment, int64(30), "spec", "template", "spec", "terminationGracePeriodSeconds"), deployment},
		"root":                 {set(deployment, false, "spec", "template", "spec", "securityContext", "runAsNonRoot"), deployment},
		"an argument more": {func(chart objects) {
			container := chart[deployment].Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
			container["args"] = append(container["args"].([]any), "--zap-devel")
		}, deployment},
		"users without a role": {func(chart objects) {
			labels := chart["ClusterRole databasecluster-operator-databasecluster-viewer-role"].GetLabels()
			delete(labels, "rbac.authorization.k8s.io/aggregate-to-view")
			chart["ClusterRole databasecluster-operator-databasecluster-viewer-role"].SetLabels(labels)
		}, "ClusterRole databasecluster-operator-databasecluster-viewer-role"},
		"a policy that lets through": {set("ValidatingAdmissionPolicy databasecluster-operator-protected-clusters", "Ignore", "spec", "failurePolicy"),
			"ValidatingAdmissionPolicy databasecluster-operator-protected-clusters"},
		"a policy on another ServiceAccount": {func(chart objects) {
			conditions := chart["ValidatingAdmissionPolicy databasecluster-operator-secret-writes"].Object["spec"].(map[string]any)["matchConditions"].([]any)
			conditions[0].(map[string]any)["expression"] = "request.userInfo.username.endsWith(':somebody')"
		}, "ValidatingAdmissionPolicy databasecluster-operator-secret-writes"},
		"another schema": {set("CustomResourceDefinition databaseclusters.database.dbcluster.io", "Cluster", "spec", "scope"),
			"CustomResourceDefinition databaseclusters.database.dbcluster.io"},
	}
	for what, c := range planted {
		t.Run(what, func(t *testing.T) {
			chart, config := bothInstalls(t)
			c.plant(chart)
			found := differences(chart, config)
			if len(found) != 1 || !strings.HasPrefix(found[0], c.where) {
				t.Errorf("found %q, want one difference in %s", found, c.where)
			}
		})
	}
}

func bothInstalls(t *testing.T) (chart, config objects) {
	t.Helper()
	text, err := configured()
	if err != nil {
		t.Fatal(err)
	}
	return rendered(t, "--set", "image.repository=controller,image.tag=latest"), decode(t, string(text))
}

// differences returns one difference per object.
func differences(chart, config objects) []string {
	var said []string
	names := maps.Clone(chart)
	maps.Copy(names, config)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, b := normalized(chart[name]), normalized(config[name])
		switch {
		case b == "" && a != "":
			said = append(said, name+" is in the chart and not in config/default")
		case a == "" && b != "":
			said = append(said, name+" is in config/default and not in the chart")
		case a != b:
			said = append(said, name+": "+firstDifference(a, b))
		}
	}
	return said
}

// normalized removes the intended differences from an object.
func normalized(object *unstructured.Unstructured) string {
	if object == nil || object.GetKind() == "Namespace" { // helm install --create-namespace creates it
		return ""
	}
	o := object.DeepCopy()
	withoutTool(o)
	walk(o.Object, func(node map[string]any) {
		// Releases must not select the pods of each other: the selectors of the chart have the release name.
		delete(node, "app.kubernetes.io/instance")
		// OLM sets the watched namespaces by an annotation, and the chart by a value. Users of config/default set none.
		if node["name"] == "WATCH_NAMESPACE" && (node["value"] == "" || node["valueFrom"] != nil) {
			delete(node, "value")
			delete(node, "valueFrom")
		}
		// The chart knows the namespace of the operator.
		if expression, found := node["expression"].(string); found {
			node["expression"] = strings.ReplaceAll(expression, ":"+namespace+":", ":")
		}
	})
	return text(o.Object)
}

// withoutTool removes the tool that manages an object, its version, and Helm's resource policy. The labels that
// Kubernetes reads remain.
func withoutTool(o *unstructured.Unstructured) {
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	maps.DeleteFunc(labels, func(key, _ string) bool { return !strings.HasPrefix(key, "rbac.authorization.k8s.io/") })
	delete(annotations, "helm.sh/resource-policy")
	for field, values := range map[string]map[string]string{"labels": labels, "annotations": annotations} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
		if len(values) > 0 {
			o.Object["metadata"].(map[string]any)[field] = values
		}
	}
}

func walk(node any, visit func(map[string]any)) {
	switch n := node.(type) {
	case map[string]any:
		visit(n)
		for _, value := range n {
			walk(value, visit)
		}
	case []any:
		for _, value := range n {
			walk(value, visit)
		}
	}
}

func text(value any) string {
	written, err := yaml.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(written)
}

func firstDifference(a, b string) string {
	other := strings.Split(b, "\n")
	for i, line := range strings.Split(a, "\n") {
		if i >= len(other) || line != other[i] {
			return fmt.Sprintf("line %d is %q in the chart and %q in config/default", i+1, line, strings.Join(other[i:min(i+1, len(other))], ""))
		}
	}
	return "config/default has more lines"
}
