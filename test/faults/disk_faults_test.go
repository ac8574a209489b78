//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/lab"
)

const (
	// growing is a StorageClass whose volumes can be full.
	growing = "growing"
	// filling is the file that fills a volume.
	filling = "/var/lib/database/fill"
	// soon is when clients must write again after the volumes have grown.
	soon = 30 * time.Second
)

// measured lets the operator measure the volumes before a disk fills. Afterward, the primary must be the same one, without a failover.
func measured(fill injection) injection {
	return func(w *world) (func() error, error) {
		if err := w.Spec(w.Context(), map[string]any{"storage": map[string]any{"usage": dbv1.StorageUsageMeasured}}); err != nil {
			return nil, err
		}
		before, err := w.reign()
		if err != nil {
			return nil, err
		}
		heal, err := fill(w)
		return func() error { return errors.Join(end(heal), w.keeps(before)) }, err
	}
}

// reign is the primary with its timeline, which changes with each failover.
func (w *world) reign() (string, error) {
	primary, err := w.primary()
	if err != nil {
		return "", err
	}
	timeline, err := w.SQL(w.Context(), primary.Name, "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)")
	return primary.Name + " on timeline " + timeline, err
}

func (w *world) keeps(before string) error {
	var now string
	err := lab.Await(w.Context(), "the primary to answer", func() bool {
		is, err := w.reign()
		now = is
		return err == nil
	})
	if err == nil && now != before {
		err = fmt.Errorf("there was a failover: the primary was %s, and is %s", before, now)
	}
	return err
}

// fillDisk fills the volume of the primary at once, faster than it is measured.
func fillDisk(heal func(*world, *corev1.Pod) error) injection {
	return func(w *world) (func() error, error) {
		primary, err := w.primary()
		if err != nil {
			return nil, err
		}
		_, err = w.Exec(w.Context(), primary.Name, "database", "sh", "-c", "dd if=/dev/zero of="+filling+" bs=1M 2>/dev/null || true")
		return func() error { return heal(w, primary) }, err
	}
}

// freed deletes the file.
func freed(w *world, primary *corev1.Pod) error {
	return lab.Await(w.Context(), "the file that fills the disk to be deleted", func() bool {
		_, err := w.Exec(w.Context(), primary.Name, "database", "rm", "-f", filling)
		return err == nil
	})
}

// nearlyFillDisk leaves a thirtieth of the volume free, and waits until the database is protected.
func nearlyFillDisk(w *world) (func() error, error) {
	primary, err := w.primary()
	if err != nil {
		return nil, err
	}
	const most = `set -- $(stat -f -c '%a %b %S' /var/lib/database); head -c $((($1 - $2 / 30) * $3)) /dev/zero > ` + filling
	if _, err := w.Exec(w.Context(), primary.Name, "database", "sh", "-c", most); err != nil {
		return nil, err
	}
	err = lab.Await(w.Context(), "the database to be protected", func() bool {
		cluster, err := w.Object(w.Context())
		return err == nil && cluster.Status.Storage.Protection != nil && cluster.Status.Storage.Protection.State == dbv1.ProtectionProtected
	})
	return func() error { return w.grow(primary) }, err
}

// grow enlarges the volumes, and waits until clients write.
func (w *world) grow(primary *corev1.Pod) error {
	cluster, err := w.Object(w.Context())
	if err != nil {
		return err
	}
	size := cluster.Spec.Storage.Size.DeepCopy()
	size.Add(resource.MustParse("1Gi"))
	if err := w.Spec(w.Context(), map[string]any{"storage": map[string]any{"size": size.String()}}); err != nil {
		return err
	}
	err = lab.Await(w.Context(), "the volumes to grow", func() bool {
		cluster, err := w.Object(w.Context())
		return err == nil && cluster.Status.Storage.Capacity != nil && cluster.Status.Storage.Capacity.Cmp(size) == 0
	})
	grown := time.Now()
	if err := errors.Join(err, w.writers.AwaitProgress(w.Context())); err != nil {
		return err
	}
	took := time.Since(grown)
	w.Logf("clients wrote %.1f s after the volumes had grown", took.Seconds())
	if took > soon {
		return fmt.Errorf("clients wrote %.0f s after the volumes had grown", took.Seconds())
	}
	return freed(w, primary)
}
