package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/batch"
)

// maxFailures is how many rows that came to no output have a line each.
const maxFailures = 10

// plainEvery is how often a batch tells where it is, where no living line does.
const plainEvery = 10 * time.Second

// A batchProgress tells a person how far a batch is: the first failures, and on a
// terminal a bar with the time that is left and what was spent.
type batchProgress struct {
	*progress
	total, done, accepted, failed int
	last                          time.Time
	columns                       map[string]bool // that rows have and the first has not
}

func (c *Command) batchProgress(quiet bool, b *batch.Batch) *batchProgress {
	p := &batchProgress{progress: c.progress(quiet), total: b.Set.Count * max(b.Times, 1), columns: map[string]bool{}}
	p.last = p.started
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line("batch %s: %d rows of %s, %d at a time", b.ID(), b.Set.Count, b.Set.File, max(b.Parallel, 1))
	p.show = p.bar
	return p
}

// told takes an outcome.
func (p *batchProgress) told(o batch.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.usage = p.usage.Add(o.Usage)
	switch {
	case o.Status == runner.Succeeded:
		p.accepted++
	default:
		p.failed++
		p.failure(&o)
	}
	p.other(&o)
	if now := p.now(); p.width == nil && now.Sub(p.last) >= plainEvery {
		p.last = now
		p.line("%s", p.where())
	}
}

func (p *batchProgress) failure(o *batch.Outcome) {
	if p.failed > maxFailures {
		return
	}
	why := ""
	if o.Error != nil {
		why = ": " + oneLine(o.Error.Message)
		if at := o.Error.Position.String(); at != "" {
			why += " (" + at + ")"
		}
	}
	var run styledText
	if o.RunID != "" {
		run = "  " + p.styled(faint, o.RunID)
	}
	p.line("%s row %d, line %d: %s%s%s", p.styled(red, "✗"), o.Row, o.Line, o.Status, why, run)
	if p.failed == maxFailures {
		p.line("  further ones are told in the results alone")
	}
}

// other tells once for each kind of row which columns it has that the first has
// not.
func (p *batchProgress) other(o *batch.Outcome) {
	if o.Other != "" && len(p.columns) < maxFailures && !p.columns[o.Other] {
		p.columns[o.Other] = true
		p.line("note: line %d has other columns than the first row: %s", o.Line, oneLine(o.Other))
	}
}

// bar is the living line.
func (p *batchProgress) bar() string {
	const width = 24
	full := 0
	if p.total > 0 {
		full = min(width, width*p.done/p.total)
	}
	return strings.Repeat("█", full) + strings.Repeat("░", width-full) + " " + p.where()
}

// where tells how far the batch is, in a line.
func (p *batchProgress) where() string {
	elapsed := p.now().Sub(p.started)
	said := fmt.Sprintf("%d/%d", p.done, p.total)
	if p.done > 0 {
		said += fmt.Sprintf("  %d accepted, %d not", p.accepted, p.failed)
	}
	said += "  " + spent(p.usage, elapsed)
	if left := p.total - p.done; left > 0 && p.done > 0 {
		said += fmt.Sprintf("  about %s left", (elapsed / time.Duration(p.done) * time.Duration(left)).Round(time.Second))
	}
	return said
}

// close ends the progress with a line about the whole batch.
func (p *batchProgress) close(r batch.Report) {
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	how := green
	if p.failed > 0 {
		how = red
	}
	p.line("%s  %s", p.styled(how, fmt.Sprintf("%d of %d accepted", r.Accepted.K, r.Runs)), p.where())
}
