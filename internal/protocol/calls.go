/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"slices"
	"time"
)

// Args are the arguments of the program.
func (b *Backup) Args() []string { return words("backup", b) }

func (b *Backup) options() []option {
	known := []string{AboutCluster, AboutNamespace, AboutBackup, AboutEngine, AboutImage, AboutClusterUID}
	return slices.Concat(
		[]option{at(&b.To, "to"), text(&b.ID, "id", "", "the `UID` of the backup")},
		b.Part.options(),
		[]option{
			pairs(&b.About, "about", known, "`key=value`, which the manifest will hold; may be repeated"),
			checkOption(&b.Check),
			toggle(&b.Complete, "complete", "then complete the backup: every member's part has to be there"),
		},
		b.Store.options(),
		[]option{size(&b.PieceSize, "piece-size", 1<<30, maxPieceBytes, "the `size` at which the stored stream is cut")},
		b.Patience.options(),
		b.Report.options(),
	)
}

func (b *Backup) check() error {
	return cmp.Or(b.Store.check(b.To, true), needsID(b.ID), b.Part.check())
}

func (b *Backup) runs() *[]string { return &b.Command }

// Args are the arguments of the program.
func (r *Restore) Args() []string { return words("restore", r) }

func (r *Restore) options() []option {
	return slices.Concat(
		[]option{
			at(&r.From, "from"),
			text(&r.ID, "id", "", "the `UID` of what is restored: another try of it begins anew, anything else is refused"),
			text(&r.Into, "into", "", "the empty `directory` that the command fills"),
		},
		r.Part.options(), r.Store.options(), r.Patience.options(), r.Report.options(),
	)
}

func (r *Restore) check() error {
	return cmp.Or(r.Store.check(r.From, true), needsID(r.ID), r.Part.check(), first(rule{r.Into == "", "--into must be given"}))
}

func (r *Restore) runs() *[]string { return &r.Command }

// Args are the arguments of the program.
func (d *Delete) Args() []string { return words("delete", d) }

func (d *Delete) options() []option {
	return slices.Concat(
		[]option{at(&d.At, "at"), text(&d.ID, "id", "", "the `UID` of the backup")},
		d.Store.options(), d.Report.options(),
	)
}

func (d *Delete) check() error { return cmp.Or(d.Store.check(d.At, true), needsID(d.ID)) }

func (d *Delete) runs() *[]string { return nil }

// Args are the arguments of the program.
func (l *List) Args() []string { return words("list", l) }

func (l *List) options() []option {
	return slices.Concat(
		[]option{at(&l.At, "at")}, l.Store.options(), []option{toggle(&l.JSON, "json", "print JSON")}, l.Report.options(),
	)
}

func (l *List) check() error { return l.Store.check(l.At, false) }

func (l *List) runs() *[]string { return nil }

// Args are the arguments of the program.
func (p *Probe) Args() []string { return words("probe", p) }

func (p *Probe) options() []option {
	return append([]option{
		period(&p.Timeout, "timeout", 5*time.Minute, "how long to try; as long again for --check"),
		toggle(&p.ByExitCode, "by-exit-code", "the exit code alone answers: what the command prints is only told, and a try may take as long as all"),
		checkOption(&p.Check),
		period(&p.Interval, "interval", time.Second, "how long to wait between two tries"),
	}, p.Report.options()...)
}

func (p *Probe) check() error { return nil }

func (p *Probe) runs() *[]string { return &p.Command }

// Args are the arguments of the program.
func (i *Install) Args() []string { return []string{"install", i.Folder} }

// ResultPath is where Kubernetes reads it.
func (i *Install) ResultPath() string { return ResultFile }

func (i *Install) options() []option { return nil }
func (i *Install) check() error      { return nil }
func (i *Install) runs() *[]string   { return nil }

func (p *Part) options() []option {
	said := func() bool { return p.Members > 0 }
	return []option{
		number(&p.Member, "member", 0, said, "the ordinal of the member"),
		number(&p.Members, "members", 1, said, "how many members the backup is of"),
	}
}

func (p *Part) check() error {
	return first(rule{p.Member < 0 || p.Member >= p.Members, "--member must be from 0 to below --members"})
}

func (p *Patience) options() []option {
	return []option{
		period(&p.IdleTimeout, "idle-timeout", 15*time.Minute, "how long an action may print nothing, and a store not answer"),
		period(&p.ProgressInterval, "progress-interval", 5*time.Second, "how often to tell the progress"),
	}
}

func (r *Report) options() []option {
	return []option{text(&r.Result, "result", ResultFile, "the `file` that the result is written to, as JSON")}
}

func checkOption(field *[]string) option {
	return command(field, "check", "a `word` of the command that prints facts about the data as one JSON object; repeat it for each word")
}

func needsID(id string) error { return first(rule{id == "", "--id must be given"}) }
