// Package words is what a run says to models, and to its own other phases: every
// text that is put together of the shipped prompts, of what phases gave and of
// what checks said. It is pure: values in, texts out. What it is given of a text
// that was refused goes no further than the rules in told.go allow.
package words

import (
	"fmt"
	"sync"

	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/templates/prompts"
	"github.com/seed61713e19/capstan/validators/schema"
)

var parsed sync.Map // name → *templates.Template

// Prompt renders one of the texts that we wrote.
func Prompt(name string, vars map[string]any) (string, error) {
	if t, ok := parsed.Load(name); ok {
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
	parsed.Store(name, t)
	return t.Render(vars)
}

// Text is a value as a model or a check reads it: a string as it is, anything
// else as JSON in one line, its letters as they are: a check that looks for <b>
// finds it.
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
