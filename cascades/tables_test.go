package cascades

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/cascadestest"
)

// extended lists the mappings that add keys to another mapping. Their tables
// list only the added keys.
var extended = map[string]string{
	"a validator in place": "a validator",
	"a ward":               "a validator in place",
	"a ward around tools":  "a ward",
}

// TestKeyTables compares the tables of keys on the reference pages with the JSON Schema:
// type, default, allowed values, meaning and example. Each key of the schema is in one
// table. With -update, the tables are written.
func TestKeyTables(t *testing.T) {
	all, pages, rows := declarations(t), referencePages(t), 0
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		var table strings.Builder
		table.WriteString("| key | type | default | allowed | meaning | example |\n|---|---|---|---|---|---|\n")
		for _, key := range all[kind].keys {
			if other, ok := all[extended[kind]].of[key]; ok {
				if !reflect.DeepEqual(other, all[kind].of[key]) {
					t.Errorf("%s of %s differs from that of %s", key, kind, extended[kind])
				}
				continue
			}
			table.WriteString(keyRow(t, all[kind], key))
			rows++
		}
		found := 0
		for page, text := range pages {
			if strings.Contains(text, "<!-- keys of "+kind+" -->\n") {
				cascadestest.Generated(t, *update, "../docs/reference/"+page, "keys of "+kind, "\n"+table.String()+"\n")
				found++
			}
		}
		if found != 1 {
			t.Errorf("%d pages have the keys of %s", found, kind)
		}
	}
	var root any
	if err := json.Unmarshal(jsonSchema, &root); err != nil {
		t.Fatal(err)
	}
	repeated := 0
	for kind, other := range extended {
		for _, key := range all[kind].keys {
			if _, ok := all[other].of[key]; ok {
				repeated++
			}
		}
	}
	if want := declaredKeys(root); rows+repeated != want {
		t.Errorf("the tables have %d keys, %d repeat another mapping's, and the schema declares %d", rows, repeated, want)
	}
}

// declaredKeys counts the properties with an edition within a JSON Schema.
func declaredKeys(at any) (n int) {
	switch at := at.(type) {
	case []any:
		for _, one := range at {
			n += declaredKeys(one)
		}
	case map[string]any:
		if _, ok := at["$comment"]; ok {
			n++
		}
		for _, one := range at {
			n += declaredKeys(one)
		}
	}
	return n
}

// keyRow returns the table's row of a key.
func keyRow(t *testing.T, d declaration, key string) string {
	t.Helper()
	one := d.of[key]
	preset := ""
	switch {
	case slices.Contains(d.required, key):
		preset = "required"
	case one.Default != nil:
		preset = fmt.Sprintf("`%v`", one.Default)
	}
	example := flowYAML(t, key, at(d.nodes[key], "examples").Content[0])
	cells := []string{"`" + key + "`", typeOf(d.nodes[key]), preset, allowed(one), one.Description, "`" + example + "`"}
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// flowYAML returns a key with its value as YAML in one line.
func flowYAML(t *testing.T, key string, value *yaml.Node) string {
	t.Helper()
	plain(value)
	n := yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: key}, value}}
	text, err := yaml.Marshal(&n)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(text)), "{"), "}")
}

// plain removes the quotation marks of JSON where YAML needs none.
func plain(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		n.Style = 0
	} else {
		n.Style = yaml.FlowStyle
	}
	for _, below := range n.Content {
		plain(below)
	}
}

