package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/builtins"
)

// TestReference holds the reference page against the validators and tools
// themselves; -update writes it.
func TestReference(t *testing.T) {
	const page = "../../docs/reference.md"
	want := reference()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s does not tell what is there; go test ./cmd/capstan -run TestReference -update writes it", page)
	}
}

func reference() string {
	var b strings.Builder
	b.WriteString(`# Validators and tools

What a cascade may name without defining it. Computed validators cost nothing
and always say the same; judges ask a model, with the criteria shown by
` + "`capstan list validators NAME`" + `. Parameters go under ` + "`with`" + ` in a ward, beside the
content under ` + "`inputs`" + ` in a ` + "`tool:`" + ` phase, and as ` + "`--with name=value`" + ` of ` + "`capstan gate`" + `.

## Validators
`)
	for _, v := range builtins.Default().With(shipped()...).List() {
		kind := "computed"
		if v.Criteria != "" {
			kind = "judge"
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s (%s).\n", v.Name, sentence(v.Description), kind)
		parameters(&b, v.Params())
	}
	b.WriteString("\n## Tools\n\nBehind each stands its effect: `none`, `reads`, or `writes`.\n")
	for _, t := range append(tools(tool.Options{}), cascades.EngineTools()...) {
		fmt.Fprintf(&b, "\n### %s\n\n%s (%s).\n", t.Name, sentence(t.Description), t.Effect)
		parameters(&b, t.Params())
	}
	return b.String()
}

// sentence begins with a capital letter and ends without a full stop.
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
	b.WriteString("\n| parameter | type | | |\n|---|---|---|---|\n")
	for _, name := range names {
		p, _ := properties[name].(map[string]any)
		need := ""
		if slices.Contains(required, any(name)) {
			need = "required"
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
