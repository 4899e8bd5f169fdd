package cascades

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/processor"
	"github.com/seed61713e19/capstan/internal/schema"
)

// phaseWith returns a valid cascade with further keys in its phase.
func phaseWith(fields string) string {
	return "cascade_id: x\nphases:\n- name: a\n  instructions: x\n" + fields
}

func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("cascade_id: x\ninputs_schema:\n  a0: &a0 {x: 1}\n")
	for i := 1; i <= levels; i++ {
		one := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&b, "  a%d: &a%d {x: [%s]}\n", i, i, strings.Join([]string{one, one, one, one, one, one, one, one, one}, ", "))
	}
	return b.String() + "phases: [{name: a, instructions: x}]\n"
}

func merges(levels int) string {
	var b strings.Builder
	b.WriteString("cascade_id: x\ninputs_schema:\n  a0: &a0 {x: 1}\n")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "  a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i-1, i-1)
	}
	return b.String() + "phases: [{name: a, instructions: x}]\n"
}

// wideMerges returns a large mapping that is merged repeatedly.
func wideMerges() string {
	var b strings.Builder
	b.WriteString("cascade_id: x\ninputs_schema:\n  a: &a\n")
	for i := range 2_000 {
		fmt.Fprintf(&b, "    k%d: 1\n", i)
	}
	for i := range 2_000 {
		fmt.Fprintf(&b, "  m%d: {<<: *a}\n", i)
	}
	return b.String() + "phases: [{name: a, instructions: x}]\n"
}

// aliasChain returns a chain of aliases, whose values are nested only after their expansion.
func aliasChain(levels int) string {
	var b strings.Builder
	b.WriteString("cascade_id: x\ninputs_schema:\n  a0: &a0 {x: 1}\n")
	for i := 1; i <= levels; i++ {
		fmt.Fprintf(&b, "  a%d: &a%d {x: *a%d}\n", i, i, i-1)
	}
	return b.String() + "phases: [{name: a, instructions: x}]\n"
}

