package cases

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A comparison collects the differences of one replay.
type comparison struct {
	frozen  map[event.Path]*effect
	replay  *replay
	asked   map[event.Path]*effect
	want    expectation
	got     expectation
	found   []Difference
	stopped bool // at something that was not recorded: what follows was not reached
}

// compare gives all differences, in the order in which they came up.
func compare(frozen []*effect, r *replay, want, got expectation) []Difference {
	c := &comparison{frozen: byPath(frozen), replay: r, asked: byPath(r.asked), want: want, got: got, stopped: len(r.missing) > 0}
	c.inOrder()
	if c.stopped {
		return c.found
	}
	for _, e := range frozen {
		if c.asked[e.at] == nil && e.answered() && !r.computed[e.at] {
			c.add(Unused, e.at, "this was recorded, and is not asked for any more", "")
		}
	}
	c.route()
	c.outputs()
	c.ending()
	return c.found
}

func (c *comparison) add(about string, at event.Path, message, diff string) {
	phase, _, _ := strings.Cut(at.First(), "[")
	c.found = append(c.found, Difference{About: about, Path: at, Phase: phase, Message: message, Diff: diff})
}

// inOrder compares what was asked for and what checks found.
func (c *comparison) inOrder() {
	expected := map[event.Path]event.Verdict{}
	for _, v := range c.want.verdicts {
		expected[v.Path] = v
	}
	for _, s := range c.replay.said {
		if s.effect != nil {
			c.effect(s.effect)
			continue
		}
		want, known := expected[s.verdict.Path]
		delete(expected, s.verdict.Path)
		c.verdict(want, known, *s.verdict)
	}
	for _, v := range c.want.verdicts {
		if _, left := expected[v.Path]; left && !c.stopped {
			c.add(Verdict, v.Path, fmt.Sprintf("%s was not asked; expected %s", v.Validator, opinion(v)), "")
		}
	}
}

func (c *comparison) effect(got *effect) {
	want := c.frozen[got.at]
	if want != nil && want.kind != got.kind {
		want = nil
	}
	switch {
	case c.replay.missing[got]:
		c.add(Missing, got.at, "asks for something that was not recorded: "+string(got.at), c.wanted(got))
		if want == nil {
			return
		}
	case want == nil || !want.asked():
		return // cut short before it could be recorded, or not known what it was
	}
	before, after := newIn(want), newIn(got)
	if want.request != nil && want.request.base != got.request.base {
		before, after = c.transcript(want, c.frozen), c.transcript(got, c.asked)
	}
	if before == after {
		return
	}
	message := asks(got) + " is asked something else"
	if changed(want, got) {
		message = "the program of " + asks(got) + " has changed: record a new run, or accept the recorded verdict with --update"
	}
	if got.answered() {
		message += "; the run went on with the recorded answer"
	}
	c.add(Request, got.at, message, diff(before, after))
}

// changed reports whether a program judged the same text and is no longer the same program.
func changed(want, got *effect) bool {
	return want.check != nil && want.check.text == got.check.text && want.check.program != got.check.program
}

// wanted is what was asked for in vain: of a long conversation, what is new.
func (c *comparison) wanted(e *effect) string {
	all := c.transcript(e, c.asked)
	if len(all) > maxDiff/4 && e.request != nil && e.request.base != "" {
		all = fmt.Sprintf("continues: %s\n%s", e.request.base, newIn(e))
	}
	return clip(all)
}

// newIn is what is new in what is asked.
func newIn(e *effect) string {
	if e.request == nil {
		return transcript(e, nil)
	}
	return transcript(e, e.request.messages)
}

// transcript is all that is asked.
func (c *comparison) transcript(e *effect, all map[event.Path]*effect) string {
	return transcript(e, whole(e, all))
}

