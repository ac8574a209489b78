//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

type fields = map[string]any

func config(path any, files ...string) fields {
	contents := fields{}
	for _, name := range files {
		contents[name] = "x"
	}
	section := fields{"files": contents}
	if path != nil {
		section["mountPath"] = path
	}
	return fields{"config": section}
}

func pod(key string, value any) fields    { return fields{"pod": fields{key: value}} }
func update(key string, value any) fields { return fields{"updateStrategy": fields{key: value}} }
func list(elements ...any) []any          { return elements }

func volume(name string, kinds ...string) fields {
	v := fields{"name": name}
	for _, kind := range kinds {
		v[kind] = map[string]fields{
			"emptyDir": {}, "secret": {"secretName": "x"}, "configMap": {"name": "x"}, "hostPath": {"path": "/etc"},
		}[kind]
	}
	return v
}

func many(count int, element func(i int) any) []any {
	all := make([]any, 0, count)
	for i := range count {
		all = append(all, element(i))
	}
	return all
}

func nameOf(i int) string { return "x" + strings.Repeat("y", i) }

func TestTheAPIServerRefusesInvalidConfigurationTemplatesAndUpdates(t *testing.T) {
	parallel(t)
	sidecar := func(ports ...any) fields { return fields{"name": "exporter", "ports": ports} }
	eachIsRefused(t, "databaseclusters", refusals{
		"a relative config path":                {config("etc/db", "a"), "spec.config.mountPath must be an absolute path"},
		"a config path with ..":                 {config("/etc/../x", "a"), "spec.config.mountPath must be an absolute path"},
		"a config path that ends with ..":       {config("/etc/..", "a"), "spec.config.mountPath must be an absolute path"},
		"a config path with a colon":            {config("/etc:x", "a"), "spec.config.mountPath must be an absolute path"},
		"the root as config path":               {config("/", "a"), "spec.config.mountPath in body should be at least 2 chars long"},
		"the data path as config path":          {config("/var/lib/database", "a"), "spec.config.mountPath must not be spec.container.dataPath, where the data volume is mounted"},
		"no files":                              {fields{"config": fields{}}, "spec.config.files: Required value"},
		"not one file":                          {config(nil), "spec.config.files in body should have at least 1 properties"},
		"a file with a slash":                   {config(nil, "a/b"), "spec.config.files must have names of letters, digits"},
		"a file named ..":                       {config(nil, ".."), "spec.config.files must have names of letters, digits"},
		"a file named .":                        {config(nil, "."), "spec.config.files must have names of letters, digits"},
		"a file name that starts with two dots": {config(nil, "..data"), "spec.config.files must have names of letters, digits"},
		"a file with too long a name":           {config(nil, strings.Repeat("a", 254)), "spec.config.files must have names of letters, digits"},
		"a file without a name":                 {config(nil, ""), "spec.config.files must have names of letters, digits"},

		"a mount over the data":             {container("volumeMounts", []any{fields{"name": "data", "mountPath": "/var/lib/database"}}), "spec.container.volumeMounts must not mount a volume at spec.container.dataPath"},
		"a mount over the data, by a slash": {container("volumeMounts", []any{fields{"name": "data", "mountPath": "/var/lib/database/"}}), "must not end in '/'"},
		"a label of the selector":           {pod("labels", fields{"app.kubernetes.io/name": "x"}), "spec.pod.labels must not set keys that start with"},
		"a label of the operator":           {pod("labels", fields{"database.dbcluster.io/cluster-uid": "x"}), "spec.pod.labels must not set keys that start with"},
		"the label of the revision":         {pod("labels", fields{"controller-revision-hash": "x"}), "spec.pod.labels must not set keys that start with"},
		"the label of the pod's name":       {pod("labels", fields{"statefulset.kubernetes.io/pod-name": "x"}), "spec.pod.labels must not set keys that start with"},
		"the label of the pod's index":      {pod("labels", fields{"apps.kubernetes.io/pod-index": "x"}), "spec.pod.labels must not set keys that start with"},
		"an annotation of the operator":     {pod("annotations", fields{"database.dbcluster.io/template": "x"}), "spec.pod.annotations must not set keys"},
		"a script of an engine":             {pod("annotations", fields{"scripts.database.dbcluster.io/backup": "x"}), "spec.pod.annotations must not set keys"},
		"a volume of the operator's":        {pod("volumes", list(volume("dbc-scripts", "emptyDir"))), "that does not start with 'dbc-'"},
		"a volume named data":               {pod("volumes", list(volume("data", "emptyDir"))), "spec.pod.volumes[].name must be a DNS label other than 'data' and 'config'"},
		"a volume named config":             {pod("volumes", list(volume("config", "emptyDir"))), "spec.pod.volumes[].name must be a DNS label other than 'data' and 'config'"},
		"a volume with a bad name":          {pod("volumes", list(volume("A_b", "emptyDir"))), "spec.pod.volumes[].name must be a DNS label"},
		"a volume of two kinds":             {pod("volumes", list(volume("x", "emptyDir", "secret"))), "spec.pod.volumes[] must have exactly one of configMap, secret, emptyDir, projected and csi"},
		"a volume of no kind":               {pod("volumes", list(volume("x"))), "spec.pod.volumes[] must have exactly one of configMap, secret, emptyDir, projected and csi"},
		"a directory of the node":           {pod("volumes", list(volume("x", "hostPath"))), "spec.pod.volumes[] must have exactly one of configMap, secret, emptyDir, projected and csi"},
		"two volumes of one name":           {pod("volumes", list(volume("x", "emptyDir"), volume("x", "secret"))), "spec.pod.volumes[1]: Duplicate value"},
		"seventeen volumes":                 {pod("volumes", many(17, func(i int) any { return volume(nameOf(i), "emptyDir") })), "spec.pod.volumes: Too many"},
		"a mount without a path":            {container("volumeMounts", list(fields{"name": "data"})), "spec.container.volumeMounts[0].mountPath: Required value"},
		"two mounts at one path":            {container("volumeMounts", list(fields{"name": "x", "mountPath": "/x"}, fields{"name": "y", "mountPath": "/x"})), "spec.container.volumeMounts[1]: Duplicate value"},
		"a sidecar named database":          {pod("sidecars", list(fields{"name": "database"})), "must be a DNS label. 'database' and names that start with 'dbc-' are reserved"},
		"an init container named database":  {pod("initContainers", list(fields{"name": "database"})), "must be a DNS label. 'database' and names that start with 'dbc-' are reserved"},
		"a container of the operator":       {pod("initContainers", list(fields{"name": "dbc-version"})), "names that start with 'dbc-' are reserved"},
		"a container without a name":        {pod("initContainers", list(fields{"image": "x"})), "spec.pod.initContainers[0].name: Required value"},
		"a sidecar and an init container of one name": {
			fields{"pod": fields{"initContainers": list(fields{"name": "x"}), "sidecars": list(fields{"name": "x"})}},
			"spec.pod.initContainers and spec.pod.sidecars must not have a name in common",
		},
		"a container that runs as root": {pod("sidecars", list(fields{"name": "x", "securityContext": fields{"runAsUser": int64(0)}})), "spec.pod.sidecars[0].securityContext.runAsUser in body should be greater than or equal to 1"},
		"nine sidecars":                 {pod("sidecars", many(9, func(i int) any { return fields{"name": nameOf(i)} })), "spec.pod.sidecars: Too many"},
		"a sidecar's port named db":     {pod("sidecars", list(sidecar(fields{"name": "db", "containerPort": int64(1)}))), "must be a DNS label other than 'db'"},
		"a sidecar's port zero":         {pod("sidecars", list(sidecar(fields{"name": "x", "containerPort": int64(0)}))), "spec.pod.sidecars[0].ports[0].containerPort in body should be greater than or equal to 1"},
		"a sidecar's port too high":     {pod("sidecars", list(sidecar(fields{"name": "x", "containerPort": int64(65536)}))), "spec.pod.sidecars[0].ports[0].containerPort in body should be less than or equal to 65535"},

		"an unknown update":        {update("type", "Recreate"), `spec.updateStrategy.type: Unsupported value: "Recreate"`},
		"no member unavailable":    {update("maxUnavailable", int64(0)), "spec.updateStrategy.maxUnavailable in body should be greater than or equal to 1"},
		"nine unavailable":         {update("maxUnavailable", int64(9)), "spec.updateStrategy.maxUnavailable in body should be less than or equal to 8"},
		"a percentage unavailable": {update("maxUnavailable", "50%"), "spec.updateStrategy.maxUnavailable in body must be of type integer"},
		"negative ready seconds":   {update("minReadySeconds", int64(-1)), "spec.updateStrategy.minReadySeconds in body should be greater than or equal to 0"},
		"more than an hour":        {update("minReadySeconds", int64(3601)), "spec.updateStrategy.minReadySeconds in body should be less than or equal to 3600"},
	})
}