func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestHostileFiles checks that no text crashes the parser or takes much time,
// and compares the diagnostics.
func TestHostileFiles(t *testing.T) {
	const mega = 4 << 20
	tests := []struct {
		name, source string
		code         string
	}{
		{"empty", "", codes.Syntax},
		{"blank", " \n\n", codes.Syntax},
		{"comment", "# nothing\n", codes.Syntax},
		{"null", "null", codes.Type},
		{"scalar", "hello", codes.Type},
		{"list", "[1, 2]", codes.Type},
		{"json list", `[{"a": 1}]`, codes.Type},
		{"empty mapping", "{}", codes.Missing},
		{"not UTF-8", "cascade_id: \xff", codes.Syntax},
		{"UTF-16", "\xff\xfec\x00a\x00", codes.Syntax},
		{"control character", "cascade_id: \x01", codes.Syntax},
		{"bad escape", `cascade_id: "\q"`, codes.Syntax},
		{"too large", "cascade_id: " + strings.Repeat("x", mega), codes.TooLarge},
		{"brackets", strings.Repeat("[", mega), codes.Syntax},
		{"braces", strings.Repeat(`{"a":`, mega/5), codes.Syntax},
		{"deep JSON", `{"cascade_id":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", codes.TooLarge},
		{"deep YAML", "cascade_id: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), codes.TooLarge},
		{"deep dashes", strings.Repeat("- ", mega/2), codes.Syntax},
		{"bomb", bomb(30), codes.TooLarge},
		{"merges", merges(60), codes.TooLarge},
		{"wide merges", wideMerges(), codes.TooLarge},
		{"alias chain", aliasChain(12_000), codes.TooLarge},
		{"cyclic merge", "cascade_id: x\nphases: []\nbudget: &b {<<: *b}", codes.Cycle},
		{"many values", "cascade_id: x\ninputs_schema:\n" + each(reader.MaxNodes, "  k%d: x\n"), codes.TooLarge},
		{"many mistakes", "cascade_id: x\n" + each(40_000, "k%d: x\n"), codes.UnknownKey},
		{"many handoffs", phaseWith("  handoffs:\n" + each(15_000, "  - p%d\n")), codes.Phase},
		{"many unknown tools", phaseWith("  tackle:\n" + each(15_000, "  - t%d\n")), codes.Tool},
		{"many contexts", phaseWith("  context:\n    from:\n" + each(15_000, "    - p%d\n")), codes.Phase},
		{"many variables", "cascade_id: x\nphases:\n- name: a\n  instructions: |\n" + each(20_000, "    {{ v%d }}\n"), codes.Variable},
		{"many outputs", "cascade_id: x\nphases:\n- name: a\n  instructions: >\n" + each(12_000, "    {{ outputs.v%d }}\n"), codes.Phase},
		{"large template", phaseWith("  rules: {turn_prompt: \"" + strings.Repeat("x", 300<<10) + "\"}"), codes.TooLarge},
		{"long words", phaseWith("  handoffs: [" + strings.Repeat("x", 1<<20) + ", " + strings.Repeat("y", 1<<20) + "]"), codes.Phase},
		{"deep expression", phaseWith("  when: \"" + strings.Repeat("(", 8000) + "\""), codes.Expression},
		{"deep template", "cascade_id: x\nphases:\n- name: a\n  instructions: \"{{ " + strings.Repeat("(", 100_000) + " }}\"\n", codes.Template},
		{"huge pattern", phaseWith("  output_extraction: {store_as: x, pattern: \"" + strings.Repeat("(a{1000}){1000}", 100) + "\"}"), codes.Pattern},
		{"schema of another place", phaseWith("  output_schema: {$ref: \"https://example.com/s.json\"}"), codes.Schema},
		{"schema of a file", phaseWith("  output_schema: {$ref: \"file:///etc/passwd\"}"), codes.Schema},
		{"number beyond numbers", `{"cascade_id": "x", "budget": {"max_calls": 1e999}}`, codes.Type},
		{"number beyond integers", `{"cascade_id": "x", "budget": {"max_calls": 99999999999999999999}}`, codes.Type},
		{"NaN", phaseWith("  rules: {timeout: .nan}"), codes.Type},
		{"nothing anywhere", "cascade_id: null\ndescription: null\nmodel: null\ninputs_schema: null\nvalidators: null\ntools: null\nbudget: null\nphases: null", codes.Type},
		{"nothing in a phase", phaseWith("  model: null\n  tackle: null\n  context: null\n  rules: null\n  output_schema: null\n  wards: null\n  output_extraction: null\n  handoffs: null\n  when: null\n  sub_cascades: null\n  soundings: null\n  human_input: null\n  tool: null\n  inputs: null\n"), codes.Type},
		{"nothing in parts", phaseWith("  rules: {loop_until: null, on_exhausted: null, max_turns: null}\n  wards: {pre: null, turn: [null], post: [{validator: null}, {expr: null}, {judge: null}, {exec: null}, {schema: null}, {cascade: null}, {use: null}]}\n  handoffs: [{target: null}, {}]\n  soundings: {factor: null, validator: null}\n  sub_cascades: [null, {ref: null}]\n  output_extraction: {pattern: null, store_as: null}\n  human_input: {prompt: null, options: [null]}\n"), codes.Type},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			started := processor.Time()
			found := found(t, "test.yaml", test.source)
			if took := processor.Time() - started; took > 4*time.Second {
				t.Errorf("took %v", took)
			} else if took > time.Second {
				t.Logf("took %v", took)
			}
			has := false
			for _, d := range found {
				has = has || d.Code == test.code
				if d.Line < 1 || d.Column < 1 || d.Message == "" {
					t.Errorf("not a place, or no words: %#v", d)
				}
			}
			if !has {
				t.Errorf("no diagnostic %s among %.2000s", test.code, found)
			}
			if len(found) > findings.MaxFound+1 {
				t.Errorf("%d diagnostics", len(found))
			}
		})
	}
}

// TestNoFiles checks that a cascade which names files does not load without an opener.
func TestNoFiles(t *testing.T) {
	_, err := Parse("x.yaml", []byte("cascade_id: x\nphases: [{name: a, instructions: \"@a.md\"}]"), nil, Known{})
	if err == nil || !strings.HasSuffix(err.Error(), "x.yaml:2:34: a.md: there are no files here [unreadable-file]") {
		t.Errorf("got %v", err)
	}
}

// TestBounds checks that each limit is allowed, and that a larger value is
// reported.
func TestBounds(t *testing.T) {
	nested := func(form string) func(int) string {
		return func(n int) string {
			var b strings.Builder
			b.WriteString("cascade_id: x\ninputs_schema:\n  a0: &a0 {description: x}\n")
			for i := 1; i <= n; i++ {
				fmt.Fprintf(&b, "  a%d: &a%d "+form+"\n", i, i, i-1)
			}
			return b.String() + "phases: [{name: a, instructions: x}]\n"
		}
	}
	number := func(form string) func(int) string {
		return func(n int) string {
			return fmt.Sprintf("cascade_id: x\nphases: [{name: a, instructions: x, "+form+"\n", n)
		}
	}
	for _, c := range []struct {
		name   string
		source func(n int) string
		most   int
		want   string
	}{
		{"rows", number("tackle: [sql_query]}]\ndatabases: {shop: {url: shop.db, max_rows: %d}}"), maxRows, "max_rows must be at most"},
		{"bytes of rows", number("tackle: [sql_query]}]\ndatabases: {shop: {url: shop.db, max_bytes: %d}}"), maxBytes, "max_bytes must be at most"},
		{"seconds of a statement", number("tackle: [sql_query]}]\ndatabases: {shop: {url: shop.db, timeout: %d}}"), 600, "timeout must be at most 10m0s"},
		{"seconds", number("}]\nbudget: {max_seconds: %d}"), 1e9, "max_seconds must be at most"},
		{"tries", number("soundings: {factor: %d}}]"), maxSoundings, "factor must be at most"},
		{"tries with those of reforge", number("soundings: {factor: 1, reforge: {honing_prompt: x, steps: %d, factor_per_step: 1}}}]"), maxSoundings, "there may be 100 tries with those of reforge"},
		{"merges", nested("{<<: *a%d}"), 21, "merges are nested more than 20 deep"},
		{"merges of lists", nested("{<<: [*a%d]}"), 10, "merges are nested more than 20 deep"},
		{"values", nested("{x: *a%d}"), 198, "values are nested more than 200 deep"},
		{"brackets", func(n int) string {
			return "cascade_id: x\nphases: [{name: a, instructions: x}]\ninputs_schema: {a: {default: " + strings.Repeat("[", n) + strings.Repeat("]", n) + "}}\n"
		}, 198, "values are nested more than 200 deep"},
		{"letters", func(n int) string {
			return "cascade_id: x\nphases: [{name: a, instructions: x, wards: {post: [" + strings.Repeat("x", n) + "]}}]\n"
		}, 120, "x …"},
		{"bytes of a template", func(n int) string {
			return "cascade_id: x\nphases: [{name: a, instructions: " + strings.Repeat("x", n) + "}]\n"
		}, maxTemplate, "the template has 26"},
		{"bytes", func(n int) string {
			return "cascade_id: x\nphases: [{name: a, instructions: x}]\n#" + strings.Repeat("x", n)
		}, syntax.MaxSource - 52, "x.yaml:1:1: the file has 4194"},
		{"mistakes", func(n int) string {
			return "cascade_id: x\nphases: [{name: a, instructions: x}]\n" + each(n, "k%d: x\n")
		}, findings.MaxFound, "more than 1000 mistakes: the rest is not listed"},
		{"names", func(n int) string {
			return "cascade_id: x\nphases:\n- name: a\n  compose: |\n" + each(n, "    {{ outputs.v%d }}\n")
		}, findings.MaxFound, "more than 1000 mistakes: the rest is not listed"},
		{"warnings", func(n int) string {
			return "cascade_id: x\ninputs_schema: {a: x}\nphases:\n- name: a\n  compose: |\n" + each(n, "    {{ input.v%d }}\n")
		}, findings.MaxFound, "more than 1000 mistakes: the rest is not listed"},
	} {
		for n, beyond := range map[int]bool{c.most: false, c.most + 1: true, c.most + 9: true} {
			if found := found(t, "x.yaml", c.source(n)); strings.Contains(found.Error(), c.want) != beyond || len(found) > findings.MaxFound+1 {
				t.Errorf("%d %s: %d things are said: %.300s", n, c.name, len(found), found)
			}
			if _, err := Document("x.yaml", []byte(c.source(n))); (err != nil) != (beyond && (c.name == "brackets" || c.name == "bytes")) {
				t.Errorf("%d %s: of the tree is said %v", n, c.name, err)
			}
		}
	}
}

// TestBoundOfSuggestions checks that diagnostics beyond the limit leave the
// suggestion and the fix of the last diagnostic unchanged.
func TestBoundOfSuggestions(t *testing.T) {
	for _, key := range []string{"descriptio: x", "cells: []", "tools: {a: {exec: [x], effect: read}}", "token_budget: {max_total: '9'}"} {
		for n, beyond := range map[int]bool{findings.MaxFound - 1: false, findings.MaxFound: true, findings.MaxFound + 1: true} {
			reported := found(t, "x.yaml", "cascade_id: x\nphases: [{name: a, instructions: x}]\nbudget: {"+strings.ReplaceAll(each(n, "k%d: 1\n"), "\n", ", ")+"}\n"+key+"\n")
			if last := reported[len(reported)-1]; (last.Code == codes.TooLarge) != beyond || (last.Suggestion == "" && last.Fix == nil) != beyond {
				t.Errorf("%s: got %+v", key, last)
			}
		}
	}
	for compared, meant := range map[int]string{findings.MaxComparisons - 1: "name", findings.MaxComparisons: ""} {
		p := reader.New(syntax.New("", nil))
		p.Error(nil, codes.Value, "x")
		p.Compared = compared
		if p.Suggest("nam", func() []string { return []string{"name"} }); p.Found[0].Suggestion != meant {
			t.Errorf("with %d words compared it is %q", compared, p.Found[0].Suggestion)
		}
	}
	words := len(schema.Keywords(nil))
	for compared, reported := range map[int]int{findings.MaxComparisons - words: 1, findings.MaxComparisons - words + 1: 0} {
		p := reader.New(syntax.New("", nil))
		p.Compared = compared
		one := checks.Schema{Node: mappingOf("requird", &yaml.Node{}), Source: map[string]any{"type": "object", "requird": nil}}
		if checks.Run(&checks.Cascade{Schemas: []checks.Schema{one}}, p.Report); len(p.Found) != reported {
			t.Errorf("after %d comparisons, a schema has the diagnostics %v", compared, p.Found)
		}
	}
	p, value := reader.New(syntax.New("", nil)), &yaml.Node{Kind: yaml.MappingNode}
	p.Nodes = reader.MaxNodes - 1
	if p.Resolve(value) != value || len(p.Found) != 0 {
		t.Errorf("the last value is none: %v", p.Found)
	}
	if beyond := p.Resolve(value); beyond.Kind != yaml.ScalarNode || beyond.Tag != "!!null" || len(p.Found) != 1 {
		t.Errorf("behind it is %+v: %v", beyond, p.Found)
	}
	if p.Error(nil, codes.Value, "x"); len(p.Found) != 1 {
		t.Errorf("after the last value is reported %v", p.Found)
	}
}

// TestBoundOfFiles checks that all files of a cascade share one limit.
func TestBoundOfFiles(t *testing.T) {
	const lists = "list: {default: &list [%s]}\n%s"
	x := strings.Repeat("x, ", 300)
	texts := map[string]string{}
	for i := range 3 {
		texts[fmt.Sprintf("c%d.yaml", i)] = "cascade_id: c\nphases: [{name: a, instructions: x}]\ninputs_schema:\n  " + fmt.Sprintf(lists, x, each(280, "  b%d: {default: *list}\n"))
		texts[fmt.Sprintf("tackle/t%d.tool.yaml", i)] = "exec: [x]\nparameters:\n  properties:\n    " + fmt.Sprintf(lists, x, each(280, "    b%d: {default: *list}\n"))
	}
	for form, beyond := range map[string]bool{
		"sub_cascades: [" + strings.Repeat("{ref: c0.yaml}, ", 9) + "{ref: c1.yaml}]": false, "sub_cascades: [{ref: c0.yaml}, {ref: c1.yaml}, {ref: c2.yaml}]": true,
		"tackle: [t0, t1]": false, "tackle: [t0, t1, t2]": true,
	} {
		texts["x.yaml"] = "cascade_id: x\nphases: [{name: a, instructions: x, " + form + "}]\n"
		_, err := Load("x.yaml", files(texts), known())
		if (err != nil) != beyond || err != nil && !strings.Contains(err.Error(), "the file holds more than 200000 values, aliases followed [too-large]") {
			t.Errorf("%s: %v", form, err)
		}
	}
}

// TestBoundOfComparisons checks that all files share the limit of compared
// words.
func TestBoundOfComparisons(t *testing.T) {
	texts := map[string]string{}
	for _, name := range []string{"a.yaml", "b.yaml"} {
		texts[name] = "cascade_id: c\nphases:\n- {name: extraordinary, compose: x}\n" + each(400, "- {name: p%d, compose: x}\n") + "- name: last\n  compose: |\n" + each(130, "    {{ outputs.extraordinari }} %d\n")
	}
	for refs, all := range map[string]bool{"{ref: a.yaml}": true, "{ref: a.yaml}, {ref: b.yaml}": false} {
		texts["x.yaml"] = "cascade_id: x\nphases: [{name: a, instructions: x, sub_cascades: [" + refs + "]}]\n"
		_, err := Load("x.yaml", files(texts), known())
		reported := strings.Count(err.Error(), "no phase is called so")
		meant := strings.Count(err.Error(), `did you mean "extraordinary"`)
		if reported != 130*(1+strings.Count(refs, ",")) || (meant == reported) != all || meant < 130 {
			t.Errorf("%s: of %d names %d are suggested", refs, reported, meant)
		}
	}
}

// TestDepth checks the limit of nested cascades.
func TestDepth(t *testing.T) {
	texts := map[string]string{"c40.yaml": "cascade_id: c40\nphases: [{name: a, instructions: x}]"}
	for i := range 40 {
		texts[fmt.Sprintf("c%d.yaml", i)] = fmt.Sprintf("cascade_id: c%d\nphases: [{name: a, instructions: x, sub_cascades: [{ref: c%d.yaml}]}]", i, i+1)
	}
	if _, err := Load("c24.yaml", files(texts), known()); err != nil {
		t.Error(err)
	}
	if _, err := Load("c23.yaml", files(texts), known()); err == nil {
		t.Error("17 are within the first")
	}
	_, err := Load("c0.yaml", files(texts), known())
	if err == nil || !strings.Contains(err.Error(), "nested more than 16 deep [too-large]") {
		t.Errorf("got %v", err)
	}
}

// TestSharedCascades checks that a cascade is read once, however often it is
// named.
func TestSharedCascades(t *testing.T) {
	texts, read := map[string]string{}, 0
	for i := range 12 {
		one := fmt.Sprintf("{ref: c%d.yaml, context_out: true}", i+1)
		texts[fmt.Sprintf("c%d.yaml", i)] = fmt.Sprintf("cascade_id: c%d\nphases: [{name: a, instructions: x, sub_cascades: [%s]}]", i, strings.Join([]string{one, one, one, one, one, one}, ", "))
	}
	texts["c12.yaml"] = "cascade_id: c12\nmodel: m\nphases: [{name: a, instructions: x}]"
	open := func(name string) ([]byte, error) { read++; return files(texts)(name) }
	c, err := Load("c0.yaml", open, known())
	if err != nil {
		t.Fatal(err)
	}
	if read != 13 {
		t.Errorf("%d files were read", read)
	}
	if len(c.Needs()) > 0 || len(c.Variables()) > 0 {
		t.Error("no phase needs anything")
	}
	if c.uses("set_state") {
		t.Error("no phase names set_state")
	}
	if got := c.Models("given"); len(got) != 1 || got[0] != "given" {
		t.Errorf("models %q", got)
	}
}
