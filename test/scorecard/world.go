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

// labelRun is a label on all objects that a test creates: the name of its world.
const labelRun = "scorecard.database.dbcluster.io/run"

// world is the place where a test runs databases: the namespace of the scorecard. The user chooses it, so the operator
// can watch it, and the tests need no other permissions. Names are random, so they never collide with objects of the
// user.
type world struct {
	client.Client
	namespace, name string
	// sample is the DatabaseCluster of the bundle's alm-examples, with the image under test.
	sample *dbv1.DatabaseCluster
}

func newWorld(bundle *manifests.Bundle, opts options) (*world, error) {
	namespace := os.Getenv("SCORECARD_NAMESPACE")
	if namespace == "" {
		return nil,
			errors.New("SCORECARD_NAMESPACE is not set: operator-sdk scorecard sets it, to the namespace in which the tests may create databases")
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
		return nil, fmt.Errorf("the address of the API server is unknown: %w", err)
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

// object returns the name and the labels of an object of this world.
func (w *world) object(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name, Labels: map[string]string{labelRun: w.name}}
}

// secret creates the Secret with the passwords of all databases in this world.
func (w *world) secret(ctx context.Context, keys ...string) error {
	secret := &corev1.Secret{ObjectMeta: w.object(w.name), StringData: map[string]string{}}
	for _, key := range keys {
		secret.StringData[key] = rand.String(24)
	}
	return w.Create(ctx, secret)
}

// await calls ask every second until it returns "" or the time is over. Otherwise it returns what is missing.
func (w *world) await(ctx context.Context, what string, missing func(context.Context) (string, error)) error {
	still := "no observation yet"
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		text, err := missing(ctx)
		switch {
		case apierrors.IsForbidden(err) || meta.IsNoMatchError(err):
			return false, err
		case err == nil:
			still = text
		case ctx.Err() == nil: // retry an unresponsive API server
			still = err.Error()
		}
		return still == "", nil
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("%s: timeout: %s", what, still)
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

// turns waits until a condition of a cluster or a backup is True for its current spec.
func (w *world) turns(ctx context.Context, object client.Object, name string) error {
	what := called(object) + " must become " + name
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

// called describes an object: DatabaseCluster orders.
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

// advice adds a hint to errors that the user can correct.
func advice(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return err.Error() + "; create the scorecard's ServiceAccount and permissions (kubectl apply -k config/scorecard/rbac) and use it " +
			"(operator-sdk scorecard -s databasecluster-operator-scorecard)"
	case meta.IsNoMatchError(err):
		return err.Error() + "; install the operator first"
	}
	return err.Error()
}
