package cases

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// asks names who is asked.
func asks(e *effect) string {
	switch e.kind {
	case callKind:
		if e.request.asks != "" {
			return "the model (" + e.request.asks + ")"
		}
		return "the model"
	case toolKind:
		return "tool " + e.call.Name
	case findingKind:
		return "validator " + e.check.name
	default:
		return "the person"
	}
}

// transcript is what is asked as lines that a person reads; of a model's
// request it has the messages given.
func transcript(e *effect, messages []model.Message) string {
	switch e.kind {
	case callKind:
		return conversation(e.request, messages)
	case toolKind:
		return fmt.Sprintf("tool: %s\n%s\n", e.call.Name, indented(e.call.Arguments))
	case findingKind:
		text := fmt.Sprintf("validator: %s\non a text of %s\n", e.check.name, e.check.text)
		if e.check.program != "" {
			text += fmt.Sprintf("program: %s\n", e.check.program)
		}
		return text
	case questionKind:
		return fmt.Sprintf("%s: %s\n%s", e.question.Type, strings.Join(e.question.Options, ", "), ended(e.question.Prompt))
	}
	return ""
}

func conversation(r *request, messages []model.Message) string {
	var b strings.Builder
	if r.asks != "" {
		fmt.Fprintf(&b, "asks: %s\n", r.asks)
	}
	fmt.Fprintf(&b, "model: %s\n", r.model)
	if r.params != "" {
		fmt.Fprintf(&b, "params: %s\n", r.params)
	}
	for _, t := range r.tools {
		fmt.Fprintf(&b, "--- tool %s\n%s%s\n", t.Name, ended(t.Description), indented(t.Parameters))
	}
	if len(r.schema) > 0 {
		fmt.Fprintf(&b, "--- schema\n%s\n", indented(parsed(r.schema)))
	}
	for _, m := range messages {
		who := string(m.Role)
		if m.ToolCallID != "" {
			who += " " + m.ToolCallID
		}
		fmt.Fprintf(&b, "--- %s\n%s", who, ended(m.Content))
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, "calls %s %s %s\n", c.ID, c.Name, c.Arguments)
		}
	}
	return b.String()
}

// parsed is a schema as a plain value.
func parsed(text json.RawMessage) any {
	v, err := schema.Parse(text)
	if err != nil {
		return string(text)
	}
	return v
}
