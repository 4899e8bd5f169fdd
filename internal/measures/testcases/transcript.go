package testcases

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/model"
)

// recipient names the recipient of a request.
func recipient(e *effect) string {
	switch e.kind {
	case callKind:
		if e.request.role != "" {
			return "the model (" + e.request.role + ")"
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

// transcript returns a request as text. A request to a model gets the messages.
func transcript(e *effect, messages []model.Message) string {
	switch e.kind {
	case callKind:
		return conversation(e.request, messages)
	case toolKind:
		return fmt.Sprintf("tool: %s\n%s\n", e.call.Name, indented(e.call.Arguments))
	case findingKind:
		text := fmt.Sprintf("validator: %s\non a text of %s\n", e.check.name, e.check.digest)
		if e.check.program != "" {
			text += fmt.Sprintf("program: %s\n", e.check.program)
		}
		return text
	case questionKind:
		return fmt.Sprintf("%s: %s\n%s", e.question.Type, strings.Join(e.question.Options, ", "), withNewline(e.question.Prompt))
	}
	return ""
}

func conversation(r *request, messages []model.Message) string {
	var b strings.Builder
	if r.role != "" {
		fmt.Fprintf(&b, "role: %s\n", r.role)
	}
	fmt.Fprintf(&b, "model: %s\n", r.model)
	if r.params != "" {
		fmt.Fprintf(&b, "params: %s\n", r.params)
	}
	for _, t := range r.tools {
		fmt.Fprintf(&b, "--- tool %s\n%s%s\n", t.Name, withNewline(t.Description), indented(t.Parameters))
	}
	if len(r.schema) > 0 {
		fmt.Fprintf(&b, "--- schema\n%s\n", indented(parsed(r.schema)))
	}
	for _, m := range messages {
		who := string(m.Role)
		if m.ToolCallID != "" {
			who += " " + m.ToolCallID
		}
		fmt.Fprintf(&b, "--- %s\n%s", who, withNewline(m.Content))
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, "calls %s %s %s\n", c.ID, c.Name, c.Arguments)
		}
	}
	return b.String()
}

// parsed returns a schema as a plain value.
func parsed(text json.RawMessage) any {
	v, err := schema.Parse(text)
	if err != nil {
		return string(text)
	}
	return v
}
