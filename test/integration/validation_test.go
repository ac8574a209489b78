//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"maps"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// manifest is a DatabaseCluster as a user writes it, so that values of the wrong type can be sent.
func manifest(ns, name string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"replicas": int64(3), "image": "example.test/database:1",
		"resources": map[string]any{"requests": map[string]any{"memory": "64Mi"}},
		"storage":   map[string]any{"size": "10Gi", "storageClassName": "fast"},
	}}}
	object.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseCluster"))
	object.SetNamespace(ns)
	object.SetName(name)
	maps.Copy(object.Object["spec"].(map[string]any), spec)
	return object
}

func storage(fields map[string]any) map[string]any { return map[string]any{"storage": fields} }

func TestTheAPIServerRefusesBadInputWithASentenceThatNamesTheField(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	hook := map[string]any{"name": "flush", "type": "Command", "command": []any{"true"}}
	cases := map[string]struct {
		name  string
		spec  map[string]any
		wants string
	}{
		"no replicas":                    {spec: map[string]any{"replicas": int64(0)}, wants: "spec.replicas in body should be greater than or equal to 1"},
		"ten replicas":                   {spec: map[string]any{"replicas": int64(10)}, wants: "spec.replicas in body should be less than or equal to 9"},
		"an empty image":                 {spec: map[string]any{"image": ""}, wants: "spec.image in body should be at least 1 chars long"},
		"no storage":                     {spec: map[string]any{"storage": nil}, wants: "spec.storage: Required value"},
		"size zero":                      {spec: storage(map[string]any{"size": "0"}), wants: "spec.storage.size must be a quantity greater than zero, for example 10Gi"},
		"size zero as a number":          {spec: storage(map[string]any{"size": int64(0)}), wants: "spec.storage.size must be a quantity greater than zero"},
		"a negative size":                {spec: storage(map[string]any{"size": "-1Gi"}), wants: "spec.storage.size must be a quantity greater than zero"},
		"a size that is a word":          {spec: storage(map[string]any{"size": "large"}), wants: "spec.storage.size must be a quantity greater than zero"},
		"a size without end":             {spec: storage(map[string]any{"size": "1e999999999"}), wants: "spec.storage.size in body should match"},
		"CPU without end":                {spec: map[string]any{"resources": map[string]any{"requests": map[string]any{"cpu": "1e99999999999999999999"}}}, wants: "spec.resources.requests.cpu in body should match"},
		"CPU below milli":                {spec: map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": "100u"}}}, wants: "spec.resources.limits.cpu in body should match"},
		"a probe of a port without end":  {spec: map[string]any{"probes": map[string]any{"readiness": map[string]any{"httpGet": map[string]any{"port": int64(99999999999)}}}}, wants: "spec.probes.readiness.httpGet.port in body should be less than or equal to 2147483647"},
		"an image with a space":          {spec: map[string]any{"image": "a b"}, wants: "spec.image in body should match"},
		"a storage class that cannot be": {spec: storage(map[string]any{"size": "1Gi", "storageClassName": "BAD NAME"}), wants: "spec.storage.storageClassName in body should match"},
		"a data path of slashes":         {spec: map[string]any{"dataPath": "//"}, wants: "spec.dataPath must be an absolute path"},
		"a name that ends like another cluster's headless Service": {name: "orders-headless", wants: "metadata.name must not end in '-headless'"},
		"an empty size": {spec: storage(map[string]any{"size": ""}), wants: "spec.storage.size"},
		"an ephemeral volume of a class": {
			spec:  storage(map[string]any{"size": "1Gi", "ephemeral": true, "storageClassName": "fast"}),
			wants: "spec.storage.storageClassName cannot be set together with spec.storage.ephemeral",
		},
		"a backup for ephemeral volumes": {
			spec: map[string]any{
				"storage":   map[string]any{"size": "1Gi", "ephemeral": true},
				"bootstrap": map[string]any{"fromBackup": map[string]any{"name": "first"}},
			},
			wants: "spec.bootstrap.fromBackup cannot be set together with spec.storage.ephemeral",
		},
		"port zero":                 {spec: map[string]any{"port": int64(0)}, wants: "spec.port in body should be greater than or equal to 1"},
		"a port too high":           {spec: map[string]any{"port": int64(65536)}, wants: "spec.port in body should be less than or equal to 65535"},
		"a relative data path":      {spec: map[string]any{"dataPath": "data"}, wants: "spec.dataPath must be an absolute path"},
		"a data path that climbs":   {spec: map[string]any{"dataPath": "/data/../etc"}, wants: "spec.dataPath must be an absolute path"},
		"an unknown pull policy":    {spec: map[string]any{"imagePullPolicy": "Sometimes"}, wants: `spec.imagePullPolicy: Unsupported value: "Sometimes"`},
		"an unknown Service type":   {spec: map[string]any{"service": map[string]any{"type": "ExternalName"}}, wants: "spec.service.type: Unsupported value"},
		"a negative grace period":   {spec: map[string]any{"terminationGracePeriodSeconds": int64(-1)}, wants: "spec.terminationGracePeriodSeconds"},
		"a variable of ours":        {spec: map[string]any{"env": []any{map[string]any{"name": "DBC_CLUSTER", "value": "x"}}}, wants: "spec.env must not set variables whose names start with 'DBC_'"},
		"a hook without a command":  {spec: map[string]any{"deletion": map[string]any{"hooks": []any{map[string]any{"name": "x", "type": "Command"}}}}, wants: "spec.deletion.hooks[]: command must be given for type Command, and for no other"},
		"two hooks of one name":     {spec: map[string]any{"deletion": map[string]any{"hooks": []any{hook, hook}}}, wants: "spec.deletion.hooks[1]: Duplicate value"},
		"a name too long":           {name: strings.Repeat("a", 41), wants: "metadata.name must be at most 40 characters long"},
		"a name with a dot":         {name: "orders.eu", wants: "metadata.name must be a DNS label that starts with a letter"},
		"a name with a digit first": {name: "1orders", wants: "metadata.name must be a DNS label that starts with a letter"},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			name := c.name
			if name == "" {
				name = "orders"
			}
			err := admin.Create(t.Context(), manifest(ns, name, c.spec), client.DryRunAll)
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("got %v, want a refusal with %q", err, c.wants)
			}
			t.Log(err)
		})
	}
}

