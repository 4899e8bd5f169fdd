package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/cascadestest"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// TestReference compares the lists of the built-in validators and tools on their pages
// with the validators and tools; -update writes them.
func TestReference(t *testing.T) {
	cascadestest.Generated(t, *update, "../../docs/reference/validators.md", "built-in validators", validatorEntries())
	cascadestest.Generated(t, *update, "../../docs/reference/tools.md", "built-in tools", toolEntries())
}

func validatorEntries() string {
	var b strings.Builder
	for _, v := range builtins.Default().With(shipped()...).List() {
		kind := "computed"
		if v.Criteria != "" {
			kind = "judge"
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s (%s).\n", v.Name, sentence(v.Description), kind)
		parameters(&b, v.Params())
	}
	b.WriteString("\n")
	return b.String()
}

func toolEntries() string {
	var b strings.Builder
	for _, t := range append(tools(tool.Options{}), cascades.EngineTools()...) {
		fmt.Fprintf(&b, "\n### %s\n\n%s (%s).\n", t.Name, sentence(t.Description), t.Effect)
		parameters(&b, t.Params())
	}
	b.WriteString("\n")
	return b.String()
}

// sentence returns s with a capital letter at its start and without a full
// stop.
func sentence(s string) string {
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".")
}

func parameters(b *strings.Builder, schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) == 0 {
		return
	}
	required, _ := schema["required"].([]any)
	names := []string{}
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	b.WriteString("\n| parameter | type | required | meaning |\n|---|---|---|---|\n")
	for _, name := range names {
		p, _ := properties[name].(map[string]any)
		need := ""
		if slices.Contains(required, any(name)) {
			need = "yes"
		}
		description, _ := p["description"].(string)
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, typeOf(p), need, strings.ReplaceAll(description, "|", "\\|"))
	}
}

func typeOf(p map[string]any) string {
	switch kind := p["type"].(type) {
	case string:
		return kind
	case []any:
		words := []string{}
		for _, k := range kind {
			if k != "null" {
				words = append(words, fmt.Sprint(k))
			}
		}
		return strings.Join(words, " or ")
	default:
		return "any"
	}
}
