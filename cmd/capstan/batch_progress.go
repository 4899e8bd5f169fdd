package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/runner/engine"
)

// maxFailures is the maximum number of failed rows with a line of their own.
const maxFailures = 10

// plainEvery is the time between two lines of progress without a terminal.
const plainEvery = 10 * time.Second

// A batchProgress shows the progress of a batch: the first failures, and on a terminal a bar with
// the remaining time and the costs.
type batchProgress struct {
	*progress
	total, done, accepted, failed int
	last                          time.Time
	columns                       map[string]bool // differences from the columns of the first row
}

func (c *Command) batchProgress(quiet bool, b *batch.Batch) *batchProgress {
	p := &batchProgress{progress: c.progress(quiet), total: b.Dataset.Count * max(b.Times, 1), columns: map[string]bool{}}
	p.last = p.started
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line("batch %s: %d rows of %s, %d at a time", b.ID(), b.Dataset.Count, b.Dataset.File, max(b.Parallel, 1))
	p.show = p.bar
	return p
}

// add counts an outcome.
func (p *batchProgress) add(o batch.Outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.usage = p.usage.Add(o.Usage)
	switch {
	case o.Status == engine.Succeeded:
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
	reason := ""
	if o.Error != nil {
		reason = ": " + oneLine(o.Error.Message)
		if at := o.Error.Position.String(); at != "" {
			reason += " (" + at + ")"
		}
	}
	var run styledText
	if o.RunID != "" {
		run = "  " + p.styled(faint, o.RunID)
	}
	p.line("%s row %d, line %d: %s%s%s", p.styled(red, "✗"), o.Row, o.Line, o.Status, reason, run)
	if p.failed == maxFailures {
		p.line("  only the results list further ones")
	}
}

// other prints a note for each new difference from the columns of the first row.
func (p *batchProgress) other(o *batch.Outcome) {
	if o.Other != "" && len(p.columns) < maxFailures && !p.columns[o.Other] {
		p.columns[o.Other] = true
		p.line("note: line %d has other columns than the first row: %s", o.Line, oneLine(o.Other))
	}
}

// bar returns the progress line of a terminal.
func (p *batchProgress) bar() string {
	const width = 24
	full := 0
	if p.total > 0 {
		full = min(width, width*p.done/p.total)
	}
	return strings.Repeat("█", full) + strings.Repeat("░", width-full) + " " + p.where()
}

// where returns the progress in one line.
func (p *batchProgress) where() string {
	elapsed := p.now().Sub(p.started)
	text := fmt.Sprintf("%d/%d", p.done, p.total)
	if p.done > 0 {
		text += fmt.Sprintf("  %d accepted, %d not", p.accepted, p.failed)
	}
	text += "  " + spent(p.usage, elapsed)
	if left := p.total - p.done; left > 0 && p.done > 0 {
		text += fmt.Sprintf("  about %s left", (elapsed / time.Duration(p.done) * time.Duration(left)).Round(time.Second))
	}
	return text
}

// close prints the last line about the batch.
func (p *batchProgress) close(r batch.Result) {
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	how := green
	if p.failed > 0 {
		how = red
	}
	p.line("%s  %s", p.styled(how, fmt.Sprintf("%d of %d accepted", r.Accepted.K, r.Runs)), p.where())
}
