/*
SPDX-License-Identifier: Apache-2.0
*/

package reuse

import (
	"cmp"
	"slices"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// SourcesOf returns the streams to which the next backup of a member may refer: the stream of the last backup, in a folder, and those to
// which it refers. A stream that is little used is none of them, so what is left of it is stored again. All of them must be encrypted for
// the recipient of the next backup, or none.
func SourcesOf(folder string, last *protocol.Stream, recipient string) []protocol.Source {
	all := slices.Clone(last.Sources)
	if last.NewBytes > 0 {
		all = append(all, protocol.Source{Folder: folder, UsedBytes: last.NewBytes, Stream: own(*last)})
	}
	all = slices.DeleteFunc(all, func(s protocol.Source) bool {
		return s.Stream.Index == nil || s.Stream.Recipient != recipient || s.UsedBytes*leastUse < s.Stream.NewBytes
	})
	slices.SortStableFunc(all, func(a, b protocol.Source) int { return cmp.Compare(b.UsedBytes, a.UsedBytes) })
	if len(all) > protocol.MaxSources {
		// The smaller half becomes one stream: if only the smallest one did, each further backup would store one again.
		all = all[:protocol.MaxSources/2]
	}
	return all
}

// own is a stream without what it refers to.
func own(stream protocol.Stream) protocol.Stream {
	stream.Sources, stream.Order, stream.Check = nil, nil, nil
	return stream
}
