/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// first is the cluster that exists before all measurements.
const first = "first-of-all"

// nameOfFloor is the name of the floor.
const nameOfFloor = "floor"

// contestant is one of the operators, or the floor.
type contestant struct {
	description
	user       string // in the audit log
	kubeconfig string
	load       *load
	programs   []*program // the last one is the current one

	size int // the number of its clusters in this round
}

func (c *contestant) program() *program { return c.programs[len(c.programs)-1] }

// join deploys a contestant and starts it. It creates a first cluster, so that the discovery of the API is complete
// before the measurements.
func (w *world) join(ctx context.Context, d description) (*contestant, error) {
	say("%s: deploying it", d.Name)
	namespace, account, err := w.deploy(ctx, d)
	if err != nil {
		return nil, err
	}
	c := &contestant{description: d, user: "system:serviceaccount:" + namespace + ":" + account}
	if c.kubeconfig, err = w.writeKubeconfig(ctx, d.Name, namespace, account); err != nil {
		return nil, err
	}
	if c.load, err = newLoad(ctx, w.dynamic, w.admin.RESTMapper(), d, w.patience); err != nil {
		return nil, err
	}
	if w.form == thin {
		if err := playNodes(ctx, w.clients, c.load.namespace); err != nil {
			return nil, err
		}
	}
	w.contestants = append(w.contestants, c)
	if _, err := w.launch(ctx, c); err != nil {
		return nil, err
	}
	say("%s: the first cluster", c.Name)
	if _, err = c.load.one(ctx, first); err != nil {
		return nil, fmt.Errorf("the first cluster, see %s: %w", c.program().log, err)
	}
	return c, nil
}

// deploy applies the manifests of a contestant and creates its namespaces. It returns its ServiceAccount.
func (w *world) deploy(ctx context.Context, d description) (namespace, account string, err error) {
	for _, path := range d.Manifests {
		if err := apply(ctx, path); err != nil {
			return "", "", err
		}
	}
	namespace, account, given := strings.Cut(d.Account, "/")
	commands := [][]string{{"create", "namespace", "bench-" + d.Name}}
	if given {
		// The operator runs on this machine.
		commands = append(commands, []string{"-n", namespace, "delete", "deployments", "--all"})
	} else {
		namespace, account = "bench-"+d.Name+"-system", d.Name
		commands = append(commands,
			[]string{"create", "namespace", namespace},
			[]string{"-n", namespace, "create", "serviceaccount", account},
			[]string{"create", "clusterrolebinding", namespace, "--clusterrole=cluster-admin", "--serviceaccount=" + namespace + ":" + account})
	}
	return namespace, account, kubectl(ctx, commands...)
}

// apply applies a file, a directory of files or a kustomization, and waits for its CRDs.
func apply(ctx context.Context, path string) error {
	flag := "-f"
	if _, err := os.Stat(filepath.Join(path, "kustomization.yaml")); err == nil {
		flag = "-k"
	}
	return kubectl(ctx, []string{"apply", "--server-side", flag, path},
		// kubectl fails on a CRD that the API server does not serve yet.
		[]string{"wait", "--for=condition=Established", "crd", "--all"})
}

// joinFloor starts the floor, which writes the same objects as an operator.
func (w *world) joinFloor(ctx context.Context, like *contestant) error {
	objects, err := w.writeRecipes(ctx, like, first)
	self, selfErr := os.Executable()
	if err := errors.Join(err, selfErr); err != nil {
		return err
	}
	_, err = w.join(ctx, description{
		Name: nameOfFloor, Binary: self, Resource: like.Resource, Ready: like.Ready,
		Arguments: []string{
			nameOfFloor, "--kubeconfig=${KUBECONFIG}", "--namespace=${NAMESPACE}", "--objects=" + objects, "--metrics-address=${METRICS}",
		},
		Metrics: "http://${METRICS}/metrics",
	})
	return err
}

// joinAll starts all contestants. The first one is this operator.
func (w *world) joinAll(ctx context.Context, described []description) error {
	for n, d := range described {
		if d.Version != "" {
			w.report.fact("commit of "+d.Name, d.Version)
		}
		c, err := w.join(ctx, d)
		if err != nil {
			return fmt.Errorf("start %s: %w", d.Name, err)
		}
		if n == 0 {
			if err := w.joinFloor(ctx, c); err != nil {
				return fmt.Errorf("start the floor: %w", err)
			}
		}
	}
	return nil
}
