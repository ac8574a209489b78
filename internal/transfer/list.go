/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Listed is a complete backup in the output of list.
type Listed struct {
	Location string `json:"location"`
	*protocol.Manifest
}

// list prints every complete backup below the location.
func (r *run) list(ctx context.Context, call *protocol.List) error {
	store, err := openStore(ctx, call.At, call.Store)
	if err != nil {
		return err
	}
	defer store.close() //nolint:errcheck // nothing is pending
	r.secrets = store.secrets

	backups, err := r.backups(ctx, store)
	if err != nil {
		return err
	}
	if call.JSON {
		encoder := json.NewEncoder(r.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(backups)
	}
	if len(backups) == 0 {
		r.log.Warn(fmt.Sprintf("There is no complete backup below %s. Correct the location.", store.URL("")))
	}
	return r.table(backups)
}

// backups returns the backups with a readable manifest, newest first. It warns about unreadable manifests: an archived
// or forbidden manifest must not hide other backups. It fails if all manifests are unreadable.
func (r *run) backups(ctx context.Context, store *store) ([]Listed, error) {
	listed, err := store.list(ctx, "")
	if err != nil {
		return nil, err
	}
	backups, unreadable := []Listed{}, error(nil)
	for _, name := range listed.complete() {
		manifest, err := readManifest(ctx, store, name)
		if err == nil {
			backups = append(backups, Listed{store.URL(path.Dir(name)), manifest})
			continue
		}
		failure := failureOf(err)
		if failure.exitCode() == protocol.ExitTransient || ctx.Err() != nil {
			return nil, err
		}
		r.log.Warn(failure.Message)
		if failure.Reason != protocol.ManifestInvalid {
			unreadable = err
		}
	}
	if len(backups) == 0 && unreadable != nil {
		return nil, unreadable
	}
	slices.SortStableFunc(backups, func(a, b Listed) int {
		return cmp.Or(b.Completed.Compare(a.Completed), cmp.Compare(a.Location, b.Location))
	})
	return backups, nil
}

// complete returns the manifests of complete backups below a location.
func (l listing) complete() []string {
	return slices.DeleteFunc(l.names(), func(name string) bool {
		_, deleted := l[path.Join(path.Dir(name), protocol.DeletedName)]
		return path.Base(name) != protocol.ManifestName || protocol.IsMemberManifest(name) || deleted
	})
}

func (r *run) table(backups []Listed) error {
	table := tabwriter.NewWriter(r.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "LOCATION\tCLUSTER\tENGINE\tMEMBERS\tFINISHED\tSIZE\tSTORED")
	for _, backup := range backups {
		var given, stored int64
		for _, stream := range backup.Streams {
			given, stored = given+stream.Bytes, stored+stream.StoredBytes
		}
		cluster := path.Join(backup.About[protocol.AboutNamespace], backup.About[protocol.AboutCluster])
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", backup.Location, cmp.Or(cluster, "-"), cmp.Or(backup.About[protocol.AboutEngine], "-"),
			backup.Members, backup.Completed.Format(time.RFC3339), size(given), size(stored))
	}
	return table.Flush()
}

// size formats a number of bytes.
func size(bytes int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	unit, value := 0, float64(bytes)
	for value >= 1024 && unit < len(units)-1 {
		unit, value = unit+1, value/1024
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
