//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// manifest is a DatabaseCluster as a user writes it, so that a test can send values of the wrong type.
func manifest(ns, name string, spec fields) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: fields{"spec": fields{
		"replicas": int64(3), "image": "example.test/database:1",
		"resources": fields{"requests": fields{"memory": "64Mi"}},
		"storage":   fields{"size": "10Gi", "storageClassName": "fast"},
	}}}
	object.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseCluster"))
	object.SetNamespace(ns)
	object.SetName(name)
	maps.Copy(object.Object["spec"].(fields), spec)
	return object
}

func storage(section fields) fields { return fields{"storage": section} }

func TestTheAPIServerRefusesInvalidInputWithAMessageThatNamesTheField(t *testing.T) {
	parallel(t)
	hook := fields{"name": "flush", "type": "Command", "command": []any{"true"}}
	eachIsRefused(t, "databaseclusters", refusals{
		"no replicas":                        {fields{"replicas": int64(0)}, "spec.replicas in body should be greater than or equal to 1"},
		"ten replicas":                       {fields{"replicas": int64(10)}, "spec.replicas in body should be less than or equal to 9"},
		"an empty image":                     {fields{"image": ""}, "spec.image in body should be at least 1 chars long"},
		"no storage":                         {fields{"storage": nil}, "spec.storage: Required value"},
		"size zero":                          {storage(fields{"size": "0"}), "spec.storage.size must be a quantity greater than zero, for example 10Gi"},
		"size zero as a number":              {storage(fields{"size": int64(0)}), "spec.storage.size must be a quantity greater than zero"},
		"a negative size":                    {storage(fields{"size": "-1Gi"}), "spec.storage.size must be a quantity greater than zero"},
		"a size as a word":                   {storage(fields{"size": "large"}), "spec.storage.size must be a quantity greater than zero"},
		"an infinite size":                   {storage(fields{"size": "1e999999999"}), "spec.storage.size in body should match"},
		"an infinite CPU":                    {fields{"resources": fields{"requests": fields{"cpu": "1e99999999999999999999"}}}, "spec.resources.requests.cpu in body should match"},
		"CPU below milli":                    {fields{"resources": fields{"limits": fields{"cpu": "100u"}}}, "spec.resources.limits.cpu in body should match"},
		"a probe with a port over the limit": {container("readinessProbe", fields{"httpGet": fields{"port": int64(99999999999)}}), "spec.container.readinessProbe.httpGet.port in body should be less than or equal to 2147483647"},
		"an image with a space":              {fields{"image": "a b"}, "spec.image must not contain spaces, for example docker.io/library/postgres:17"},
		"an invalid storage class":           {storage(fields{"size": "1Gi", "storageClassName": "BAD NAME"}), "spec.storage.storageClassName must be the name of a StorageClass: lowercase letters, digits, '-' and '.'"},
		"a data path of slashes":             {container("dataPath", "//"), "spec.container.dataPath must be an absolute path"},
		"an empty size":                      {storage(fields{"size": ""}), "spec.storage.size"},
		"an ephemeral volume of a class": {
			storage(fields{"size": "1Gi", "ephemeral": true, "storageClassName": "fast"}),
			"spec.storage.storageClassName cannot be set together with spec.storage.ephemeral",
		},
		"a backup for ephemeral volumes": {
			fields{
				"storage":   fields{"size": "1Gi", "ephemeral": true},
				"bootstrap": fields{"fromBackup": fields{"name": "first"}},
			},
			"spec.bootstrap.fromBackup cannot be set together with spec.storage.ephemeral",
		},
		"port zero":                  {container("port", int64(0)), "spec.container.port in body should be greater than or equal to 1"},
		"a port too high":            {container("port", int64(65536)), "spec.container.port in body should be less than or equal to 65535"},
		"a relative data path":       {container("dataPath", "data"), "spec.container.dataPath must be an absolute path"},
		"a data path with ..":        {container("dataPath", "/data/../etc"), "spec.container.dataPath must be an absolute path"},
		"an unknown pull policy":     {container("imagePullPolicy", "Sometimes"), `spec.container.imagePullPolicy: Unsupported value: "Sometimes"`},
		"an unknown Service type":    {fields{"service": fields{"type": "ExternalName"}}, "spec.service.type: Unsupported value"},
		"a negative grace period":    {pod("terminationGracePeriodSeconds", int64(-1)), "spec.pod.terminationGracePeriodSeconds"},
		"a variable of the operator": {container("env", []any{fields{"name": "DBC_CLUSTER", "value": "x"}}), "spec.container.env must not set variables whose names start with 'DBC_'"},
		"a hook without a command":   {fields{"deletion": fields{"hooks": []any{fields{"name": "x", "type": "Command"}}}}, "spec.deletion.hooks[]: command is required for type Command, and not allowed for other types"},
		"two hooks of one name":      {fields{"deletion": fields{"hooks": []any{hook, hook}}}, "spec.deletion.hooks[1]: Duplicate value"},
	})
}