func TestTheAPIServerTakesWhatIsJustWithinTheBounds(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	cases := map[string]struct {
		name string
		spec map[string]any
	}{
		"the full shape":         {},
		"one replica":            {spec: map[string]any{"replicas": int64(1)}},
		"nine replicas":          {spec: map[string]any{"replicas": int64(9)}},
		"the lowest port":        {spec: map[string]any{"port": int64(1)}},
		"the highest port":       {spec: map[string]any{"port": int64(65535)}},
		"a size as a number":     {spec: storage(map[string]any{"size": int64(1 << 30)})},
		"a size with a fraction": {spec: storage(map[string]any{"size": "1.5Gi"})},
		"an ephemeral volume":    {spec: storage(map[string]any{"size": "1Gi", "ephemeral": true})},
		"a name of 40":           {name: strings.Repeat("a", 40)},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			name := c.name
			if name == "" {
				name = "orders"
			}
			if err := admin.Create(t.Context(), manifest(ns, name, c.spec), client.DryRunAll); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheAPIServerRefusesChangesThatVolumesCannotFollow(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	object := manifest(ns, "orders", nil)
	create(t, object)
	cases := map[string]struct {
		storage map[string]any
		wants   string // "" when the change is fine
	}{
		"a smaller size":             {map[string]any{"size": "9Gi", "storageClassName": "fast"}, "spec.storage.size cannot shrink"},
		"a smaller size in a number": {map[string]any{"size": int64(1 << 20), "storageClassName": "fast"}, "spec.storage.size cannot shrink"},
		"another class":              {map[string]any{"size": "10Gi", "storageClassName": "slow"}, "spec.storage.storageClassName cannot be changed"},
		"no class any more":          {map[string]any{"size": "10Gi"}, "spec.storage.storageClassName cannot be changed"},
		"ephemeral now":              {map[string]any{"size": "10Gi", "ephemeral": true}, "spec.storage.ephemeral cannot be changed"},
		"a larger size":              {map[string]any{"size": "20Gi", "storageClassName": "fast"}, ""},
		"the same size, spelt anew":  {map[string]any{"size": "10240Mi", "storageClassName": "fast"}, ""},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			changed := object.DeepCopy()
			if err := unstructured.SetNestedMap(changed.Object, c.storage, "spec", "storage"); err != nil {
				t.Fatal(err)
			}
			patch := client.MergeFrom(object)
			err := admin.Patch(t.Context(), changed, patch, client.DryRunAll)
			if c.wants == "" && err != nil || c.wants != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.wants)) {
				t.Errorf("got %v, want %q", err, c.wants)
			}
		})
	}
}

func TestTheDefaultsAreThoseThatTheDocumentationTells(t *testing.T) {
	parallel(t)
	cluster := smallest(namespace(t), "orders")
	if err := admin.Create(t.Context(), cluster, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	spec := cluster.Spec
	if spec.Service.Type != "ClusterIP" || spec.Deletion.OnFailure != "Block" || spec.Deletion.DeadlineSeconds != 600 {
		t.Errorf("%+v", spec)
	}
}
