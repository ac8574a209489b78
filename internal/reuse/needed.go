/*
SPDX-License-Identifier: Apache-2.0
*/

package reuse

import "github.com/dbcluster/databasecluster-operator/internal/protocol"

// Needed are the streams that backups need, by the folder of each stream.
type Needed struct {
	folders map[string]bool
	streams map[streamKey]bool
}

type streamKey struct {
	folder  string
	member  int
	attempt string
}

// Add adds the streams to which a complete backup refers.
func (n *Needed) Add(manifest *protocol.Manifest) {
	for _, stream := range manifest.Streams {
		for _, source := range stream.Sources {
			if n.streams == nil {
				n.streams = map[streamKey]bool{}
			}
			n.streams[streamKey{source.Folder, source.Stream.Member, source.Stream.Attempt}] = true
		}
	}
}

// Hold adds everything in the folders: a backup that is not complete may refer to any stream there.
func (n *Needed) Hold(folders []string) {
	for _, folder := range folders {
		if n.folders == nil {
			n.folders = map[string]bool{}
		}
		n.folders[folder] = true
	}
}

// Object reports whether a backup needs an object of a stream.
func (n *Needed) Object(folder, name string) bool {
	if n.folders[folder] {
		return true
	}
	for stream := range n.streams {
		if stream.folder == folder && protocol.IsOfAttempt(name, stream.member, stream.attempt) {
			return true
		}
	}
	return false
}

// Folder reports whether a backup needs anything of a folder.
func (n *Needed) Folder(folder string) bool {
	if n.folders[folder] {
		return true
	}
	for stream := range n.streams {
		if stream.folder == folder {
			return true
		}
	}
	return false
}
