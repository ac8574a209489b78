package netpol

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

const (
	// collecting is the time in which changes are collected for one write of the rules.
	collecting = 20 * time.Millisecond
	// retry is the time until a failed write is repeated.
	retry = time.Second
)

// Run keeps a table of packet rules up to date until the context ends.
func Run(ctx context.Context, kubeconfig, table string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connect to the API server: %w", err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	changed := make(chan struct{}, 1)
	read, err := reader(factory, func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	factory.Start(ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return errors.Join(ctx.Err(), fmt.Errorf("list %v", kind))
		}
	}
	keep(ctx, table, read, changed)
	return nil
}

// reader returns a function that reads the current objects. It calls another one after each change.
func reader(factory informers.SharedInformerFactory, notify func()) (func() World, error) {
	pods, namespaces, policies := factory.Core().V1().Pods(), factory.Core().V1().Namespaces(), factory.Networking().V1().NetworkPolicies()
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { notify() }, UpdateFunc: func(any, any) { notify() }, DeleteFunc: func(any) { notify() },
	}
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), namespaces.Informer(), policies.Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, fmt.Errorf("watch: %w", err)
		}
	}
	return func() (w World) {
		// Listers over a cache return no errors.
		w.Pods, _ = pods.Lister().List(labels.Everything())
		w.Namespaces, _ = namespaces.Lister().List(labels.Everything())
		w.Policies, _ = policies.Lister().List(labels.Everything())
		return w
	}, nil
}

// keep writes the rules now and after each change.
func keep(ctx context.Context, table string, read func() World, changed chan struct{}) {
	written := ""
	for {
		pause := time.Duration(0)
		if script := Rules(table, read()); script != written {
			if err := load(ctx, script); err != nil {
				klog.ErrorS(err, "Cannot write the rules")
				pause = retry
			} else {
				written = script
			}
		}
		var again <-chan time.Time
		if pause > 0 {
			again = time.After(pause)
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-changed:
			time.Sleep(collecting)
		}
	}
}

// load replaces the table in one transaction.
func load(ctx context.Context, script string) error {
	command := exec.CommandContext(ctx, "nft", "--file", "-")
	command.Stdin = strings.NewReader(script)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("nft: %w: %s", err, output)
	}
	return nil
}