// typeNames are the names and links of the schema's definitions on the pages.
var typeNames = map[string]string{
	"template": "[template](templates.md)", "expression": "[expression](expressions.md#expressions)", "duration": "duration", "values": "mapping",
	"argv": "list of texts", "globs": "list of patterns", "check": "[validator](validators.md)", "ward": "[ward](wards.md#keys-of-a-ward)",
	"preward": "[ward](wards.md#keys-of-a-ward)", "toolward": "[ward](wards.md#keys-of-a-ward)", "model": "[model](models.md#choose-a-model-model)",
	"judging": "[model](models.md#choose-a-model-model)", "one_model": "[model](models.md#keys-of-a-model)", "validator_name": "name", "builtin_name": "name",
	"tool_name": "name", "worker_name": "name", "env": "[variables](tools.md#environment-of-programs)", "validator": "[validator](validators.md#keys-of-a-validator)",
	"tool": "[tool](tools.md#keys-of-a-tool)", "phase": "[phase](phase.md#keys-of-a-phase)", "handoff": "[handoff](phase.md#choose-the-next-phase-handoffs)",
	"provider": "[provider](models.md#keys-of-a-provider)", "price": "[price](models.md#keys-of-a-price)",
	"database": "[database](tools.md#sql-databases-databases)", "sub_cascade": "[sub-cascade](phase.md#sub-cascades)",
	"budget": "[budget](cascade.md#limits-of-a-run-budget)", "token_budget": "[mapping](context.md#limit-the-size-of-a-conversation-token_budget)",
	"context": "[context](context.md#add-earlier-results-context)", "rules": "[rules](rules.md#keys-of-rules)", "wards": "[wards](wards.md#places)",
	"expect": "[mapping](phase.md#measured-minimum-expect)", "each": "[each](phase.md#run-a-phase-for-every-item-of-a-list-each)",
	"output_extraction": "[mapping](phase.md#extract-a-part-of-the-text-output_extraction)", "soundings": "[soundings](soundings.md#keys-of-soundings)",
	"human_input": "[mapping](human-input.md#keys-of-human_input)", "notify": "[mapping](human-input.md#notify-somebody-notify)",
	"examples": "list of [examples](context.md#show-examples-examples)", "feedback": "[mapping](rules.md#limit-the-feedback-feedback)",
	"reforge": "[mapping](soundings.md#improve-the-winner-reforge)", "hook": "[hook](hooks.md#keys-of-a-hook)", "mcp": "[MCP tool](tools.md#mcp-servers-mcp)",
	"promote_when": "[mapping](wards.md#require-a-measurement-promote_when)",
}

// typeOf returns the type of a value in the notation of the pages.
func typeOf(n *yaml.Node) string {
	if ref := at(n, "$ref"); ref != nil {
		return typeNames[strings.TrimPrefix(ref.Value, "#/$defs/")]
	}
	if values := at(n, "enum"); values != nil || at(n, "const") != nil {
		return "text"
	}
	if choices := at(n, "anyOf"); choices != nil {
		switch first := typeOf(choices.Content[0]); {
		case first == "mapping":
			return "JSON Schema"
		case len(choices.Content) > 1 && typeOf(choices.Content[1]) == "list":
			return first + " or list"
		default:
			return first // a text may be written as a number
		}
	}
	if choices := at(n, "oneOf"); choices != nil {
		return typeOf(choices.Content[0]) + " or " + typeOf(choices.Content[1])
	}
	kind := at(n, "type")
	if kind == nil {
		return ""
	}
	switch kind.Value {
	case "array":
		if items := at(n, "items"); items != nil && at(items, "oneOf") == nil {
			return "list of " + plural(typeOf(items))
		}
		return "list"
	case "object":
		if values := at(n, "additionalProperties"); values != nil && at(values, "$ref") != nil {
			return "mapping of names to " + plural(typeOf(values))
		}
		return "mapping"
	}
	return map[string]string{"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}[kind.Value]
}

// plural returns the plural of a type. The type may have a link.
func plural(kind string) string {
	if word, link, ok := strings.Cut(kind, "]"); ok {
		return word + "s]" + link
	}
	return kind + "s"
}

// allowed returns the allowed values of a key.
func allowed(p property) string {
	if p.Const != nil {
		return fmt.Sprintf("`%v`", p.Const)
	}
	var words []string
	for _, v := range p.Enum {
		words = append(words, fmt.Sprintf("`%v`", v))
	}
	if words != nil {
		return strings.Join(words, ", ")
	}
	number := func(v *float64) string { return strconv.FormatFloat(*v, 'f', -1, 64) }
	if p.Minimum != nil && p.Maximum != nil {
		words = append(words, number(p.Minimum)+" to "+number(p.Maximum))
		p.Minimum, p.Maximum = nil, nil
	}
	for _, limit := range []struct {
		word  string
		value *float64
	}{{"more than", p.ExclusiveMinimum}, {"at least", p.Minimum}, {"less than", p.ExclusiveMaximum}, {"at most", p.Maximum}} {
		if limit.value != nil {
			words = append(words, limit.word+" "+number(limit.value))
		}
	}
	if p.Not.MultipleOf == 2 {
		words = append(words, "odd")
	}
	return strings.Join(words, ", ")
}
