/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// floorWorkers is the number of workers of the operator.
const floorWorkers = 8

// floor is the minimal client: it writes the objects of a cluster, waits until the StatefulSet is ready and sets the
// status once. It checks and repairs nothing, and ignores changes.
type floor struct {
	namespace string
	recipes   []recipe
	clients   kubernetes.Interface
	clusters  metadata.ResourceInterface
	jobs      chan func(context.Context) error
	said      sync.Map // by name: the status is set
}

// runFloor is the program of the floor.
func runFloor(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("floor", flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "The kubeconfig for the API server.")
	namespace := flags.String("namespace", "", "The namespace of the clusters.")
	objects := flags.String("objects", "", "The file with the objects of a cluster.")
	address := flags.String("metrics-address", "", "The address that serves the metrics of Go.")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	f := &floor{namespace: *namespace, jobs: make(chan func(context.Context) error, 1<<16)}
	text, err := os.ReadFile(*objects)
	if err != nil {
		return fmt.Errorf("read the objects: %w", err)
	}
	if err := json.Unmarshal(text, &f.recipes); err != nil {
		return fmt.Errorf("read the objects: %w", err)
	}
	if err := f.watch(ctx, *kubeconfig); err != nil {
		return err
	}
	go serveMetrics(*address)
	return f.work(ctx)
}

// watch watches for clusters and ready StatefulSets.
func (f *floor) watch(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS = -1
	if f.clients, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	names, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	kind := dbv1.GroupVersion.WithResource("databaseclusters")
	f.clusters = names.Resource(kind).Namespace(f.namespace)

	clusters := metadatainformer.NewFilteredSharedInformerFactory(names, 0, f.namespace, nil)
	created := cache.ResourceEventHandlerFuncs{AddFunc: f.created}
	if _, err := clusters.ForResource(kind).Informer().AddEventHandler(created); err != nil {
		return fmt.Errorf("watch clusters: %w", err)
	}
	sets := informers.NewSharedInformerFactoryWithOptions(f.clients, 0, informers.WithNamespace(f.namespace))
	changed := cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, after any) { f.changed(after) }}
	if _, err := sets.Apps().V1().StatefulSets().Informer().AddEventHandler(changed); err != nil {
		return fmt.Errorf("watch StatefulSets: %w", err)
	}
	clusters.Start(ctx.Done())
	sets.Start(ctx.Done())
	clusters.WaitForCacheSync(ctx.Done())
	sets.WaitForCacheSync(ctx.Done())
	return nil
}

func (f *floor) created(object any) {
	if cluster, ok := object.(*metav1.PartialObjectMetadata); ok {
		f.jobs <- func(ctx context.Context) error { return f.write(ctx, cluster.Name, cluster.UID) }
	}
}

func (f *floor) changed(object any) {
	set, ok := object.(*appsv1.StatefulSet)
	if !ok || set.Spec.Replicas == nil || set.Status.ReadyReplicas != *set.Spec.Replicas {
		return
	}
	if _, said := f.said.LoadOrStore(set.Name, true); !said {
		f.jobs <- func(ctx context.Context) error { return f.report(ctx, set.Name) }
	}
}

// work exits at the first failed request: figures with errors are useless.
func (f *floor) work(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	for range floorWorkers {
		go func() {
			for ctx.Err() == nil {
				job := <-f.jobs
				if err := job(ctx); err != nil {
					fail(err)
				}
			}
		}()
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func (f *floor) write(ctx context.Context, name string, uid types.UID) error {
	fill := strings.NewReplacer(placeName, name, placeNamespace, f.namespace, placeUID, string(uid))
	for _, r := range f.recipes {
		err := f.clients.CoreV1().RESTClient().Post().AbsPath(fill.Replace(r.Path)).
			Param("fieldManager", "floor").SetHeader("Content-Type", runtime.ContentTypeJSON).Body([]byte(fill.Replace(r.Body))).Do(ctx).Error()
		if err != nil {
			return fmt.Errorf("write for %s: %w", name, err)
		}
	}
	return nil
}

func (f *floor) report(ctx context.Context, name string) error {
	ready := metav1.Condition{
		Type: dbv1.ConditionReady, Status: metav1.ConditionTrue, Reason: dbv1.ReasonReady,
		Message: "all members are ready", LastTransitionTime: metav1.Now(),
	}
	if err := setStatus(ctx, f.clusters.Patch, name, map[string]any{"conditions": []metav1.Condition{ready}}); err != nil {
		return fmt.Errorf("set the status of %s: %w", name, err)
	}
	return nil
}

func serveMetrics(address string) {
	server := &http.Server{Addr: address, ReadHeaderTimeout: time.Minute, Handler: metricsOfGo()}
	say("the metrics server stopped: %v", server.ListenAndServe())
}

// metricsOfGo serves the metrics of the Go runtime, as operators do.
func metricsOfGo() http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsAll)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}
