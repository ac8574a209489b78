/*
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestTheCacheHasOnlyTheOperatorsObjectsOfWhatItWatches(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), dbv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	unselected := []string{}
	var kinds []string
	for object, how := range (&Settings{}).cacheOptions(scheme).ByObject {
		name := reflect.TypeOf(object).Elem().String()
		if kinds = append(kinds, name); how.Label == nil {
			unselected = append(unselected, name)
		}
	}
	for _, object := range []client.Object{&appsv1.StatefulSet{}, &batchv1.Job{}, &corev1.Pod{}, &corev1.Service{}, &networkingv1.NetworkPolicy{}} {
		if name := reflect.TypeOf(object).Elem().String(); !slices.Contains(kinds, name) {
			t.Errorf("the cache has every %s of the API server: %q", name, kinds)
		}
	}
	slices.Sort(unselected)
	want := []string{reflect.TypeFor[corev1.Node]().String(), reflect.TypeFor[policyv1.PodDisruptionBudget]().String()}
	if !slices.Equal(unselected, want) {
		t.Errorf("without a selector are %q, want %q", unselected, want)
	}
}
