package trace

import (
	"testing"

	"github.com/seed61713e19/capstan/runner/event"
)

// TestWon checks each sign of the winning sounding: a verdict of a post-ward, the
// output, or a single remaining sounding.
func TestWon(t *testing.T) {
	yes, no := true, false
	began := func(sounding, attempt int) event.Event {
		return event.Event{Kind: event.AttemptStarted, Path: event.Path("a").At("sounding", sounding).At("attempt", attempt), Attempt: attempt}
	}
	finished := func(sounding, attempt int, status, text string) event.Event {
		e := began(sounding, attempt)
		e.Kind, e.Status, e.Text = event.AttemptFinished, status, text
		return e
	}
	judged := func(path event.Path, valid *bool) event.Event {
		return event.Event{Kind: event.VerdictGiven, Path: path, Verdict: &event.Verdict{Path: path, Moment: "post", Validator: "v", Valid: valid}}
	}
	out := func(output any) event.Event {
		return event.Event{Kind: event.PhaseFinished, Path: "a", Phase: "a", Status: "succeeded", Output: output}
	}
	for name, row := range map[string]struct {
		events    []event.Event
		won       int
		last      event.Path
		wantOrder string
	}{
		"none":              {[]event.Event{{Kind: event.AttemptStarted, Path: "a/attempt[1]", Attempt: 1}, out("x")}, -1, "a/attempt[1]", "1"},
		"unfinished":        {[]event.Event{began(1, 1), began(0, 1), finished(0, 1, "succeeded", "x")}, -1, "a/sounding[1]/attempt[1]", "0.1 1.1"},
		"the output":        {[]event.Event{finished(1, 1, "succeeded", "y"), finished(0, 1, "succeeded", "x"), out("y")}, 1, "a/sounding[1]/attempt[1]", "0.1 1.1"},
		"JSON":              {[]event.Event{finished(0, 1, "succeeded", `{"n": 1}`), finished(1, 1, "succeeded", `{"n": 2, "m": []}`), out(map[string]any{"m": []any{}, "n": int64(2)})}, 1, "a/sounding[1]/attempt[1]", "0.1 1.1"},
		"same text, judged": {[]event.Event{finished(0, 1, "succeeded", "x"), finished(1, 1, "succeeded", "x"), judged("a/sounding[1]/attempt[1]/post[0]", &yes), out("x")}, 1, "a/sounding[1]/attempt[1]", "0.1 1.1"},
		"retried":           {[]event.Event{finished(1, 1, "succeeded", "y"), finished(0, 1, "retry", "x"), judged("a/sounding[0]/attempt[1]/post[0]", &no), finished(0, 2, "succeeded", "z"), out("z")}, 0, "a/sounding[0]/attempt[2]", "0.1 0.2 1.1"},
		"the only one":      {[]event.Event{finished(0, 1, "failed", ""), finished(1, 1, "succeeded", "<x>y</x>"), out("y")}, 1, "a/sounding[1]/attempt[1]", "0.1 1.1"},
		"filtered":          {[]event.Event{finished(0, 1, "succeeded", "long"), judged("a/sounding[0]/filter/post[0]", &no), finished(1, 1, "succeeded", "<x>y</x>"), judged("a/sounding[1]/filter/post[0]", &yes), out("y")}, 1, "a/sounding[1]/attempt[1]", "0.1 1.1"},
		"unknown":           {[]event.Event{finished(0, 1, "succeeded", "<x>z</x>"), finished(1, 1, "succeeded", "<x>y</x>"), out("y")}, -1, "a/sounding[1]/attempt[1]", "0.1 1.1"},
		"a filtered output": {[]event.Event{finished(0, 1, "succeeded", "x"), judged("a/sounding[0]/filter/post[0]", nil), finished(1, 1, "succeeded", "x"), out("x")}, 1, "a/sounding[1]/attempt[1]", "0.1 1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := NewFolder()
			f.Add(event.Event{Kind: event.PhaseStarted, Path: "a", Phase: "a"})
			for _, e := range row.events {
				f.Add(e)
			}
			p := f.Run().Phases[0]
			order := ""
			for _, a := range p.Attempts {
				if order != "" {
					order += " "
				}
				if a.Sounding >= 0 {
					order += string(rune('0'+a.Sounding)) + "."
				}
				order += string(rune('0' + a.Number))
			}
			if p.Won() != row.won || p.Last().Path != row.last || order != row.wantOrder {
				t.Errorf("won %d, last %s, in order %s", p.Won(), p.Last().Path, order)
			}
		})
	}
}
