package cascades

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/cascadestest"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

func schemaOfCascades(t *testing.T) (*schema.Schema, map[string]any) {
	t.Helper()
	return compiledSchema(t, JSONSchema())
}

// schemaOfKnown returns the output of capstan schema with the names of [known].
func schemaOfKnown(t *testing.T) *schema.Schema {
	t.Helper()
	text, err := JSONSchemaOf(known())
	if err != nil {
		t.Fatal(err)
	}
	s, _ := compiledSchema(t, text)
	return s
}

func compiledSchema(t *testing.T, text []byte) (*schema.Schema, map[string]any) {
	t.Helper()
	source, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	return s, source.(map[string]any)
}

// TestJSONSchemaKnownNames compares a file with the parts of the schema that depend
// on known names and their parameters.
func TestJSONSchemaKnownNames(t *testing.T) {
	bare := validators.New("bare", "It is as long", func(context.Context, struct {
		Long int `json:"long"`
		Kind int `json:"kind,omitempty" jsonschema:"of which kind"`
	}, validators.Subject) (validators.Verdict, error) {
		return validators.Verdict{}, nil
	})
	all := known()
	judge, _ := all.Validators.Find("grammar_check")
	plain, _ := all.Validators.Find("non_empty")
	read, _ := all.Tools.Find("read_file")
	text, err := JSONSchemaOf(Known{Validators: validators.NewSet(bare, plain, judge), Tools: tool.NewSet(read, nowhere{}.Tool(Server{}, "distant"))})
	if err != nil {
		t.Fatal(err)
	}
	_, root := compiledSchema(t, text)
	defs := root["$defs"].(map[string]any)
	var b strings.Builder
	for _, name := range []string{"validator_name", "builtin_name", "tool_name", "worker_name", "parameters", "arguments", "rendered"} {
		for word, value := range defs[name].(map[string]any) {
			list, _ := value.([]any)
			for _, one := range list {
				fmt.Fprintf(&b, "%s %s: %s\n", name, word, asJSON(t, one))
			}
		}
	}
	cascadestest.Golden(t, *update, "testdata/known.txt", b.String())
}

// asPlain returns the values of a cascade file.
func asPlain(t *testing.T, source []byte) any {
	t.Helper()
	var v any
	if json.Unmarshal(source, &v) != nil {
		if err := yaml.Unmarshal(source, &v); err != nil {
			t.Fatal(err)
		}
	}
	plain, err := schema.Plain(v)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestJSONSchemaPublished checks that the printed schema has no notes for its
// authors, and no links, because an editor cannot follow them.
func TestJSONSchemaPublished(t *testing.T) {
	text := string(JSONSchema())
	if strings.Contains(text, "$comment") || strings.Contains(text, "](") || !strings.Contains(text, "The model of every phase") {
		t.Error("the printed schema has links or comments, or no descriptions")
	}
}

// rightFiles returns valid cascades by name: the shipped ones, and those of the
// pages and of the tests.
func rightFiles(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range glob(t, "examples/*.yaml", "../docs/*.yaml", "testdata/good/*.yaml", "testdata/good/*.json", "testdata/good/parts/*.yaml", "testdata/warned/*.yaml") {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "cascade_id") {
			all[name] = source
		}
	}
	for name, source := range cascadesOnPages(t) {
		all[name] = []byte(source)
	}
	for seed := range 50 {
		all[fmt.Sprintf("made up %d", seed)] = []byte(manyPhases(seed + 1))
	}
	if len(all) < 90 {
		t.Errorf("only %d cascades", len(all))
	}
	return all
}

// TestJSONSchemaTakesGood checks that the schema accepts every file that the
// parser accepts. It tests the schema with and without known names.
func TestJSONSchemaTakesGood(t *testing.T) {
	plain, _ := schemaOfCascades(t)
	withNames := schemaOfKnown(t)
	for name, source := range rightFiles(t) {
		for kind, s := range map[string]*schema.Schema{"plain": plain, "with names": withNames} {
			if broken := s.Validate(nil, asPlain(t, source)); broken != nil {
				t.Errorf("%s, %s: %v", name, kind, broken)
			}
		}
	}
}

// unseen lists the files of testdata/bad that are valid for a schema, with the
// reason.
var unseen = map[string]string{
	"beside.yaml":       "it sees one file, and not what those say that it names",
	"siblings.yaml":     "likewise",
	"files.yaml":        "likewise",
	"names.yaml":        "a name may be the file's own, and it cannot look up whether it is",
	"neighbours.yaml":   "what a schema says, and where YAML ends a text, it does not look at",
	"no_databases.yaml": "that a tool needs something of the file's top is known to the tool",
	"texts.yaml":        "templates, expressions and patterns are texts to it",
	"order.yaml":        "likewise",
	"tries_name.yaml":   "that a phase may not be called so hangs on what stands beside the phases",
	"twice.yaml":        "it is handed the first of two documents",
}

