package backtest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/signatures"
)

// A Text is a text that passed its phase's checks in a recorded run, with what
// the run knew when they judged it.
type Text struct {
	Run     string
	Cascade string // as in [Row]
	Path    event.Path
	Phase   *cascades.Phase
	Said    engine.Said

	of     *cascades.Cascade
	state  engine.State
	locals map[string]any
}

// Given is a text that no run gave: as if the phase had said it first, with such
// an input, and outputs of phases before it.
func Given(c *cascades.Cascade, p *cascades.Phase, name, text string, input, outputs map[string]any) Text {
	k := begin(c, name, "", input, nil)
	maps.Copy(k.state.Outputs, outputs)
	return Text{Run: name, Path: event.Path(p.Name), Phase: p, Said: engine.Said{At: event.Path(p.Name), Attempt: 1, Text: text}, of: c, state: k.state}
}

// Past is the phase as it was when the text was judged. It is the caller's own,
// and not safe for concurrent use.
func (t Text) Past(h engine.Host) *engine.Past {
	s := t.state
	return engine.NewPast(h, t.of, t.Phase, &s, t.locals)
}

// Content is what a phase that is a validator was given to look at; false where
// its inputs name no content.
func (t Text) Content() (content any, given bool) {
	vars := (&known{t.state}).vars()
	maps.Copy(vars, t.locals)
	inputs, err := t.Phase.Inputs.Render(vars)
	if err != nil {
		return nil, false
	}
	content, given = inputs["content"]
	return content, given
}

// On is the text with another content for such a phase to look at.
func (t Text) On(content any) Text {
	p := *t.Phase
	p.Inputs = maps.Clone(p.Inputs)
	p.Inputs["content"] = content
	t.Phase = &p
	return t
}

// CascadeID is the cascade that the phase is of.
func (t Text) CascadeID() string { return t.of.ID }

// Known is every text that the phase could read: the input, the outputs of the
// phases before it, the state, and what an item brings.
func (t Text) Known() string {
	var b strings.Builder
	var add func(v any)
	add = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				add(v[name])
			}
		case []any:
			for _, e := range v {
				add(e)
			}
		case nil:
		default:
			fmt.Fprintln(&b, v)
		}
	}
	for _, part := range []map[string]any{t.state.Input, t.state.Outputs, t.state.State, t.locals} {
		add(part)
	}
	return b.String()
}

// Alike is one digest for all texts of a phase that its checks would be given alike:
// the same was said, by a run that knew the same. It is "" where that cannot be told.
func (t Text) Alike() string {
	s := t.state
	s.RunID = ""
	knew, err := json.Marshal([]any{t.Cascade, t.Said.Attempt, t.Said.Turn, t.Said.Unfit, s, s.Given.Names(), t.locals})
	if err != nil {
		return ""
	}
	return signatures.Digest(append(knew, t.Said.Text...))
}

// Texts gives the texts that the runs released because every check that counts
// let them pass, in the order of the runs. One that was released though a check
// had said no is none of them.
func (t Test) Texts(ctx context.Context) ([]Text, error) {
	t.collect = true
	parts, err := t.parts(ctx)
	if err != nil {
		return nil, err
	}
	var list []Text
	for _, p := range parts {
		list = append(list, p.texts...)
	}
	return list, nil
}

// collected keeps the text that the visit let out, as the run was when the
// checks saw it.
func (v *visitTest) collected() {
	if !v.collect || v.visit.Status != engine.Succeeded {
		return
	}
	a := winner(v.visit)
	if n := len(v.visit.Edits); n > 0 {
		a = v.visit.Edits[n-1]
	}
	if a.Path == "" || a.Status != engine.Succeeded {
		return
	}
	said := finalSlot(a).said
	state := v.known.state
	state.Outputs, state.Lineage = maps.Clone(state.Outputs), slices.Clone(state.Lineage)
	v.texts = append(v.texts, Text{v.run, v.name, a.Path, v.phase, said, v.Cascade, state, v.locals})
}
