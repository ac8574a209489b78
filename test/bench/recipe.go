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
	services, budgets := w.clients.CoreV1().Services(namespace), w.clients.PolicyV1().PodDisruptionBudgets(namespace)
	core, policy, apps := "/api/v1/namespaces/"+namespace, "/apis/policy/v1/namespaces/"+namespace, "/apis/apps/v1/namespaces/"+namespace
	headless, headlessErr := recipeOf(ctx, core+"/services/", naming.HeadlessService(name), services.Get, corev1ac.ExtractService)
	service, serviceErr := recipeOf(ctx, core+"/services/", naming.Service(name), services.Get, corev1ac.ExtractService)
	budget, budgetErr := recipeOf(ctx, policy+"/poddisruptionbudgets/", naming.PodDisruptionBudget(name), budgets.Get,
		policyv1ac.ExtractPodDisruptionBudget)
	set, setErr := recipeOf(ctx, apps+"/statefulsets/", naming.StatefulSet(name), w.clients.AppsV1().StatefulSets(namespace).Get,
		appsv1ac.ExtractStatefulSet)
	return []recipe{headless, service, budget, set}, errors.Join(headlessErr, serviceErr, budgetErr, setErr)
}

// recipeOf reads an object, and of it what the operator applied.
func recipeOf[Object, Fields any](
	ctx context.Context, path, name string,
	get func(context.Context, string, metav1.GetOptions) (Object, error), extract func(Object, string) (Fields, error),
) (recipe, error) {
	object, err := get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return recipe{}, fmt.Errorf("read what the operator made: %w", err)
	}
	fields, err := extract(object, dbv1.FieldOwner)
	if err != nil {
		return recipe{}, fmt.Errorf("tell what the operator applied: %w", err)
	}
	body, err := json.Marshal(fields)
	return recipe{path + name, string(body)}, err
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
	text, err := json.Marshal(recipes)
	if err != nil {
		return "", err
	}
	empty := strings.NewReplacer(name, placeName, operatorClusters, placeNamespace, string(cluster.UID), placeUID)
	path = filepath.Join(w.dir, "recipes.json")
	return path, os.WriteFile(path, []byte(empty.Replace(string(text))), 0o600)
}
