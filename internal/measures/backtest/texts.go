package backtest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Text is a text that passed the checks of its phase in a recorded run, with the state at that
// time.
type Text struct {
	Run      string
	Cascade  string // as in [Row]
	Path     event.Path
	Phase    *cascades.Phase
	Recorded engine.RecordedText

	of     *cascades.Cascade
	state  engine.State
	locals map[string]any
}

// NewText returns a text without a run, as if it were the first text of the phase with this input
// and these outputs of earlier phases.
func NewText(c *cascades.Cascade, p *cascades.Phase, name, text string, input, outputs map[string]any) Text {
	k := newSnapshot(c, name, "", input, nil)
	maps.Copy(k.state.Outputs, outputs)
	return Text{Run: name, Path: event.Path(p.Name), Phase: p, Recorded: engine.RecordedText{At: event.Path(p.Name), Attempt: 1, Text: text}, of: c, state: k.state}
}

// Recheck returns the phase in the state in which the text was judged. It is not safe for
// concurrent use.
func (t Text) Recheck(h engine.Host) *engine.Recheck {
	s := t.state
	return engine.NewRecheck(h, t.of, t.Phase, &s, t.locals)
}

// Content returns the content that a phase gets if it is a validator, and reports whether its
// inputs have a content.
func (t Text) Content() (content any, ok bool) {
	vars := (&snapshot{t.state}).vars()
	maps.Copy(vars, t.locals)
	inputs, err := t.Phase.Inputs.Render(vars)
	if err != nil {
		return nil, false
	}
	content, ok = inputs["content"]
	return content, ok
}

// WithContent returns the text with another content for a phase that is a validator.
func (t Text) WithContent(content any) Text {
	p := *t.Phase
	p.Inputs = maps.Clone(p.Inputs)
	p.Inputs["content"] = content
	t.Phase = &p
	return t
}

// CascadeID returns the id of the cascade of the phase.
func (t Text) CascadeID() string { return t.of.ID }

// Sources returns all texts that the phase could read: the input, earlier outputs, the state and
// the variables of an item.
func (t Text) Sources() string {
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

// Key returns a digest that is equal for texts whose checks get the same values. It returns "" if
// the state cannot be encoded.
func (t Text) Key() string {
	s := t.state
	s.RunID = ""
	knew, err := json.Marshal([]any{t.Cascade, t.Recorded.Attempt, t.Recorded.Turn, t.Recorded.Unfit, s, s.DefaultModel.Names(), t.locals})
	if err != nil {
		return ""
	}
	return signatures.Digest(append(knew, t.Recorded.Text...))
}

// Texts returns the released texts that passed every check, in the order of the runs. A text that
// was released after a rejection is not included.
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

// collectText stores the released text of the visit, with the state that its checks got.
func (v *visitTest) collectText() {
	if !v.collect || v.visit.Status != engine.Succeeded {
		return
	}
	a := releasedAttempt(v.visit)
	if n := len(v.visit.Edits); n > 0 {
		a = v.visit.Edits[n-1]
	}
	if a.Path == "" || a.Status != engine.Succeeded {
		return
	}
	recorded := finalSlot(a).text
	state := v.snapshot.state
	state.Outputs, state.Lineage = maps.Clone(state.Outputs), slices.Clone(state.Lineage)
	v.texts = append(v.texts, Text{v.run, v.name, a.Path, v.phase, recorded, v.Cascade, state, v.locals})
}
