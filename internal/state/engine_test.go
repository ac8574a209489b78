/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestTheEngineOfTheDataIsThatOfTheTemplateAndWithoutOneThatOfTheVolumes(t *testing.T) {
	set := func(engine string) *appsv1.StatefulSet {
		s := &appsv1.StatefulSet{}
		if engine != "" {
			s.Spec.Template.Annotations = map[string]string{dbv1.AnnotationEngine: engine}
		}
		return s
	}
	volume := func(engine string, change ...func(*Volume)) []Volume {
		v := Volume{Managed: true, Capacity: resource.MustParse("1Gi"), Contents: Contents{Cluster: "own", Engine: engine}}
		for _, c := range change {
			c(&v)
		}
		return []Volume{v}
	}
	for name, c := range map[string]struct {
		observed Observed
		want     string
	}{
		"nothing":                                {Observed{}, "none"},
		"the engine of the template":             {Observed{StatefulSet: set("a-v1")}, "a-v1"},
		"it is that of the spec":                 {Observed{StatefulSet: set("asked-v1"), Volumes: volume("a-v1")}, "none"},
		"a volume of a member removed long ago":  {Observed{StatefulSet: set("b-v1"), Volumes: volume("a-v1")}, "b-v1"},
		"a template without an engine":           {Observed{StatefulSet: set("")}, `""`},
		"another client removed the record":      {Observed{StatefulSet: set(""), Volumes: volume("asked-v1")}, "none"},
		"it did, and the engine is another one":  {Observed{StatefulSet: set(""), Volumes: volume("a-v1")}, "a-v1"},
		"the StatefulSet is being re-created":    {Observed{PreviousStatefulSet: set("a-v1")}, "a-v1"},
		"only volumes are left":                  {Observed{Volumes: volume("a-v1")}, "a-v1"},
		"only a volume without a record is left": {Observed{Volumes: volume("")}, `""`},
		"only members are left":                  {Observed{Members: []Member{{Engine: "a-v1"}}}, "a-v1"},
		"a claim that never had a volume":        {Observed{Volumes: volume("a-v1", func(v *Volume) { v.Capacity = resource.Quantity{} })}, "none"},
		"a volume of a previous cluster":         {Observed{Volumes: volume("a-v1", func(v *Volume) { v.Cluster = "earlier" })}, "none"},
		"a volume of another owner":              {Observed{Volumes: volume("a-v1", func(v *Volume) { v.Managed = false })}, "none"},
		"a terminating volume":                   {Observed{Volumes: volume("a-v1", func(v *Volume) { v.Terminating = true })}, "a-v1"},
		"a volume that is being restored":        {Observed{Volumes: volume("a-v1", func(v *Volume) { v.Fill = Filling })}, "a-v1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := "none"
			if engine, differs := c.observed.EngineOfData("own", "asked-v1"); differs {
				got = engine
				if engine == "" {
					got = fmt.Sprintf("%q", engine)
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
