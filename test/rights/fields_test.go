/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"slices"
	"strings"
	"testing"
)

func fields(t *testing.T) []Field {
	t.Helper()
	all, err := Fields("../../config/crd/bases")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEveryFieldIsJudgedByWhatItCanReach(t *testing.T) {
	all := fields(t)
	references, err := References(all)
	if err != nil {
		t.Fatal(err)
	}
	var local []string
	for _, r := range references {
		if !r.Everywhere {
			local = append(local, r.To)
		}
	}
	for _, kind := range []string{"Secret", "ConfigMap", "PersistentVolumeClaim", "DatabaseBackup", "DatabaseCluster"} {
		if !slices.Contains(local, kind) {
			t.Errorf("no field names a %s any more", kind)
		}
	}
	for _, v := range verdicts {
		if !slices.ContainsFunc(all, func(f Field) bool { return v.fields.MatchString(f.String()) }) {
			t.Errorf("no field is any more what %s was about", v.fields)
		}
	}
}

func TestANewFieldMustBeJudged(t *testing.T) {
	for _, field := range []string{"spec.backup.encryptionSecretName", "spec.pod.volumes[].secret.namespace", "spec.bootstrap.fromBackup.namespace",
		"spec.container.env[].valueFrom.vaultRef.name", "spec.template?"} {
		if _, err := References([]Field{{"DatabaseCluster", field}}); err == nil {
			t.Errorf("%s passes unjudged", field)
		}
	}
}

// A pod affinity to pods in other namespaces is a request to the scheduler; it reaches none of them. A peer of the
// NetworkPolicy selects clients of the members; the members reach none of them by it. The namespace of a cluster that wrote a backup is a part
// of a URL, as in spec.bootstrap.fromBackup.location.url: the credentials of this namespace decide what can be read there.
func TestNoFieldNamesANamespaceButForWhereThePodsRunAndWhoConnects(t *testing.T) {
	for _, field := range fields(t) {
		allowed := strings.HasPrefix(field.Path, "spec.scheduling.affinity.pod") || strings.HasPrefix(field.Path, "spec.networkPolicy.from[]") ||
			strings.HasPrefix(field.Path, "spec.monitoring.from[]") ||
			field.Path == "spec.bootstrap.fromBackup.newest.clusterNamespace"
		if strings.Contains(strings.ToLower(field.Path), "namespace") && !allowed {
			t.Errorf("%s names a namespace", field)
		}
	}
}
