package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/reading"
)

func TestExtractOneDocument(t *testing.T) {
	s := compile(t, titled)
	for _, c := range []struct{ name, text, want string }{
		{"whole", ` {"title": "ab"} `, `{"title":"ab"}`},
		{"only fence", "Here:\n```json\n{\"title\": \"ab\"}\n```\nDone.", `{"title":"ab"}`},
		{"only fence, others outside", "Not {\"title\": \"no\"}:\n```json\n{\"title\": \"ab\"}\n```\n(see [4] and {\"title\": \"no\"})", `{"title":"ab"}`},
		{"only fence on one line", "Here: ```json {\"title\": \"ab\"}``` Done.", `{"title":"ab"}`},
		{"fence nobody closes", "```json\n{\"title\": \"ab\"}\n", `{"title":"ab"}`},
		{"tilde fence", "~~~\n{\"title\": \"ab\"}\n~~~", `{"title":"ab"}`},
		{"longer fence", "````\n{\"title\": \"ab\"}\n```\n````", `{"title":"ab"}`},
		{"fence in a string", "```json\n{\"title\": \"use ```go\"}\n```", "{\"title\":\"use ```go\"}"},
		{"other fences", "```sh\nls {x}\n```\n```json\n{\"title\": \"ab\"}\n```", `{"title":"ab"}`},
		{"prose", `The answer is {"title": "ab"}, I think.`, `{"title":"ab"}`},
		{"braces in strings", `so {"title": "a } { b"} it is`, `{"title":"a } { b"}`},
		{"braces in prose", `for {x} in {y}: {"title": "ab"} {z}`, `{"title":"ab"}`},
		{"backticks in strings", "the `title`: {\"title\": \"a `b\"} and `more`", "{\"title\":\"a `b\"}"},
		{"the same twice", `{"title": "ab", "n": 1.0} and again {"n": 1, "title": "ab"}`, `{"n":1.0,"title":"ab"}`},
		{"lists do not count", `[1] [2, 3] {"title": "ab"} [{"title": "no"}]`, `{"title":"ab"}`},
		{"quotation", "> {\"title\": \"quoted\"}\n\n{\"title\": \"ab\"}", `{"title":"ab"}`},
		{"quotation behind", "{\"title\": \"ab\"}\n  > {\"title\": \"quoted\"", `{"title":"ab"}`},
		{"inline code", "unlike `{\"title\": \"code\"}` and ``{\"title\": \"`\"}``: {\"title\": \"ab\"}", `{"title":"ab"}`},
		{"a stray backtick", "the ` sign: {\"title\": \"ab\"}", `{"title":"ab"}`},
		{"broken before", `{"title": a} then {"title": "ab"}`, `{"title":"ab"}`},
		{"template before", `Fill in {"name"}: {"title": "ab"}`, `{"title":"ab"}`},
		{"closing think alone", `{"title": "no"}</think>{"title": "ab"}`, `{"title":"ab"}`},
		{"think inside a string", `{"title": "<think>x</think>"}`, `{"title":"<think>x</think>"}`},
		{"think inside a string in prose", `It is {"title": "</think> {1}"}.`, `{"title":"</think> {1}"}`},
		{"nested", `x {"title": "ab", "more": {"a": [1, {"b": null}]}} y`, `{"more":{"a":[1,{"b":null}]},"title":"ab"}`},
		{"empty ones within", `x {"title": "ab", "more": [[], {}], "none": {}} y`, `{"more":[[],{}],"none":{},"title":"ab"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, broken, err := Extract(nil, c.text, s)
			if err != nil || len(broken) > 0 {
				t.Fatalf("got %v, %v", broken, err)
			}
			if got, _ := Encode(v); string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestExtractListsAndLinks(t *testing.T) {
	s := compile(t, `{"type": "array"}`)
	for _, text := range []string{
		"[10, 20] as in [the index](https://example.org), [7](https://example.org/7), [note][8] and ![9](x.png)[^1].\n\n[7]: https://example.org\n[^1]: A note.",
		"- [ ] to do\n- [x] done\n\n[10, 20]\n", "```json\n[10, 20]\n```\n(see [4])", "[word] and [true or false]: [10, 20]", `{"a": [1]} gives [10, 20]`,
	} {
		v, broken, err := Extract(nil, text, s)
		if got, _ := Encode(v); err != nil || broken != nil || string(got) != "[10,20]" {
			t.Errorf("%s: got %s, %v, %v", text, got, broken, err)
		}
	}
}

func TestExtractScalarFence(t *testing.T) {
	v, broken, err := Extract(nil, "It is\n```\n42\n```\n", compile(t, `{"type": "integer"}`))
	if err != nil || broken != nil || v != 42 {
		t.Errorf("got %v %v %v", v, broken, err)
	}
}

// A text without one clear document has no answer, whatever the schema accepts.
func TestExtractNoAnswer(t *testing.T) {
	object, list := compile(t, titled), compile(t, `{"type": "array"}`)
	either := compile(t, `{"anyOf": [{"type": "array"}, {"$ref": "#/$defs/o"}], "$defs": {"o": {"type": "object"}}}`)
	for _, c := range []struct {
		s          *Schema
		text, want string
	}{
		{object, "no json at all", "there is no JSON in the text"},
		{object, "cut off {\"a\": [1, 2", "line 1, column 20: the JSON ends too early"},
		{object, "bad\n{\"a\": +1} there", "line 2, column 7: invalid character '+'"},
		{object, "<think>{\"title\": \"ab\"}</think> only thoughts", "there is no JSON in the text"},
		{object, "> {\"title\": \"ab\"}\nas asked", "quotations"},
		{object, "it is `{\"title\": \"ab\"}`", "inline code does not count"},
		{object, `{"title": "first"} {"title": "second"}`, "several different JSON documents (line 1, column 1; line 1, column 20). Give exactly one"},
		{object, `{"title": "good"} {"name": "does not fit"}`, "several"},
		{object, "```json\n{\"title\": \"draft\"}\n```\nCorrected:\n```json\n{\"title\": \"new\", // fixed\n}\n```",
			"broken JSON after the JSON at line 2, column 1: line 6, column 18"},
		{object, `You asked for {"title": "<name>"}. Here: {"title": "Ada",}`, "broken JSON after the JSON at line 1, column 15"},
		{object, `{"title": "ab", "more": {"title": "inner"}, "x`, "no valid JSON"},
		{object, `[{"title": "ab"}, `, "no valid JSON"},
		{object, `{"notes": oops, "more": {"title": "inner"}}`, "no valid JSON"},
		{object, `{"a": 1, "a": 2, "more": {"title": "inner"}}`, "no valid JSON"},
		{object, `{"n": 1e99999, "more": {"title": "inner"}}`, "exponent"},
		{list, "x " + strings.Repeat("[", 9500) + strings.Repeat("]", 9500), "nests deeper than 9000 levels"},
		{object, `so {"title": "ab", "t\u0069tle": 7}`, `$.title: the key "title" appears twice`},
		{object, `{"title": "ab", "x": [{"a": {"b": 1, "b": 1}}]}`, `$.x[0].a.b: the key "b" appears twice`},
		{object, `{"title": "good"} {"title": "ab", "title": "cd"}`, "broken JSON"},
		{list, "[10, 20, 30]\n\nSee the index [1] and the appendix [2].", "several"},
		{list, "[\"a\", \"b\"]\n\nSources: []", "several"},
		{list, "[1, 2]\n\n[3, 4", "broken JSON"},
		{either, `{"a": 1} and [1]`, "several"},
	} {
		v, broken, err := Extract(nil, c.text, c.s)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrUnchecked) {
			t.Errorf("%s: got %v, %v, %v, want %q", c.text, v, broken, err, c.want)
		}
	}
}

