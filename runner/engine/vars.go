package engine

import (
	"encoding/json"
	"maps"
	"sync"

	"github.com/seed61713e19/capstan/validators"
)

// A reader tells which variables it reads: only those are made.
type reader interface{ Reads(name string) bool }

// shipped is the reader that a text of ours is: it reads nothing that is dear to
// make.
type shipped struct{}

func (shipped) Reads(name string) bool { return name != "lineage" && name != "history" }

// variables are the names of what a phase's templates may read, beside the names
// of an item and what comes with the place of the template.
var variables = []string{
	"input", "state", "outputs", "turn", "turn_number", "max_turns", "attempt", "validation_error", "schema_error", "lineage", "history", "output_schema",
}

// vars are the variables of the phase's templates that r reads.
func (v *visit) vars(r reader) map[string]any {
	vars := make(map[string]any, 4)
	for _, name := range variables {
		if r.Reads(name) {
			vars[name] = v.variable(name)
		}
	}
	maps.Copy(vars, v.locals)
	return vars
}

func (v *visit) variable(name string) any {
	switch name {
	case "input":
		return v.s.Input
	case "state":
		return v.s.State
	case "outputs":
		return v.s.Outputs
	case "turn":
		return 0
	case "turn_number":
		return 1
	case "max_turns":
		return v.p.Rules.MaxTurns
	case "attempt":
		return max(v.record.Attempts, 1)
	case "validation_error":
		return v.validated
	case "lineage":
		return v.lineage()
	case "history":
		return []any{}
	case "output_schema":
		if v.p.OutputSchema == nil {
			return ""
		}
		text, _ := v.p.OutputSchema.MarshalJSON() // it was read from a file
		return string(text)
	default: // schema_error: there is none yet
		return ""
	}
}

// vars adds what has been said to the phase's variables. A phase without a model hears
// why its attempt was refused in these variables alone.
func (t *try) vars(r reader) map[string]any {
	vars := t.visit.vars(r)
	vars["turn"], vars["turn_number"], vars["attempt"] = t.turn, t.turn+1, max(t.attempt, 1)
	if t.talk == nil && t.attempt > 1 && t.edit == nil {
		vars["validation_error"], vars["schema_error"] = t.reasons, t.broken
	}
	if r.Reads("history") {
		vars["history"] = t.history()
	}
	return vars
}

// checkVars are the variables of templates that belong to a check.
func (f *flow) checkVars(s validators.Subject, r reader) map[string]any {
	vars := map[string]any{
		"input": s.Input, "state": s.State, "outputs": s.Outputs, "content": s.Content, "output": s.Output,
		"turn": s.Turn, "turn_number": s.Turn + 1, "attempt": s.Attempt, "max_turns": 0, "validation_error": "", "schema_error": "",
		"tool": s.Tool, "history": []any{},
	}
	if r.Reads("lineage") {
		vars["lineage"] = f.lineage()
	}
	maps.Copy(vars, s.Locals)
	return vars
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
	if t.talk == nil {
		return list
	}
	for _, m := range t.talk.Messages() {
		list = append(list, map[string]any{"role": string(m.Role), "content": m.Content})
	}
	return list
}

// verdictSchema is what a judge's model is asked to follow.
var verdictSchema = sync.OnceValue(func() json.RawMessage {
	text, _ := json.Marshal(validators.VerdictSchema())
	return text
})
