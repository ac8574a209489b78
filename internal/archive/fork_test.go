/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"testing"
	"time"
)

// A database leaves its history at the end of a file, and the archive never gets the next one. So it does not have the name in the record.
func TestAForkBetweenTwoFilesGivesUpNothingBeforeIt(t *testing.T) {
	for fork, c := range map[string]struct {
		usable bool
		newest int64
	}{
		"7-04":  {true, 20}, // of the two marks before the fork, the last one may be of a server that was alone
		"7-045": {true, 20}, // the names have gaps
		"7-01":  {false, 0}, // all of it was given up
		"8-04":  {false, 0}, // nothing is known of that place
		"other": {false, 0}, // names have no order without a part that they have in common
	} {
		p := newPast(t, 1)
		p.filed("7-02", 20)
		p.filed("7-03", 30)
		p.add(p.record.Record(Fork, fork, 0))
		files := Read(p.names)
		backup := BaseBackup{Start: "7-02", Ended: time.Unix(25, 0), Trusted: true}
		if _, based := files.Spans([]BaseBackup{backup}); based != c.usable {
			t.Errorf("%s: the backup is usable: %v", fork, based)
		}
		if newest := files.Newest(); c.newest != 0 && newest.Unix() != c.newest || c.newest == 0 && !newest.IsZero() {
			t.Errorf("%s: the newest moment is %s", fork, newest)
		}
		p.filed("8-04", 40)
		spans, _ := Read(p.names).Spans([]BaseBackup{backup})
		if c.usable != (len(spans) == 1 && spans[0].Newest.Unix() == 40) {
			t.Errorf("%s: %v can be recovered", fork, spans)
		}
	}
}
