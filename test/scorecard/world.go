/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/manifests"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// labelRun is on everything that a test makes itself: the name of its world.
const labelRun = "scorecard.database.dbcluster.io/run"

// world is where a test runs databases: the namespace that the scorecard itself was told to use. The user has chosen
// it, so an operator that watches some namespaces only can watch it, and the tests need no right outside. Names are
// drawn by lot, so nothing of the user's is met.
type world struct {
	client.Client
	namespace, name string
	// sample is the DatabaseCluster of the bundle's alm-examples, with the image that is to be used.
	sample *dbv1.DatabaseCluster
}

func newWorld(bundle *manifests.Bundle, opts options) (*world, error) {
	namespace := os.Getenv("SCORECARD_NAMESPACE")
	if namespace == "" {
		return nil, errors.New("SCORECARD_NAMESPACE is not set: operator-sdk scorecard sets it, to the namespace in which databases may be made")
	}
	sample, err := sampleOf(bundle.CSV)
	if err != nil {
		return nil, err
	}
	if opts.image != "" {
		sample.Spec.Image = opts.image
	}
	settings, err := config.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("the API server's address is not known: %w", err)
	}
	settings.WarningHandlerWithContext = rest.NoWarnings{}
	settings.QPS = -1
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), dbv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	connected, err := client.New(settings, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return &world{connected, namespace, "scorecard-" + rand.String(6), sample}, nil
}

// object is what an object of this world is called and labeled.
func (w *world) object(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name, Labels: map[string]string{labelRun: w.name}}
}

// secret makes the Secret that every database of this world takes its password from.
func (w *world) secret(ctx context.Context, keys ...string) error {
	secret := &corev1.Secret{ObjectMeta: w.object(w.name), StringData: map[string]string{}}
	for _, key := range keys {
		secret.StringData[key] = rand.String(24)
	}
	return w.Create(ctx, secret)
}

// await asks every second whether something has come about, until it has or the time is over. The answer says what is
// still missing.
func (w *world) await(ctx context.Context, what string, missing func(context.Context) (string, error)) error {
	still := "nothing is known yet"
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		text, err := missing(ctx)
		switch {
		case apierrors.IsForbidden(err) || meta.IsNoMatchError(err):
			return false, err
		case err == nil:
			still = text
		case ctx.Err() == nil: // an API server that does not answer may yet do so
			still = err.Error()
		}
		return still == "", nil
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("%s: not in time: %s", what, still)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// brings creates an object and waits until a condition of it is True.
func (w *world) brings(ctx context.Context, object client.Object, becomes string) error {
	if err := w.Create(ctx, object); err != nil {
		return err
	}
	return w.turns(ctx, object, becomes)
}

// turns waits until a condition of a cluster or a backup is True about its present spec.
func (w *world) turns(ctx context.Context, object client.Object, name string) error {
	what := called(object) + " is to become " + name
	return w.await(ctx, what, func(ctx context.Context) (string, error) {
		if err := w.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return "", err
		}
		condition := meta.FindStatusCondition(conditionsOf(object), name)
		switch {
		case condition == nil:
			return "it has no condition " + name, nil
		case condition.ObservedGeneration != object.GetGeneration():
			return fmt.Sprintf("the condition is about generation %d of %d", condition.ObservedGeneration, object.GetGeneration()), nil
		case condition.Status != metav1.ConditionTrue:
			return fmt.Sprintf("it is %s, %s: %s", condition.Status, condition.Reason, condition.Message), nil
		}
		return "", nil
	})
}

// called is an object for people: DatabaseCluster orders.
func called(object client.Object) string {
	kind := fmt.Sprintf("%T", object)
	return kind[strings.LastIndex(kind, ".")+1:] + " " + object.GetName()
}

func conditionsOf(object client.Object) []metav1.Condition {
	switch object := object.(type) {
	case *dbv1.DatabaseCluster:
		return object.Status.Conditions
	case *dbv1.DatabaseBackup:
		return object.Status.Conditions
	}
	return nil
}

// change patches a cluster.
func (w *world) change(ctx context.Context, cluster *dbv1.DatabaseCluster, change func(*dbv1.DatabaseCluster)) error {
	before := cluster.DeepCopy()
	change(cluster)
	return w.Patch(ctx, cluster, client.MergeFrom(before))
}

// advice adds what to do to errors that people can do something about.
func advice(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return err.Error() + "; give the scorecard's ServiceAccount what it needs (kubectl apply -k config/scorecard/rbac) and name it (operator-sdk scorecard -s databasecluster-operator-scorecard)"
	case meta.IsNoMatchError(err):
		return err.Error() + "; install the operator first"
	}
	return err.Error()
}