func TestTheAPIServerAcceptsInputAtTheLimits(t *testing.T) {
	parallel(t)
	eachIsAccepted(t, "databaseclusters", map[string]fields{
		"the base manifest":      {},
		"one replica":            {"replicas": int64(1)},
		"nine replicas":          {"replicas": int64(9)},
		"the lowest port":        container("port", int64(1)),
		"the highest port":       container("port", int64(65535)),
		"a size as a number":     storage(fields{"size": int64(1 << 30)}),
		"a size with a fraction": storage(fields{"size": "1.5Gi"}),
		"an ephemeral volume":    storage(fields{"size": "1Gi", "ephemeral": true}),
	})
}

func TestTheAPIServerLimitsNamesToTheLengthThatObjectNamesNeed(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	for what, c := range map[string]struct {
		object client.Object
		wants  string // "" if the name is valid
	}{
		"a cluster's name of 40":              {manifest(ns, strings.Repeat("a", 40), nil), ""},
		"a cluster's name of 41":              {manifest(ns, strings.Repeat("a", 41), nil), "metadata.name must be at most 40 characters long"},
		"a cluster's name with a dot":         {manifest(ns, "orders.eu", nil), "metadata.name must be a DNS label that starts with a letter"},
		"a cluster's name with a digit first": {manifest(ns, "1orders", nil), "metadata.name must be a DNS label that starts with a letter"},
		"the name of a headless Service":      {manifest(ns, "orders-headless", nil), "metadata.name must not end in '-headless'"},
		"a backup's name with a dot":          {request(ns, "a.b", nil), "metadata.name must be a DNS label of at most 63 characters"},
		"a backup's name of 64":               {request(ns, strings.Repeat("a", 64), nil), "metadata.name must be a DNS label of at most 63 characters"},
		"an engine's name of 63":              {declaration(strings.Repeat("a", 63), nil), ""},
		"an engine's name of 64":              {declaration(strings.Repeat("a", 64), nil), "metadata.name must be at most 63 characters long"},
	} {
		t.Run(what, func(t *testing.T) { mustAnswer(t, admin.Create(t.Context(), c.object, client.DryRunAll), c.wants) })
	}
}

func TestTheAPIServerRefusesUnsupportedChangesOfVolumes(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	object := manifest(ns, "orders", nil)
	create(t, object)
	cases := map[string]struct {
		storage fields
		wants   string // "" if the change is valid
	}{
		"a smaller size":                {fields{"size": "9Gi", "storageClassName": "fast"}, "spec.storage.size cannot shrink"},
		"a smaller size in a number":    {fields{"size": int64(1 << 20), "storageClassName": "fast"}, "spec.storage.size cannot shrink"},
		"another class":                 {fields{"size": "10Gi", "storageClassName": "slow"}, "spec.storage.storageClassName cannot be changed"},
		"the class removed":             {fields{"size": "10Gi"}, "spec.storage.storageClassName cannot be changed"},
		"changed to ephemeral":          {fields{"size": "10Gi", "ephemeral": true}, "spec.storage.ephemeral cannot be changed"},
		"a larger size":                 {fields{"size": "20Gi", "storageClassName": "fast"}, ""},
		"the same size in another unit": {fields{"size": "10240Mi", "storageClassName": "fast"}, ""},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			changed := object.DeepCopy()
			if err := unstructured.SetNestedMap(changed.Object, c.storage, "spec", "storage"); err != nil {
				t.Fatal(err)
			}
			mustAnswer(t, admin.Patch(t.Context(), changed, client.MergeFrom(object), client.DryRunAll), c.wants)
		})
	}
}

func TestTheDefaultsMatchTheDocumentation(t *testing.T) {
	parallel(t)
	cluster := smallest(namespace(t), "orders")
	if err := admin.Create(t.Context(), cluster, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	spec := cluster.Spec
	if spec.Service.Type != "ClusterIP" || spec.Deletion.HookFailurePolicy != "Block" || spec.Deletion.HookDeadlineSeconds != 600 {
		t.Errorf("%+v", spec)
	}
}
