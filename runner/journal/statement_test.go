package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/postgres"
)

var errStatement = errors.New("it is not so written")

// A breaker is a connection of which one statement fails, once.
type breaker struct {
	link
	left int
	text string // of the one that failed
}

func (b *breaker) breaks(text string) error {
	if b.left--; b.left == 0 {
		b.text = text
		return errStatement
	}
	return nil
}

func (b *breaker) Exec(text string, args ...any) (int64, error) {
	if err := b.breaks(text); err != nil {
		return 0, err
	}
	return b.link.Exec(text, args...)
}

func (b *breaker) Send(when postgres.Order, row func([]driver.Value) error, text string, args ...any) error {
	if err := b.breaks(text); err != nil {
		return err
	}
	return b.link.Send(when, row, text, args...)
}

func (b *breaker) Each(ctx context.Context, row func([]driver.Value) error, text string, args ...any) error {
	if err := b.breaks(text); err != nil {
		return err
	}
	return b.link.Each(ctx, row, text, args...)
}

const everyKind = `
cascade_id: every_kind
phases:
  - {name: draft, instructions: Write., output_schema: {type: string}, rules: {timeout: 60s}, wards: {post: [{judge: "Is it good?"}, {validator: max_length, with: {max: 9000}}]}}
  - {name: asked, instructions: "Ask.", human_input: {prompt: "Publish?", type: confirmation, expires: 10h}}
  - {name: sent, tool: send, inputs: {to: me, text: "{{ outputs.draft }}"}}
  - {name: end, compose: "{{ outputs.draft }}"}
`

// Whichever statement fails of those that write a run, somebody hears of it, and
// the run comes to what it would have come to when it is gone on with.
func TestEveryStatement(t *testing.T) {
	onFile(t)
	c := load(t, everyKind)
	m := &says{answers: map[string]string{"Write.": "\"long\"", "Ask.": "what", "Is it good?": `{"valid": true, "reason": "good"}`}}
	yes := runner.WithAsk(func(context.Context, runner.Question) (runner.Answer, error) { return runner.Answer{Value: true}, nil })
	var want map[event.Path]string
	for k, broken := 0, true; broken; k++ { // none at first, and in the end
		file := filepath.Join(t.TempDir(), "j.db")
		j := journalAt(t, file, Options{})
		b := &breaker{link: j.writer.c.link, left: k}
		j.writer.c.link = b
		result, err := runnerOver(t, j, m, yes).Run(t.Context(), c, nil, runner.WithRunID("run"))
		broken = b.text != "" || k == 0
		if errors.Is(err, errStatement) != (b.text != "") {
			t.Errorf("statement %d, %s: got %+v, %v", k, b.text, result, err)
		}
		j.Close()
		j = journalAt(t, file, Options{})
		if err != nil {
			if result, err = runnerOver(t, j, m, yes).Resume(t.Context(), "run"); errors.Is(err, runner.ErrNoRun) {
				continue // it had not begun
			}
		}
		if err != nil || result.Output != "long" {
			t.Errorf("statement %d, %s: gone on with, got %+v, %v", k, b.text, result, err)
			continue
		}
		effects := effectsOf(t, j, "run")
		if want == nil {
			want = effects
		}
		if got, want := slices.Sorted(maps.Keys(effects)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, want) {
			t.Errorf("statement %d, %s: effects %v, want %v", k, b.text, got, want)
		}
	}
}
