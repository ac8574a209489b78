/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// What stands in a recipe where a cluster's own values go.
const (
	placeName      = "NAME-OF-THE-CLUSTER"
	placeNamespace = "NAMESPACE-OF-THE-CLUSTER"
	placeUID       = "UID-OF-THE-CLUSTER"
)

// recipe is one object that a cluster needs, ready to be applied.
type recipe struct{ Path, Body string }

// recipes are what the operator itself applied for a cluster, told by the managed fields: so the floor writes
// the same, whatever the operator writes by then.
func (w *world) recipes(ctx context.Context, namespace, name string) ([]recipe, error) {
	get := metav1.GetOptions{}
	core := "/api/v1/namespaces/" + namespace + "/services/"
	headless, headlessErr := w.clients.CoreV1().Services(namespace).Get(ctx, naming.HeadlessService(name), get)
	service, serviceErr := w.clients.CoreV1().Services(namespace).Get(ctx, naming.Service(name), get)
	budget, budgetErr := w.clients.PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, naming.PodDisruptionBudget(name), get)
	set, setErr := w.clients.AppsV1().StatefulSets(namespace).Get(ctx, naming.StatefulSet(name), get)
	if err := errors.Join(headlessErr, serviceErr, budgetErr, setErr); err != nil {
		return nil, fmt.Errorf("read what the operator made: %w", err)
	}
	headlessFields, headlessErr := corev1ac.ExtractService(headless, dbv1.FieldOwner)
	serviceFields, serviceErr := corev1ac.ExtractService(service, dbv1.FieldOwner)
	budgetFields, budgetErr := policyv1ac.ExtractPodDisruptionBudget(budget, dbv1.FieldOwner)
	setFields, setErr := appsv1ac.ExtractStatefulSet(set, dbv1.FieldOwner)
	if err := errors.Join(headlessErr, serviceErr, budgetErr, setErr); err != nil {
		return nil, fmt.Errorf("tell what the operator applied: %w", err)
	}
	return marshal([]string{
		core + headless.Name, core + service.Name,
		"/apis/policy/v1/namespaces/" + namespace + "/poddisruptionbudgets/" + budget.Name,
		"/apis/apps/v1/namespaces/" + namespace + "/statefulsets/" + set.Name,
	}, headlessFields, serviceFields, budgetFields, setFields)
}

func marshal(paths []string, objects ...any) ([]recipe, error) {
	var all []recipe
	for i, object := range objects {
		body, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		all = append(all, recipe{Path: paths[i], Body: string(body)})
	}
	return all, nil
}

// writeRecipes makes a file of what the operator applied for a cluster, with places for another's values.
func (w *world) writeRecipes(ctx context.Context, name string) (path string, err error) {
	cluster := &dbv1.DatabaseCluster{}
	if err := w.admin.Get(ctx, client.ObjectKey{Namespace: operatorClusters, Name: name}, cluster); err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	recipes, err := w.recipes(ctx, operatorClusters, name)
	if err != nil {
		return "", err
	}
	empty := strings.NewReplacer(name, placeName, operatorClusters, placeNamespace, string(cluster.UID), placeUID)
	for i := range recipes {
		recipes[i] = recipe{Path: empty.Replace(recipes[i].Path), Body: empty.Replace(recipes[i].Body)}
	}
	text, err := json.Marshal(recipes)
	if err != nil {
		return "", err
	}
	path = filepath.Join(w.dir, "recipes.json")
	return path, os.WriteFile(path, text, 0o600)
}
