/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
)

// first is the cluster that exists before all measurements.
const first = "recipe-of-all"

func (w *world) startOperator(ctx context.Context) error {
	clusters, err := newLoad(ctx, w.admin, operatorClusters)
	if err != nil {
		return err
	}
	if w.scraping, err = w.token(ctx, operatorNamespace, scraper); err != nil {
		return err
	}
	leader, err := w.startManager(ctx)
	if err != nil {
		return err
	}
	w.operator = &contestant{
		name: "operator", user: user(operatorNamespace, operatorAccount), load: clusters, process: leader.process,
		heap: leader.heap,
	}
	return w.operator.begin(ctx)
}

// begin creates the first cluster.
func (c *contestant) begin(ctx context.Context) error {
	say("%s: the first cluster", c.name)
	_, err := c.load.one(ctx, first)
	if err != nil {
		return err
	}
	c.lastHeap, err = c.heap(ctx)
	return err
}

func (w *world) startFloor(ctx context.Context) error {
	if w.operator == nil {
		return nil // ignore a failed attempt
	}
	clusters, err := newLoad(ctx, w.admin, floorClusters)
	kubeconfig, kubeconfigErr := w.kubeconfig(ctx, floorClusters, floorAccount)
	objects, objectsErr := w.writeRecipes(ctx, first)
	address, addressErr := freeAddress()
	self, selfErr := os.Executable()
	if err := errors.Join(err, kubeconfigErr, objectsErr, addressErr, selfErr); err != nil {
		return err
	}
	program, err := start(filepath.Join(w.dir, "floor.log"), self, "floor",
		"--kubeconfig="+kubeconfig, "--namespace="+floorClusters, "--objects="+objects, "--heap-address="+address)
	if err != nil {
		return err
	}
	w.floor = &contestant{
		name: "floor", user: user(floorClusters, floorAccount), load: clusters, process: program,
		heap: func(ctx context.Context) (float64, error) { return floorHeap(ctx, address) },
	}
	return w.floor.begin(ctx)
}

func floorHeap(ctx context.Context, address string) (float64, error) {
	text, err := get(ctx, http.DefaultClient, "http://"+address, "")
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

// get reads from a contestant.
func get(ctx context.Context, client *http.Client, url, token string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", url, err)
	}
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s responded %s: %s", url, response.Status, body)
	}
	return string(body), nil
}