func TestTheAPIServerAcceptsValidConfigurationTemplatesAndUpdates(t *testing.T) {
	parallel(t)
	extra := func(i int) any { return fields{"name": nameOf(i), "securityContext": fields{"runAsUser": int64(1)}} }
	eachIsAccepted(t, "databaseclusters", map[string]fields{
		"files of every kind of name": config("/etc/x", "a", "A.b-c_d", ".hidden", strings.Repeat("a", 253)),
		"the default config path":     config(nil, "a"),
		"a config path with dots":     config("/etc/..x/y.d", "a"),
		"labels of others":            pod("labels", fields{"team": "x", "example.com/app.kubernetes.io": "x"}),
		"annotations of others":       pod("annotations", fields{"prometheus.io/scrape": "true"}),
		"one volume of each kind":     pod("volumes", list(volume("a", "emptyDir"), volume("b", "secret"), volume("c", "configMap"))),
		"sixteen volumes":             pod("volumes", many(16, func(i int) any { return volume(nameOf(i), "emptyDir") })),
		"mounts of our volumes":       container("volumeMounts", list(fields{"name": "data", "mountPath": "/x", "subPath": "y"}, fields{"name": "config", "mountPath": "/y", "readOnly": true})),
		"eight of each container":     {"pod": fields{"initContainers": many(8, extra), "sidecars": many(8, func(i int) any { return fields{"name": "s" + nameOf(i)} })}},
		"a sidecar with ports":        pod("sidecars", list(fields{"name": "x", "ports": list(fields{"name": "a", "containerPort": int64(1)}, fields{"name": "b", "containerPort": int64(65535)})})),
		"updates left to the user":    update("type", "OnDelete"),
		"one unavailable":             update("maxUnavailable", int64(1)),
		"eight unavailable":           update("maxUnavailable", int64(8)),
		"no ready seconds":            update("minReadySeconds", int64(0)),
		"an hour":                     update("minReadySeconds", int64(3600)),
		"a paused update":             update("paused", true),
		"paused":                      {"paused": true},
		"hibernated":                  {"hibernated": true},
	})
}

