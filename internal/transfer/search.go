/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// searchRun is a run that finds the newest complete backup of a cluster. A new cluster starts empty if there is none, so everything that is
// not understood is a failure, and never "no backup".
type searchRun struct {
	*run
	*protocol.Search
	store *store
	until time.Time
	// backups are the complete backups by their folders, with a slash.
	backups map[string]candidate
	// archives are the archives by the data that they are of; nil until they are listed.
	archives map[string]archive.Listing
	// unclear are objects that are no complete backup.
	unclear []string
}

// candidate is a complete backup.
type candidate struct {
	*protocol.Manifest
	// base is its place in the archive; the zero value if no recovery can begin with it.
	base archive.BaseBackup
}

// lineage identifies its data: that of a cluster, until a DatabaseRestore replaced it. "" if it is unknown.
func (c candidate) lineage() string { return c.About[protocol.AboutClusterUID] }

func (s *searchRun) do(ctx context.Context) (result protocol.Result, err error) {
	result.Started = time.Now().UTC()
	if s.until, err = s.Moment(); err != nil {
		return result, err
	}
	if s.store, err = openStore(ctx, s.At, s.Store); err != nil {
		return result, err
	}
	defer s.store.close() //nolint:errcheck // only read
	s.secrets = s.store.secrets
	if err := s.read(ctx); err != nil {
		return result, err
	}
	result.Found, err = s.found(ctx)
	result.Completed = time.Now().UTC()
	return result, err
}

// read reads every folder.
func (s *searchRun) read(ctx context.Context) error {
	folders, others, err := s.store.entries(ctx)
	if err != nil {
		return err
	}
	s.backups, s.archives = map[string]candidate{}, map[string]archive.Listing{}
	for _, name := range others {
		s.unclear = append(s.unclear, s.store.URL(name)+", which is no part of a backup")
	}
	for _, folder := range folders {
		if strings.HasPrefix(folder, protocol.ArchiveFolder(s.ID)) {
			return s.own(folder)
		}
		archives, err := s.store.archives(ctx, folder)
		switch {
		case err != nil:
		case archives: // it is not listed, because it may have many objects
			s.archives[path.Clean(strings.TrimPrefix(folder, protocol.ArchiveFolder("")))] = nil
			s.unclear = append(s.unclear, "an archive, "+s.store.URL(folder))
		default:
			err = s.readBackup(ctx, folder)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readBackup reads a folder. One with an unreadable manifest may have the newest backup.
func (s *searchRun) readBackup(ctx context.Context, folder string) error {
	listed, err := s.store.list(ctx, folder)
	if err != nil {
		return err
	}
	for _, name := range listed.names() {
		if !protocol.IsOwned(strings.TrimPrefix(name, folder)) {
			s.unclear = append(s.unclear, s.store.URL(name)+", which is no part of a backup")
		}
	}
	if kind := incomplete(listed, folder); kind != "" {
		s.unclear = append(s.unclear, kind+", "+s.store.URL(folder))
	}
	if !isComplete(listed, folder) {
		return nil
	}
	manifest, err := readManifest(ctx, s.store, folder+protocol.ManifestName)
	switch {
	case err != nil && (failureOf(err).exitCode() == protocol.ExitTransient || ctx.Err() != nil):
		return err
	case err != nil:
		return failf(protocol.BackupUnclear, "%s It is unknown whether this is the newest backup. If you do not need it, delete its folder. %s",
			failureOf(err).Message, nameOne)
	case strings.HasPrefix(manifest.About[protocol.AboutClusterUID], s.ID):
		return s.own(folder)
	}
	s.backups[folder] = s.candidate(manifest, folder, listed)
	return nil
}

func (s *searchRun) candidate(manifest *protocol.Manifest, folder string, listed listing) candidate {
	found := candidate{Manifest: manifest}
	if len(manifest.Streams) == 1 && archiveFile(&manifest.Streams[0]) != "" {
		found.base, _ = baseOf(manifest, s.store, folder, listed) // the restore reports what is missing
	}
	return found
}

// isComplete reports whether a folder has a complete backup that is not deleted.
func isComplete(listed listing, folder string) bool {
	_, deleted := listed[folder+protocol.DeletedName]
	_, complete := listed[folder+protocol.ManifestName]
	return complete && !deleted
}

// incomplete is what a folder has if it has no complete backup; "" if it has one, or nothing.
func incomplete(listed listing, folder string) string {
	_, deleted := listed[folder+protocol.DeletedName]
	switch {
	case deleted:
		return "what is left of a deleted backup"
	case len(listed) == 0 || isComplete(listed, folder):
		return ""
	default:
		return "an incomplete backup"
	}
}

// nameOne is the way out of every search.
const nameOne = "To restore a backup that you know, set its URL in spec.bootstrap.fromBackup.location, in place of newest."

// own refuses what the cluster has written itself: it had members before, although its status does not show that.
func (s *searchRun) own(folder string) error {
	return failf(protocol.IDMismatch, "%s is of this cluster itself, so it had data before, and its status was lost. Restore its volumes, or "+
		"delete the cluster and create it again.", s.store.URL(folder))
}

// found returns the newest backup, or that there is none.
func (s *searchRun) found(ctx context.Context) (*protocol.Found, error) {
	if len(s.backups) == 0 {
		return s.nothing(ctx)
	}
	newest := s.newest(func(candidate) bool { return true })
	if newest == "" {
		return nil, failf(protocol.TargetNotCovered, "No backup below %s was complete before %s. Choose a later time in "+
			"spec.bootstrap.fromBackup.recoveryTarget.", s.store.URL(""), s.Until)
	}
	newest, err := s.inUse(ctx, newest)
	if err == nil && s.Recovers {
		newest, err = s.beginning(ctx, newest)
	}
	if err != nil {
		return nil, err
	}
	m := s.backups[newest]
	return &protocol.Found{
		Location: s.store.URL(path.Clean(newest)), Engine: m.About[protocol.AboutEngine], Image: m.About[protocol.AboutImage],
		Members: m.Members, Completed: m.Completed,
	}, nil
}

// newest returns the folder of the newest backup that counts; "" for none. Of two at the same time, it is always the same one.
func (s *searchRun) newest(counts func(candidate) bool) (folder string) {
	for name, b := range s.backups {
		if !s.until.IsZero() && b.Completed.After(s.until) || !counts(b) {
			continue
		}
		last, found := s.backups[folder]
		if !found || b.Completed.After(last.Completed) || b.Completed.Equal(last.Completed) && name > folder {
			folder = name
		}
	}
	return folder
}

// nothing returns that the folder is empty, if it is. It looks once more, in a way of its own: a service that is not S3, or a folder that
// is a link, can look empty in a listing.
func (s *searchRun) nothing(ctx context.Context) (*protocol.Found, error) {
	left, err := s.store.anything(ctx)
	if err != nil {
		return nil, err
	}
	if left != "" {
		s.unclear = append(s.unclear, left)
	}
	if len(s.unclear) == 0 {
		return &protocol.Found{}, nil
	}
	more := ""
	if others := len(s.unclear) - 1; others > 0 {
		more = fmt.Sprintf(" and %d more", others)
	}
	return nil, failf(protocol.BackupUnclear, "There is no complete backup below %s, but it is not empty: it has %s%s. If you need nothing "+
		"of it, delete it with the tools of the destination. Otherwise, wait until a backup is complete, or correct the location. %s",
		s.store.URL(""), s.unclear[0], more, nameOne)
}
