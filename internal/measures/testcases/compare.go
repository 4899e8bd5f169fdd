package testcases

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/textdiff"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// A comparison collects the differences of one replay.
type comparison struct {
	stored  map[event.Path]*effect
	replay  *replay
	asked   map[event.Path]*effect
	want    expectation
	got     expectation
	found   []Difference
	stopped bool // at a request that was not recorded
}

// compare returns all differences, in the order of the run.
func compare(stored []*effect, r *replay, want, got expectation) []Difference {
	c := &comparison{stored: byPath(stored), replay: r, asked: byPath(r.asked), want: want, got: got, stopped: len(r.missing) > 0}
	c.inOrder()
	if c.stopped {
		return c.found
	}
	for _, e := range stored {
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

// inOrder compares the requests and the verdicts.
func (c *comparison) inOrder() {
	expected := map[event.Path]verdict{}
	for _, v := range c.want.Verdicts {
		expected[v.Path] = v
	}
	for _, s := range c.replay.log {
		if s.effect != nil {
			c.effect(s.effect)
			continue
		}
		want, known := expected[s.verdict.Path]
		delete(expected, s.verdict.Path)
		c.verdict(want, known, *s.verdict)
	}
	for _, v := range c.want.Verdicts {
		if _, left := expected[v.Path]; left && !c.stopped {
			c.add(Verdict, v.Path, fmt.Sprintf("%s was not asked; expected %s", v.Validator, describe(v)), "")
		}
	}
}

func (c *comparison) effect(got *effect) {
	want := c.stored[got.at]
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
		return // it was interrupted, or its request is unknown
	}
	before, after := newText(want), newText(got)
	if want.request != nil && want.request.base != got.request.base {
		before, after = c.transcript(want, c.stored), c.transcript(got, c.asked)
	}
	if before == after {
		return
	}
	message := recipient(got) + " is asked something else"
	if changed(want, got) {
		message = "the program of " + recipient(got) + " has changed: record a new run, or accept the recorded verdict with --update"
	}
	if got.answered() {
		message += "; the run went on with the recorded answer"
	}
	c.add(Request, got.at, message, diff(before, after))
}

// changed reports whether the program of the same text has changed.
func changed(want, got *effect) bool {
	return want.check != nil && want.check.digest == got.check.digest && want.check.program != got.check.program
}

// wanted returns a request that was not recorded. A long conversation is cut to its new messages.
func (c *comparison) wanted(e *effect) string {
	all := c.transcript(e, c.asked)
	if len(all) > maxDiff/4 && e.request != nil && e.request.base != "" {
		all = fmt.Sprintf("continues: %s\n%s", e.request.base, newText(e))
	}
	return clips.Sized(all, maxDiff)
}

// newText returns the new part of a request.
func newText(e *effect) string {
	if e.request == nil {
		return transcript(e, nil)
	}
	return transcript(e, e.request.messages)
}

// transcript returns the whole request.
func (c *comparison) transcript(e *effect, all map[event.Path]*effect) string {
	return transcript(e, allMessages(e, all))
}

func (c *comparison) verdict(want verdict, known bool, got verdict) {
	before, after := describe(want), describe(got)
	switch {
	case !known:
		c.add(Verdict, got.Path, fmt.Sprintf("%s was not expected to be asked; got %s", got.Validator, after), "")
	case before != after:
		c.add(Verdict, got.Path, fmt.Sprintf("%s: expected %s, got %s", got.Validator, before, after), "")
	}
}

// describe returns a verdict in words.
func describe(v verdict) string {
	word := "valid"
	switch {
	case v.Error != nil:
		word = "an error (" + *v.Error + ")"
	case v.Valid == nil:
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
	if samePhases(c.want.Phases, c.got.Phases) {
		return
	}
	c.add(Route, "", "the phases are others, or ended otherwise", diff(phases(c.want.Phases), phases(c.got.Phases)))
}

// samePhases compares the results of phases. A nil list is empty.
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
	maps.Copy(all, c.want.Outputs)
	maps.Copy(all, c.got.Outputs)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		want, expected := c.want.Outputs[name]
		got, there := c.got.Outputs[name]
		before, after := display(want), display(got)
		if before == after { // a text may look like a number
			before, after = string(indented(want)), string(indented(got))
		}
		switch {
		case !there:
			c.add(Output, event.Path(name), name+" has no output", "")
		case !expected:
			c.add(Output, event.Path(name), name+" was not expected to have an output", clips.Sized(after, maxDiff))
		case before != after:
			c.add(Output, event.Path(name), "the output of "+name+" is another", diff(before, after))
		}
	}
	if before, after := display(c.want.Degraded), display(c.got.Degraded); before != after && len(c.want.Degraded)+len(c.got.Degraded) > 0 {
		c.add(Output, "", "other outputs are degraded, or by other checks", diff(before, after))
	}
}

func (c *comparison) ending() {
	before, after := ending(c.want), ending(c.got)
	if before != after {
		c.add(Status, "", fmt.Sprintf("the run is %s, expected %s", c.got.Status, c.want.Status), diff(before, after))
	}
	if c.want.Calls != c.got.Calls {
		c.add(CallCount, "", fmt.Sprintf("%d model calls, expected %d", c.got.Calls, c.want.Calls), "")
	}
}

func ending(e expectation) string {
	s := e.Status + "\n"
	if e.Error != nil {
		s += fmt.Sprintf("code: %s\nphase: %s\n%s\n", e.Error.Code, e.Error.Phase, e.Error.Message)
	}
	return s
}

// display returns a text as it is, and other values as JSON.
func display(v any) string {
	if s, ok := v.(string); ok {
		return withNewline(s)
	}
	return string(indented(v)) + "\n"
}

// withNewline adds a line end to every text, so that texts that differ in their last line end stay
// different.
func withNewline(s string) string { return s + "\n" }

// indented returns the JSON of a value with sorted keys.
func indented(v any) []byte {
	text, err := schema.Indent(v)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// maxDiff is the maximum size of a difference, in bytes.
const maxDiff = 64 << 10

func diff(before, after string) string {
	return clips.Sized(textdiff.Unified("expected", "got", before, after), maxDiff)
}
