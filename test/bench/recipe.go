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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"
	"k8s.io/client-go/util/csaupgrade"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Placeholders in a recipe for the values of a cluster.
const (
	placeName      = "NAME-OF-THE-CLUSTER"
	placeNamespace = "NAMESPACE-OF-THE-CLUSTER"
	placeUID       = "UID-OF-THE-CLUSTER"
)

// recipe is an object of a cluster: the fields that the operator sets, and the path of the objects of its kind.
type recipe struct{ Path, Body string }

// recipes returns the objects that the operator has created for a cluster, by their managed fields. So the floor always
// writes the same objects as the operator.
func (w *world) recipes(ctx context.Context, namespace, name string) ([]recipe, error) {
	services, budgets := w.clients.CoreV1().Services(namespace), w.clients.PolicyV1().PodDisruptionBudgets(namespace)
	core, policy, apps := "/api/v1/namespaces/"+namespace, "/apis/policy/v1/namespaces/"+namespace, "/apis/apps/v1/namespaces/"+namespace
	headless, headlessErr := recipeOf(ctx, core+"/services", naming.HeadlessService(name), services.Get, corev1ac.ExtractService)
	service, serviceErr := recipeOf(ctx, core+"/services", naming.Service(name), services.Get, corev1ac.ExtractService)
	budget, budgetErr := recipeOf(ctx, policy+"/poddisruptionbudgets", naming.PodDisruptionBudget(name), budgets.Get,
		policyv1ac.ExtractPodDisruptionBudget)
	network := "/apis/networking.k8s.io/v1/namespaces/" + namespace
	isolation, isolationErr := recipeOf(ctx, network+"/networkpolicies", naming.NetworkPolicy(name),
		w.clients.NetworkingV1().NetworkPolicies(namespace).Get, networkingv1ac.ExtractNetworkPolicy)
	set, setErr := recipeOf(ctx, apps+"/statefulsets", naming.StatefulSet(name), w.clients.AppsV1().StatefulSets(namespace).Get,
		appsv1ac.ExtractStatefulSet)
	return []recipe{headless, service, budget, isolation, set}, errors.Join(headlessErr, serviceErr, budgetErr, isolationErr, setErr)
}

// recipeOf reads an object and extracts the fields that the operator has set.
func recipeOf[Object runtime.Object, Fields any](
	ctx context.Context, path, name string,
	get func(context.Context, string, metav1.GetOptions) (Object, error), extract func(Object, string) (Fields, error),
) (recipe, error) {
	object, err := get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return recipe{}, fmt.Errorf("read an object of the operator: %w", err)
	}
	if err := csaupgrade.UpgradeManagedFields(object, sets.New(dbv1.FieldCreator), dbv1.FieldOwner); err != nil {
		return recipe{}, fmt.Errorf("read the field managers: %w", err)
	}
	fields, err := extract(object, dbv1.FieldOwner)
	if err != nil {
		return recipe{}, fmt.Errorf("extract the fields of the operator: %w", err)
	}
	body, err := json.Marshal(fields)
	return recipe{path, string(body)}, err
}

// writeRecipes writes a file with the objects that the operator created for a cluster, with placeholders for its
// values.
func (w *world) writeRecipes(ctx context.Context, c *contestant, name string) (path string, err error) {
	namespace := c.load.namespace
	cluster, err := c.load.objects(c.load.resource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	recipes, err := w.recipes(ctx, namespace, name)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(recipes)
	if err != nil {
		return "", err
	}
	empty := strings.NewReplacer(name, placeName, namespace, placeNamespace, string(cluster.GetUID()), placeUID)
	path = filepath.Join(w.dir, "recipes.json")
	return path, os.WriteFile(path, []byte(empty.Replace(string(text))), 0o600)
}
