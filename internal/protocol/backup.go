/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"strings"
)

func (b *Backup) check() error {
	return cmp.Or(b.Store.check(b.To, true), needsID(b.ID), b.Part.check(), b.Compression.check(), first(
		rule{b.Reuse != "" && !b.Index, "--reuse needs --index"},
		rule{b.Reuse != "" && (Beside(b.Reuse, "") != Beside(b.To, "") || strings.TrimRight(b.Reuse, "/") == strings.TrimRight(b.To, "/")),
			"--reuse must be the URL of another backup in the same folder as --to"},
	))
}
