// Package hooks judges what coding agents are about to do. A coding agent starts a
// program, its hook, with a payload as JSON before it writes a file, runs a command or
// ends. [Decode] reads the payload of any agent of the table tables/agents.yaml,
// [Gate.Decide] applies the hooks of a cascade, and [Event.Answer] speaks the agent's own
// protocol. Each decision is a run in the journal, named after the agent, its session,
// the rule and the file, so that attempts are counted across processes.
//
// A payload that fits no row of the table is refused. Events that cannot refuse are
// recorded. Begin with Gate.Decide.
package hooks

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

//go:embed tables/agents.yaml
var table []byte

// An agent is one row of the table: one form of the payloads of one program.
type agent struct {
	Agent   string
	Has     []string
	Lacks   []string
	Events  map[string]string
	Answers map[string]any
	Install install
	Open    []string
}

type agentTable struct {
	Fields    map[string][]string
	Tools     []string
	Protected []string
	Agents    []*agent
}

var agents = sync.OnceValue(func() agentTable {
	var t agentTable
	if err := yaml.Unmarshal(table, &t); err != nil {
		panic(fmt.Sprintf("tables/agents.yaml: %v", err)) // it is part of the program, and a test reads it
	}
	return t
})

// The kinds of events that no hook of a cascade covers.
const (
	onTool  = "tool"
	onStart = "start"
	onNote  = "note"
)

// Agents returns the names of the known coding agents.
func Agents() (names []string) {
	for _, a := range agents().Agents {
		if !slices.Contains(names, a.Agent) {
			names = append(names, a.Agent)
		}
	}
	slices.Sort(names)
	return names
}

// find returns the row of a payload; nil if no row has its fields and its event. name may
// be empty.
func find(name, event string, payload map[string]any) *agent {
	present := func(field string) bool { return payload[field] != nil }
	for _, a := range agents().Agents {
		if (name == "" || a.Agent == name) && !slices.ContainsFunc(a.Has, func(f string) bool { return !present(f) }) &&
			!slices.ContainsFunc(a.Lacks, present) && a.Events[event] != "" {
			return a
		}
	}
	return nil
}

// field returns the value of the first present field of a meaning.
func field(in map[string]any, meaning string) any {
	for _, name := range agents().Fields[meaning] {
		if v := in[name]; v != nil {
			return v
		}
	}
	return nil
}

// text returns a field that must be text; "" if it is absent.
func text(in map[string]any, meaning string) (string, error) {
	switch v := field(in, meaning).(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("%s must be text", agents().Fields[meaning][0])
	}
}

// An Answer is the output of a hook and its exit status.
type Answer struct {
	Stdout []byte
	Stderr string
	Status int
}

// Answer returns the answer to the agent that sent the event. e may be an event that
// [Decode] could read in part only.
func (e *Event) Answer(d Decision) Answer {
	d.Reason = cut(d.Reason)
	refusal := Answer{Stderr: d.Reason + "\n", Status: 2}
	row := e.agent
	switch {
	case !d.Refuse && d.Reason == "":
		return Answer{}
	case !d.Refuse:
		refusal.Status = 0
		return refusal
	case row == nil:
		row = rowOf(e.Agent)
	}
	if row == nil {
		return refusal
	}
	form := row.Answers[e.kind]
	if end := row.Answers["end"]; d.Ends && end != nil && e.kind != onTool {
		form = end
	}
	if form == nil {
		form = row.Answers["any"]
	}
	if body, err := json.Marshal(filled(form, d.Reason)); err == nil && form != nil {
		return Answer{Stdout: append(body, '\n')}
	}
	return refusal
}

// rowOf returns the row of the table with the settings of an agent; nil for an unknown one.
func rowOf(name string) *agent {
	for _, a := range agents().Agents {
		if a.Agent == name && a.Install.File != "" {
			return a
		}
	}
	return nil
}

// filled returns an answer of the table with the reason in it.
func filled(v any, reason string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			out[key] = filled(one, reason)
		}
		return out
	case string:
		return strings.ReplaceAll(v, "$REASON", reason)
	}
	return v
}
