package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
)

// vars are the variables of the phase's templates.
func (v *visit) vars(turn int) map[string]any {
	vars := map[string]any{
		"input": v.s.Input, "state": v.s.State, "outputs": v.s.Outputs,
		"turn": turn, "turn_number": turn + 1, "max_turns": v.p.Rules.MaxTurns, "attempt": max(v.record.Attempts, 1),
		"validation_error": v.validated, "schema_error": "",
	}
	maps.Copy(vars, v.locals)
	return vars
}

// vars adds what has been said to the phase's variables.
func (t *try) vars(turn int) map[string]any {
	vars := t.visit.vars(turn)
	vars["attempt"] = max(t.attempt, 1)
	vars["history"] = lazy(t.history)
	return vars
}

// checkVars are the variables of templates that belong to a check.
func (f *flow) checkVars(s validators.Subject) map[string]any {
	vars := map[string]any{
		"input": s.Input, "state": s.State, "outputs": s.Outputs, "content": s.Content, "output": s.Output,
		"turn": s.Turn, "turn_number": s.Turn + 1, "attempt": s.Attempt, "max_turns": 0, "validation_error": "", "schema_error": "",
		"tool": s.Tool,
	}
	maps.Copy(vars, s.Locals)
	return vars
}

// A lazy variable is made where a template reads it.
type lazy func() any

// render renders a template, making the variables that it needs.
func (f *flow) render(t *templates.Template, vars map[string]any) (string, error) {
	for _, name := range t.Names() {
		f.fill(vars, name.Path[0])
	}
	return t.Render(vars)
}

// values renders values, making the variables that they need.
func (f *flow) values(v cascades.Values, vars map[string]any) (map[string]any, error) {
	for _, name := range []string{"lineage", "history"} {
		if v.Reads(name) {
			f.fill(vars, name)
		}
	}
	return v.Render(vars)
}

// fill makes a variable that is dear to make.
func (f *flow) fill(vars map[string]any, name string) {
	switch name {
	case "lineage":
		vars[name] = f.lineage()
	case "history":
		if make, ok := vars[name].(lazy); ok {
			vars[name] = make()
		} else if vars[name] == nil {
			vars[name] = []any{}
		}
	}
}

func (f *flow) lineage() any {
	list := make([]any, len(f.s.Lineage))
	for i, p := range f.s.Lineage {
		list[i] = map[string]any{"phase": p.Phase, "output": p.Output}
	}
	return list
}

func (t *try) history() any {
	list := []any{}
	if t.thread == nil {
		return list
	}
	for _, m := range t.thread.Messages() {
		list = append(list, map[string]any{"role": string(m.Role), "content": m.Content})
	}
	return list
}

var prompts sync.Map // name → *templates.Template

// prompt renders one of the texts that we wrote.
func prompt(name string, vars map[string]any) (string, error) {
	if t, ok := prompts.Load(name); ok {
		return t.(*templates.Template).Render(vars)
	}
	source, ok := templates.Prompt(name)
	if !ok {
		return "", fmt.Errorf("prompt %s is not shipped", name)
	}
	t, err := templates.Parse(source)
	if err != nil {
		return "", fmt.Errorf("prompt %s: %w", name, err)
	}
	prompts.Store(name, t)
	return t.Render(vars)
}

// mark is what the tags around foreign texts carry in a prompt: a word that
// stands in none of them, so that no text can close its tags, however it spells
// them. It is the same when a run is done again, in a provider's cache, and when
// a secret in the text has become another, none of which a random one or a
// digest would be. A mark in front of each line would leave the line ends that
// we do not know of, and costs tokens.
func mark(texts ...string) string {
	taken := map[string]bool{}
	for _, text := range texts {
		for _, word := range markLike().FindAllString(text, -1) {
			taken[strings.ToLower(word)] = true
		}
	}
	for n := 1; ; n++ {
		if word := fmt.Sprintf("q%d", n); !taken[word] {
			return word
		}
	}
}

var markLike = patterns.Lazy(`[qQ][1-9][0-9]{0,8}`)

// verdictSchema is what a judge's model is asked to follow.
var verdictSchema = sync.OnceValue(func() json.RawMessage {
	text, _ := json.Marshal(validators.VerdictSchema())
	return text
})

// parseJSON reads a text that is JSON. Prose, which most texts are, is told by
// its first letter.
func parseJSON(s string) (any, error) {
	if start := strings.TrimLeft(s, " \t\r\n"); start == "" || strings.IndexByte(`{["-0123456789tfn`, start[0]) < 0 {
		return nil, errNoJSON
	}
	return schema.Parse([]byte(s))
}

var errNoJSON = errors.New("the text is not JSON")

// text is a value as a model or a check reads it: a string as it is, anything
// else as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
