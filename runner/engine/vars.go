package engine

import (
	"encoding/json"
	"maps"
	"sync"

	"github.com/seed61713e19/capstan/validators"
)

// A reader reports which variables it reads. Only these are computed.
type reader interface{ Reads(name string) bool }

// shipped is the reader for built-in templates, which read no expensive
// variables.
type shipped struct{}

func (shipped) Reads(name string) bool { return name != "lineage" && name != "history" }

// variables lists the variables of a phase's templates. Items and some
// templates have additional ones.
var variables = []string{
	"input", "state", "outputs", "turn", "turn_number", "max_turns", "attempt", "validation_error", "schema_error", "lineage", "history", "output_schema",
}

// vars returns the variables that r reads.
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
		text, _ := v.p.OutputSchema.MarshalJSON() // cannot fail: the schema was read from a file
		return string(text)
	default: // schema_error: not yet known
		return ""
	}
}

// vars adds the variables of the conversation. A phase without a model gets the
// reasons of a refused attempt only from these variables.
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

// checkVars returns the variables of templates that belong to a check.
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

// verdictSchema returns the schema of a judge's reply.
var verdictSchema = sync.OnceValue(func() json.RawMessage {
	text, _ := json.Marshal(validators.VerdictSchema())
	return text
})
