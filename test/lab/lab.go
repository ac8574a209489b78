/*
SPDX-License-Identifier: Apache-2.0
*/

// Package lab runs databases under load on the local node, disturbs them, and counts what their clients saw.
package lab

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const (
	// Patience is the timeout of each wait. It measures nothing.
	Patience = 5 * time.Minute

	every = 250 * time.Millisecond
)

// Lab is one namespace, which enforces Pod Security "restricted".
type Lab struct {
	client.Client
	Namespace string
	// Image is that of the database.
	Image string
}

// New creates the namespace in the cluster of KUBECONFIG.
func New(ctx context.Context, namespace, image string) (*Lab, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), dbv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("read KUBECONFIG: %w", err)
	}
	config.QPS = -1 // no limit
	api, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	labels := map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: labels}}
	if err := api.Create(ctx, object); err != nil {
		return nil, fmt.Errorf("create namespace %s: %w", namespace, err)
	}
	return &Lab{Client: api, Namespace: namespace, Image: image}, nil
}

// Close deletes the namespace with everything in it.
func (l *Lab) Close(ctx context.Context) error {
	var clusters dbv1.DatabaseClusterList
	if err := l.List(ctx, &clusters, client.InNamespace(l.Namespace)); err != nil {
		return err
	}
	for i := range clusters.Items {
		if err := l.DeleteCluster(ctx, &clusters.Items[i]); err != nil {
			return err
		}
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.Namespace}}
	if err := l.Delete(ctx, namespace); err != nil {
		return err
	}
	return l.Gone(ctx, namespace)
}

// Gone waits until an object does not exist.
func (l *Lab) Gone(ctx context.Context, object client.Object) error {
	return Await(ctx, object.GetName()+" to be deleted", func() bool {
		return apierrors.IsNotFound(l.Get(ctx, client.ObjectKeyFromObject(object), object))
	})
}

func clientKey(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}

func (l *Lab) key(name string) client.ObjectKey {
	return clientKey(l.Namespace, name)
}

func (l *Lab) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: l.Namespace, Name: name}
}

// Exec runs a command in a container, and returns its output.
func (l *Lab) Exec(ctx context.Context, pod, container string, command ...string) (string, error) {
	arguments := append([]string{"-n", l.Namespace, "exec", pod, "-c", container, "--"}, command...)
	var problems strings.Builder
	kubectl := exec.CommandContext(ctx, "kubectl", arguments...)
	kubectl.Stderr = &problems
	text, err := kubectl.Output()
	if err != nil {
		return "", fmt.Errorf("%s in %s: %w: %s", strings.Join(command, " "), pod, err, problems.String())
	}
	return strings.TrimSpace(string(text)), nil
}

// Await waits until a condition is true.
func Await(ctx context.Context, what string, done func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, fmt.Errorf("still waiting for %s after %v", what, Patience))
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(every):
		}
	}
	return nil
}