// The schema reports a document of another type than its root.
func TestExtractOtherType(t *testing.T) {
	_, broken, err := Extract(nil, `The list: ["a"]`, compile(t, titled))
	if err != nil || len(broken) != 1 || broken[0].Rule != "type" {
		t.Errorf("got %v, %v", broken, err)
	}
}

func TestExtractLimits(t *testing.T) {
	many := strings.Repeat("1,", jsonvalue.MaxValues)
	if v, _, err := Extract(nil, "["+many+"1]", nil); !errors.Is(err, jsonvalue.ErrTooManyValues) || !errors.Is(err, ErrUnchecked) || !strings.Contains(err.Error(), "1000000") || v != nil {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{"so [" + many, strings.Repeat("{} ", jsonvalue.MaxValues)} {
		if v, _, err := Extract(nil, text, nil); err == nil || errors.Is(err, ErrUnchecked) || !strings.Contains(err.Error(), "may have 1048576") || v != nil {
			t.Errorf("%.20s: got %v", text, err)
		}
	}
	if _, _, err := Extract(nil, `{"a": "`+many+`" "b"}`, nil); err == nil || !strings.Contains(err.Error(), "line 1, column") {
		t.Errorf("got %v", err)
	}
	if _, err := Parse([]byte("[" + many + "1]")); !errors.Is(err, jsonvalue.ErrTooManyValues) {
		t.Errorf("got %v", err)
	}
	if _, _, err := Extract(nil, "x "+strings.Repeat("[", 20_000), nil); err == nil {
		t.Error("no end, and no error")
	}
}

// Parsing the largest allowed number of values needs at most 64 MiB and 20
// times the text.
func TestParseMemory(t *testing.T) {
	for name, unit := range map[string]string{"objects": `{"":1},`, "empty objects": "{},", "lists": "[1],", "empty lists": "[],", "numbers": "1000,", "decimals": "1.50,", "texts": `"a",`} {
		t.Run(name, func(t *testing.T) {
			values := map[string]int{"objects": 4, "empty objects": 2, "lists": 2}[name]
			n := (jsonvalue.MaxValues - 2) / max(values, 1)
			text := []byte("[" + strings.Repeat(unit, n) + "1]")
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			v, err := Parse(text)
			runtime.GC()
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			if used, most := after.HeapAlloc-before.HeapAlloc, uint64(64<<20+20*len(text)); used > most {
				t.Errorf("%d MiB of %d", used>>20, most>>20)
			}
			runtime.KeepAlive(v)
		})
	}
}

// With quadratic time, these texts would take hours.
func TestExtractIsLinear(t *testing.T) {
	units := []string{"[", "{", `["{`, `["aaaa [`, `{"a":`, "[1,", "```\n", "`", "` `` ``` ", "<think>", "</think>", "<think></think>", `{"a":1} `, `{"valid":true} `,
		`{"valid": `, "```\ntrue\n```\n", `\u0076`, "valid", `["`, `{"</think>":"<think>"}`, `{"\\\"`, "> {\n", "[1\n> ", "{\n", "[1](", "`{`\n\n", `{"a":1,"a":2}`, "[\n\n"}
	for _, unit := range units {
		for _, text := range []string{strings.Repeat(unit, 1<<18/len(unit)), `["` + strings.Repeat(unit, 1<<18/len(unit))} {
			done := make(chan struct{})
			go func() { Final(text, "valid"); Extract(nil, text, nil); close(done) }()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatalf("%q: still running", unit)
			}
		}
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{`{"a": [1, "}"]} x`, "```\n1\n```", `["{`, "<think>[</think>{}", "{\"\\", "> {}\n`{}` {}", "[1](x) [2]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, _, err := Extract(nil, text, nil)
		if err != nil {
			return
		}
		again, err := Encode(v)
		if err != nil {
			t.Fatalf("%q gave %v", text, v)
		}
		if same, _, err := Extract(nil, "```json\n"+string(again)+"\n```", nil); err != nil || !equal(v, same) {
			t.Errorf("%s: got %v, %v", again, same, err)
		}
	})
}

