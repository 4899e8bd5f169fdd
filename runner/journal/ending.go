package journal

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
)

// An ending is how a run ended, as its row has it.
type ending struct {
	result                   engine.Result
	data                     []byte
	finished, phases, events int64
	reason, broke            any // texts, or nil
	asksNothing              int64
}

// ending is that of a result whose long texts go with a piece.
func (r *recording) ending(with *piece, result engine.Result) (e ending, err error) {
	result.Output, result.Outputs = with.packer.lift(result.Output), with.packer.liftObject(result.Outputs)
	e.result = result
	if e.data, err = r.encodeResult(with, result); err == nil && result.Error != nil {
		var raw []byte
		raw, err = encodings.Of(result.Error)
		e.reason = string(with.secrets.redact(raw)) // whole: lists of runs look no texts up
	}
	if err != nil {
		return e, fmt.Errorf("result: %w", err)
	}
	if result.Status != engine.Waiting && (result.Error == nil || final(result.Status, result.Error.Code)) {
		e.asksNothing = 1
	}
	return e, nil
}

// broken is all that broke, a path a line; behind the mark what gave an answer that
// was of no use. No name in a path has a line's end or the mark.
func broken(why *engine.Error) string {
	var lines []string
	at, useless := why.Broken()
	for _, path := range at {
		lines = append(lines, string(path))
	}
	for _, path := range useless {
		lines = append(lines, uselessMark+string(path))
	}
	return strings.Join(lines, "\n")
}

const uselessMark = "\t"

// fallen are the paths of all that broke, true those of what gave an answer that was
// of no use.
type fallen map[event.Path]bool

func readFallen(broken string) fallen {
	all := fallen{}
	for line := range strings.SplitSeq(broken, "\n") {
		path, gave := strings.CutPrefix(line, uselessMark)
		all[event.Path(path)] = gave || all[event.Path(path)]
	}
	return all
}

// over gives the path of what broke that is at or above another, "" where none is.
func (f fallen) over(at event.Path) event.Path {
	for at != "" {
		if _, there := f[at]; there {
			break
		}
		at = at.Up()
	}
	return at
}

// useless tells of a call that it was of no use.
func (f fallen) useless(kind string, at event.Path) bool { return kind == modelEffect && f[f.over(at)] }

func (e *ending) write(c *conn, n int64) error {
	if err := c.send("INSERT INTO result (run, data, sum) VALUES (?, ?, ?) ON CONFLICT (run) DO UPDATE SET data = excluded.data, sum = excluded.sum", n, string(e.data), checksum(e.data)); err != nil {
		return err
	}
	u := e.result.Usage
	return c.send(`UPDATE run SET status = ?, finished = ?, phases = ?, events = ?, calls = ?, input_tokens = ?,
		output_tokens = ?, cost_usd = ?, error = ?, broke = ?, owner = NULL, pending = CASE WHEN ? = 1 THEN NULL ELSE pending END WHERE n = ?`,
		e.result.Status, e.finished, e.phases, e.events, int64(u.Calls), int64(u.InputTokens), int64(u.OutputTokens), u.CostUSD, e.reason, e.broke, e.asksNothing, n)
}
