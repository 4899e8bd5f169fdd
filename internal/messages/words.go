// Package messages writes all texts that a run sends to models and passes
// between its phases. It combines the built-in prompts with outputs of phases
// and reasons of checks. It is pure: values in, texts out.
//
//	text := messages.Reasons(failed)             // feedback for the same phase
//	text = messages.RejectionSummary(p, failed)  // for other phases
//
// A rejected text never reaches another phase: rejections.go has the rules.
// Begin with words.go.
package messages

import (
	"fmt"
	"sync"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/templates/prompts"
)

var templatesByName sync.Map // templates by name

// Prompt renders a built-in prompt.
func Prompt(name string, vars map[string]any) (string, error) {
	if t, ok := templatesByName.Load(name); ok {
		return t.(*templates.Template).Render(vars)
	}
	source, ok := prompts.Source(name)
	if !ok {
		return "", fmt.Errorf("prompt %s is not shipped", name)
	}
	t, err := templates.Parse(source)
	if err != nil {
		return "", fmt.Errorf("prompt %s: %w", name, err)
	}
	templatesByName.Store(name, t)
	return t.Render(vars)
}

// Text returns a value as a model or a check reads it: a string unchanged, any
// other value as JSON in one line. Letters and HTML are not escaped, so that a
// check for <b> finds it.
func Text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := schema.Encode(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