// Parse must accept the JSON that encoding/json accepts, except keys that
// appear twice.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a": 1, "a": 2}`, `[{"a": {"b": []}, "b": [{"a": 1}, {"a": 2}]}]`, `{"a": "a", "b": "a"}`, `{"\u0061": 1, "a": 2}`, `1`, `[[[]]]`, `{"a": {}, "b": {"a": {}}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse([]byte(text))
		twice := json.Valid([]byte(text)) && hasDuplicate(json.NewDecoder(strings.NewReader(text)))
		var duplicate *jsonvalue.DuplicateKey
		if errors.As(err, &duplicate) && json.Valid([]byte(text)) && !twice || err == nil && twice {
			t.Fatalf("%s: %v", text, err)
		}
		if duplicate != nil {
			return
		}
		if valid := json.Valid([]byte(text)); valid != (err == nil) && utf8.ValidString(text) && !odd(err) {
			t.Fatalf("%s: %v, but for encoding/json %v", text, err, valid)
		}
		if err != nil {
			return
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var other any
		if err := d.Decode(&other); err != nil {
			t.Fatal(err)
		}
		if canonical(v) != canonical(other) || !equal(v, other) {
			t.Fatalf("%s: got %v, want %v", text, v, other)
		}
	})
}

// odd reports whether an error is about numbers or escapes that encoding/json
// accepts.
func odd(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "number") || strings.Contains(err.Error(), "escape"))
}

func hasDuplicate(d *json.Decoder) bool {
	start, err := d.Token()
	if err != nil {
		return false
	}
	found := false
	switch start {
	case json.Delim('{'):
		seen := map[string]bool{}
		for d.More() {
			key, _ := d.Token()
			name := fmt.Sprint(key)
			found = found || seen[name]
			seen[name] = true
			found = hasDuplicate(d) || found
		}
		d.Token()
	case json.Delim('['):
		for d.More() {
			found = hasDuplicate(d) || found
		}
		d.Token()
	}
	return found
}

// TestExtractShared extracts from a text that the attempt has already read.
// Without sharing, reading the text again is most of the work.
func TestExtractShared(t *testing.T) {
	text := strings.Repeat("A paragraph of *prose* with a [link](https://example.org).\n\n", 200) + "```json\n{\"title\": \"ab\"}\n```\n"
	ctx := new(reading.Cache).In(t.Context())
	if _, err := reading.Of(ctx, text); err != nil {
		t.Fatal(err)
	}
	s := compile(t, titled)
	extract := func(ctx context.Context) float64 {
		return testing.AllocsPerRun(5, func() {
			if v, broken, err := ExtractShared(ctx.Err, reading.Shared(ctx), text, s); err != nil || len(broken) > 0 || v.(map[string]any)["title"] != "ab" {
				t.Errorf("got %v, %v, %v", v, broken, err)
			}
		})
	}
	if shared, alone := extract(ctx), extract(t.Context()); shared > alone/10 {
		t.Errorf("%v allocations with a shared reading, %v without", shared, alone)
	}
}