// TestJSONSchemaSeesBad checks that the schema rejects every file of
// testdata/bad, except those in unseen.
func TestJSONSchemaSeesBad(t *testing.T) {
	s := schemaOfKnown(t)
	for _, name := range glob(t, "testdata/bad/*.yaml") {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if yaml.Unmarshal(source, &v) != nil {
			continue // not YAML: an editor reports this without a schema
		}
		plain, err := schema.Plain(v)
		refused := err != nil || s.Validate(nil, plain) != nil
		if reason := unseen[filepath.Base(name)]; refused == (reason != "") {
			t.Errorf("%s is refused: %v; the reason not to: %q", name, refused, reason)
		}
	}
}

// TestJSONSchemaRefusesBad checks that the schema rejects a valid cascade after
// one invalid change.
func TestJSONSchemaRefusesBad(t *testing.T) {
	s := schemaOfKnown(t)
	for _, bad := range []string{
		"phases: [{name: a, instructions: x}]",
		"cascade_id: x",
		"cascade_id: x\nphases: []",
		"cascade_id: x\nphases: [{name: a}]",
		"cascade_id: x\nphases: [{instructions: a}]",
		"cascade_id: x\nphases: [{name: a/b, instructions: x}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, tool: read_file}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, inputs: {}}]",
		"cascade_id: x\nphases: [{name: a, tool: x, tackle: []}]",
		"cascade_id: x\nphases: [{name: a, tool: x, rules: {loop_until: y}}]",
		"cascade_id: x\nphases: [{name: a, tool: x, wards: {turn: []}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, temprature: 1}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, rules: {max_turns: 0}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, rules: {max_attempts: 0}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, rules: {loop_until_silent: true}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, rules: {timeout: soon}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {pre: [{validator: v, mode: retry}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{validator: v, mode: warn}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{mode: retry}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{validator: v, judge: x}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{judge: v, with: {}}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [5]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, soundings: {}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, soundings: {factor: 101}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, context: {}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, handoffs: [{}]}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, sub_cascades: [{}]}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, output_extraction: {pattern: x}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, output_extraction: {pattern: x, store_as: y, format: xml}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, human_input: {prompt: x, type: choice}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, human_input: {prompt: x, options: [a]}}]",
		"cascade_id: x\nbudget: {max_calls: 0}\nphases: [{name: a, instructions: x}]",
		"cascade_id: x\nbudget: {max_cost_usd: 0}\nphases: [{name: a, instructions: x}]",
		"cascade_id: x\nvalidators: {v: {validator: w}}\nphases: [{name: a, instructions: x}]",
		"cascade_id: x\nvalidators: {v: {exec: []}}\nphases: [{name: a, instructions: x}]",
		"cascade_id: x\ntools: {\"a b\": {exec: [x]}}\nphases: [{name: a, instructions: x}]",
		"cascade_id: x\ntools: {a: {exec: [x], cascade: y}}\nphases: [{name: a, instructions: x}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{validator: max_length, with: {maxx: 3}}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{validator: max_length, with: {max: many}}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {pre: [{validator: max_length, with: {}}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {tool: [{use: max_length}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, rules: {loop_until: {use: regexp, with: {patern: x}}}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{use: keywords, with: {any: [x, 3]}}]}}]",
		"cascade_id: x\nvalidators: {v: {use: contains, with: {text: 3}}}\nphases: [{name: a, instructions: x}]",
	} {
		if s.Validate(nil, asPlain(t, []byte(bad))) == nil {
			t.Errorf("the schema takes\n%s", bad)
		}
		if _, err := Parse("x.yaml", []byte(bad), nil, known()); err == nil {
			t.Errorf("the parser takes\n%s", bad)
		}
	}
}

// TestJSONSchemaIsOpen checks that the schema accepts names which the file
// defines, and templates as parameters.
func TestJSONSchemaIsOpen(t *testing.T) {
	s := schemaOfKnown(t)
	for _, good := range []string{
		"cascade_id: x\nvalidators: {mine: {expr: 'true'}}\nphases: [{name: a, instructions: x, wards: {post: [{validator: mine}]}}]",
		"cascade_id: x\nvalidators: {max_length: {expr: 'true'}}\nphases: [{name: a, instructions: x, wards: {post: [{validator: max_length}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{use: max_length, with: {max: '{{ input.n }}'}}]}}]",
		"cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [{use: keywords, with: {any: [x, '{{ input.n }}']}}]}}]",
		"cascade_id: x\ntools: {read_file: {exec: [cat], parameters: {type: object, properties: {path: {type: integer}}}}}\nphases: [{name: a, tool: read_file, inputs: {path: 3}}]",
		"cascade_id: x\nphases: [{name: a, tool: max_length, inputs: {max: 3, content: x}}]",
	} {
		if broken := s.Validate(nil, asPlain(t, []byte(good))); broken != nil {
			t.Errorf("%v\n%s", broken, good)
		}
		if _, err := Parse("x.yaml", []byte(good), nil, known()); err != nil {
			t.Errorf("%v\n%s", err, good)
		}
	}
}