func (c *comparison) verdict(want event.Verdict, known bool, got event.Verdict) {
	before, after := opinion(want), opinion(got)
	switch {
	case !known:
		c.add(Verdict, got.Path, fmt.Sprintf("%s was not expected to be asked; got %s", got.Validator, after), "")
	case before != after:
		c.add(Verdict, got.Path, fmt.Sprintf("%s: expected %s, got %s", got.Validator, before, after), "")
	}
}

// opinion tells a verdict in words.
func opinion(v event.Verdict) string {
	word := "valid"
	switch {
	case v.Error != nil:
		word = "an error (" + *v.Error + ")"
	case v.Skipped():
		word = "skipped"
	case !*v.Valid:
		word = "not valid"
	}
	s := fmt.Sprintf("%s from the %s ward %s %s", word, v.Mode, v.Moment, v.Validator)
	if v.Reason != "" {
		s += ": " + v.Reason
	}
	return s
}

func (c *comparison) route() {
	if samePhases(c.want.phases, c.got.phases) {
		return
	}
	c.add(Route, "", "the phases are others, or ended otherwise", diff(phases(c.want.phases), phases(c.got.phases)))
}

// samePhases compares the fates of phases; a list that is not there is empty.
func samePhases(a, b []engine.PhaseRecord) bool {
	return slices.EqualFunc(a, b, func(a, b engine.PhaseRecord) bool { return reflect.DeepEqual(a, b) })
}

func phases(list []engine.PhaseRecord) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, "%s %s: attempts %d, turns %d, model calls %d\n", p.Name, p.Status, p.Attempts, p.Turns, p.ModelCalls)
	}
	return b.String()
}

func (c *comparison) outputs() {
	all := map[string]any{}
	maps.Copy(all, c.want.outputs)
	maps.Copy(all, c.got.outputs)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		want, expected := c.want.outputs[name]
		got, there := c.got.outputs[name]
		before, after := written(want), written(got)
		if before == after { // a text may be written as a number is
			before, after = string(indented(want)), string(indented(got))
		}
		switch {
		case !there:
			c.add(Output, event.Path(name), name+" has no output", "")
		case !expected:
			c.add(Output, event.Path(name), name+" was not expected to have an output", clip(after))
		case before != after:
			c.add(Output, event.Path(name), "the output of "+name+" is another", diff(before, after))
		}
	}
	if before, after := written(c.want.degraded), written(c.got.degraded); before != after && len(c.want.degraded)+len(c.got.degraded) > 0 {
		c.add(Output, "", "other outputs are degraded, or by other checks", diff(before, after))
	}
}

func (c *comparison) ending() {
	before, after := ending(c.want), ending(c.got)
	if before != after {
		c.add(Status, "", fmt.Sprintf("the run is %s, expected %s", c.got.status, c.want.status), diff(before, after))
	}
	if c.want.calls != c.got.calls {
		c.add(CallCount, "", fmt.Sprintf("%d model calls, expected %d", c.got.calls, c.want.calls), "")
	}
}

func ending(e expectation) string {
	s := e.status + "\n"
	if e.err != nil {
		s += fmt.Sprintf("code: %s\nphase: %s\n%s\n", e.err.Code, e.err.Phase, e.err.Message)
	}
	return s
}

// written is a value as a person reads it: a text as it is, else JSON.
func written(v any) string {
	if s, ok := v.(string); ok {
		return ended(s)
	}
	return string(indented(v)) + "\n"
}

// ended puts a line's end behind a text, whatever it ends with: texts that
// differ in that alone stay different.
func ended(s string) string { return s + "\n" }

// indented is a value's JSON with its keys in order.
func indented(v any) []byte {
	text, err := schema.Indent(v)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// maxDiff bounds what one difference shows, in bytes.
const maxDiff = 64 << 10

func diff(before, after string) string { return clip(udiff.Unified("expected", "got", before, after)) }

func clip(s string) string {
	if len(s) <= maxDiff {
		return s
	}
	return strings.ToValidUTF8(s[:maxDiff], "") + fmt.Sprintf("\n… and %d bytes more\n", len(s)-maxDiff)
}