func TestTheDefaultsOfUpdatesAndConfigurationMatchTheDocumentation(t *testing.T) {
	parallel(t)
	cluster := smallest(namespace(t), "orders")
	withConfig("x")(cluster)
	if err := admin.Create(t.Context(), cluster, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if u := cluster.Spec.UpdateStrategy; u.Type != dbv1.UpdateRolling || u.Paused || u.MaxUnavailable != 1 || *u.MinReadySeconds != 10 {
		t.Errorf("%+v", u)
	}
	if cluster.Spec.Config.MountPath != "/etc/database" || cluster.Spec.Paused || cluster.Spec.Hibernated {
		t.Errorf("%+v", cluster.Spec)
	}
}

func TestAGrowthCanBeRevertedUntilAVolumeHasGrown(t *testing.T) {
	parallel(t)
	ns := ownNamespace(t) // only this test writes the status
	const shrinks = "spec.storage.size cannot shrink"
	for what, c := range map[string]struct {
		capacity, size string
		wants          string // "" if it is valid
	}{
		"without a known capacity":           {"", "2Gi", shrinks},
		"to more than the capacity":          {"1Gi", "2Gi", ""},
		"to a little more than the capacity": {"1Gi", "1025Mi", ""},
		"to the capacity":                    {"1Gi", "1Gi", shrinks},
		"to less than the capacity":          {"1Gi", "512Mi", shrinks},
		"after the growth":                   {"100Gi", "99Gi", shrinks},
		"with a larger capacity":             {"200Gi", "50Gi", shrinks},
		"to the capacity in bytes":           {"1Gi", "1073741824", shrinks},
	} {
		t.Run(what, func(t *testing.T) {
			cluster := smallest(ns, "orders")
			cluster.Spec.Storage.Size = resource.MustParse("100Gi")
			createFor(t, cluster)
			if c.capacity != "" {
				cluster.Status.Storage = &dbv1.ClusterStorageStatus{Requested: resource.MustParse("100Gi"), Capacity: new(resource.MustParse(c.capacity))}
				if err := admin.Status().Update(t.Context(), cluster); err != nil {
					t.Fatal(err)
				}
			}
			growTo(c.size)(cluster)
			mustAnswer(t, admin.Update(t.Context(), cluster, client.DryRunAll), c.wants)
		})
	}
}
