/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// inUse returns the newest backup of the data that its cluster used last. After a DatabaseRestore has replaced the data, and after an undo,
// the newest backup can have data that the cluster does not have any more. The archive of the other data then has later commits.
func (s *searchRun) inUse(ctx context.Context, newest string) (folder string, err error) {
	last := s.backups[newest].lineage()
	lineages := s.lineages(protocol.ClusterOf(last))
	if last == "" || len(lineages) < 2 {
		return newest, nil
	}
	var latest time.Time
	for _, lineage := range lineages {
		used, err := s.used(ctx, lineage)
		if err != nil {
			return "", err
		}
		if used.After(latest) {
			last, latest = lineage, used
		}
	}
	if folder = s.newest(func(b candidate) bool { return b.lineage() == last }); folder == "" {
		return "", failf(protocol.BackupUnclear, "No complete backup has the data that the cluster used last: a DatabaseRestore replaced that "+
			"of the newest backup, %s. The archive of the other data is %s. To restore that backup, set its URL in "+
			"spec.bootstrap.fromBackup.location, in place of newest.", s.store.URL(path.Clean(newest)), s.store.URL(protocol.ArchiveFolder(last)))
	}
	return folder, nil
}

// lineages are the kinds of data that a cluster has had, in order.
func (s *searchRun) lineages(cluster string) (all []string) {
	for lineage := range s.archives {
		all = append(all, lineage)
	}
	for _, b := range s.backups {
		all = append(all, b.lineage())
	}
	all = slices.DeleteFunc(all, func(lineage string) bool { return protocol.ClusterOf(lineage) != cluster })
	slices.Sort(all)
	return slices.Compact(all)
}

// used is the last moment at which the cluster is known to have used this data; before the target, if there is one.
func (s *searchRun) used(ctx context.Context, lineage string) (last time.Time, err error) {
	until := time.Now() // a later mark is of a clock that was wrong
	if !s.until.IsZero() && s.until.Before(until) {
		until = s.until
	}
	files, err := s.files(ctx, lineage)
	if err != nil {
		return last, err
	}
	last = files.MarkedUntil(until)
	if newest := s.newest(func(b candidate) bool { return b.lineage() == lineage }); newest != "" && s.backups[newest].Completed.After(last) {
		last = s.backups[newest].Completed
	}
	return last, nil
}

// files are those of an archive; none if there is no archive of this data.
func (s *searchRun) files(ctx context.Context, lineage string) (archive.Listing, error) {
	if known, exists := s.archives[lineage]; known != nil || !exists {
		return known, nil
	}
	folder := protocol.ArchiveFolder(lineage) + "/"
	listed, err := s.store.list(ctx, folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range listed.names() {
		names = append(names, strings.TrimPrefix(name, folder))
	}
	s.archives[lineage] = archive.Read(names)
	return s.archives[lineage], nil
}

// beginning returns the newest backup of the same data with which a recovery can begin. Another cluster of the name has other data. If no
// recovery is known to be able to begin with any, it is the newest one that begins in the archive.
func (s *searchRun) beginning(ctx context.Context, newest string) (folder string, err error) {
	lineage := s.backups[newest].lineage()
	begins := func(b candidate) bool { return b.lineage() == lineage && b.base.Start != "" }
	begin := s.newest(begins)
	if begin == "" || lineage == "" {
		return "", failf(protocol.TargetNotCovered, "The backup %s does not begin in an archive, and no older backup of the same data does. "+
			"Remove spec.bootstrap.fromBackup.recoveryTarget to restore it. %s", s.store.URL(path.Clean(newest)), nameOne)
	}
	files, err := s.files(ctx, lineage)
	if err != nil {
		return "", err
	}
	var bases []archive.BaseBackup
	for _, b := range s.backups {
		if begins(b) {
			bases = append(bases, b.base)
		}
	}
	usable := files.Usable(bases)
	if best := s.newest(func(b candidate) bool { return begins(b) && slices.Contains(usable, b.base.ID) }); best != "" {
		begin = best
	}
	return begin, nil
}
