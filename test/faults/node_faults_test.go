//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"errors"
	"syscall"
	"time"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// ofTheNode disturb more than one cluster.
var ofTheNode = []fault{
	{name: "api-server-stopped", inject: stopPart("kube-apiserver"), hold: time.Minute, wholeNode: true},
	{name: "api-server-stopped-and-primary-killed", inject: both(killPrimary, stopPart("kube-apiserver")), hold: time.Minute, wholeNode: true},
	{name: "dns-down", inject: stopPart("coredns"), hold: time.Minute, wholeNode: true},
	{name: "dns-down-and-primary-deleted", inject: both(stopPart("coredns"), deletePod((*world).primary, -1)), hold: time.Minute, wholeNode: true},
	{name: "operator-killed-during-failover", inject: both(freezePrimary, killOperator), hold: killed, wholeNode: true, needsOperator: true},
	{name: "operator-killed-during-rolling-restart", inject: both(rollingRestart, killOperator), hold: killed, wholeNode: true, needsOperator: true},
	{name: "disk-full-on-primary", inject: measured(fillDisk(freed)), hold: time.Minute, disk: growing},
	{name: "disk-full-on-primary-and-grown", inject: measured(fillDisk((*world).grow)), hold: time.Minute, needsOperator: true, disk: growing},
	{name: "disk-fills-on-primary", inject: measured(nearlyFillDisk), hold: time.Minute, needsOperator: true, disk: growing},
}

var (
	killPrimary   = signal((*world).primary, syscall.SIGKILL, lab.Any)
	freezePrimary = signal((*world).primary, syscall.SIGSTOP, lab.Any)
)

// both starts two faults, one directly after the other.
func both(first, second injection) injection {
	return func(w *world) (func() error, error) {
		endFirst, err := first(w)
		if err != nil {
			return endFirst, err
		}
		endSecond, err := second(w)
		return func() error { return errors.Join(end(endFirst), end(endSecond)) }, err
	}
}

func end(heal func() error) error {
	if heal == nil {
		return nil
	}
	return heal()
}

// stopPart stops a part of the node. At the end it starts again, and so does each part that ends because of that: a real
// node restarts them, too. The scheduler ends when its cache does not match an API server that was away.
func stopPart(name string) injection {
	return func(w *world) (func() error, error) {
		return func() error {
			err := lab.StartParts(w.Context())
			w.keepParts()
			return err
		}, lab.StopPart(name)
	}
}

// keepParts starts parts that end, until the end of the run. It waits for the last start, which would heal the next fault.
func (w *world) keepParts() {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lab.KeepParts(w.Context())
	}()
	w.Cleanup(func() { <-ended })
}

// killOperator deletes both replicas of the operator at once, so that the next ones have to wait for the lease.
func killOperator(w *world) (func() error, error) {
	time.Sleep(time.Second) // it has begun to act
	pods, err := w.operatorPods()
	for i := range pods {
		err = errors.Join(err, w.DeletePod(w.Context(), &pods[i], 0))
	}
	return nil, err
}
