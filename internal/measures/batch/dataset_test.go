package batch_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/runner"
)

const plain = `
cascade_id: plain
inputs_schema: {topic: what about, n: {type: integer, default: 1}, on: {type: boolean}, tags: {type: array}}
phases: [{name: say, instructions: "{{ input.topic }}"}]
`

func parsed(t testing.TB, source string) *cascades.Cascade {
	t.Helper()
	r, err := runner.New()
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("test.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func written(t testing.TB, name, text string) *batch.Dataset {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := batch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A row has its number, its line, and its input or an error.
func TestRows(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"JSON Lines": {"s.jsonl", "\ufeff{\"topic\": \"a\"}\r\n\n  \n{\"topic\": \"b\", \"n\": 2}\n[1]\n{\"topic\": \n{\"topic\": \"\xff\"}\n{\"topic\": \"c\", \"topic\": \"d\"}", []string{
			"1 1 map[topic:a]", "2 4 map[n:2 topic:b] also n", "3 5 error: want a JSON object", "4 6 error: column 10: the JSON ends", "5 7 error: it is not UTF-8", "6 8 error: ",
		}},
		"expect and input": {"s.jsonl", "{\"input\": {\"topic\": \"a\"}, \"expect\": 1}\n{\"topic\": \"a\", \"expect\": {\"expr\": \"1 +\"}}", []string{
			"1 1 map[topic:a] expects", "2 2 error: expect: expression",
		}},
		"a row that is too long": {"s.jsonl", "{\"topic\": \"" + long + "\"}\n{\"topic\": \"b\"}\n", []string{"1 1 error: the row has more than 65536 bytes", "2 2 map[topic:b]"}},
		"nothing":                {"s.jsonl", "", nil},
		"CSV": {"s.CSV", "topic,n,on,tags,expect\n\"a, \"\"b\"\"\nc\",2,true,\"[1]\",yes\n,,,,\n5,x,,,\none,two\nd\"e,1,,,\nf,1,,,\n", []string{
			"1 2 map[n:2 on:true tags:[1] topic:a, \"b\"\nc] expects", "2 4 map[topic:]", "3 5 map[n:x topic:5]", "4 6 error: it has 2 columns; the header has 5", "5 7 error: bare \"", "6 8 map[n:1 topic:f]",
		}},
		"a quote that is not closed": {"s.csv", "topic\na\n\"b\nc\n", []string{"1 2 map[topic:a]", "2 3 error: extraneous or missing \" in quoted-field"}},
		"and goes on for long":       {"s.csv", "topic\na\n\"" + strings.Repeat(long, 2), []string{"1 2 map[topic:a]", "2 3 error: the row has more than 65536 bytes; the following rows cannot be read"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := written(t, c.file, c.text)
			set.MaxRow = 64 << 10
			if set.Count != len(c.want) {
				t.Errorf("%d rows are counted, want %d", set.Count, len(c.want))
			}
			var got []string
			err := set.Rows(parsed(t, plain), func(r batch.Row) error {
				words := fmt.Sprintf("%d %d ", r.Number, r.Line)
				switch {
				case r.Err != nil:
					words += "error: " + r.Err.Error()
				case r.Expect != nil:
					words += fmt.Sprintf("%v expects", r.Input)
				default:
					words += strings.TrimSpace(fmt.Sprintf("%v %s", r.Input, r.Other))
				}
				got = append(got, words)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for i := range max(len(got), len(c.want)) {
				if i >= len(got) || i >= len(c.want) || !strings.HasPrefix(got[i], c.want[i]) {
					t.Fatalf("got  %.300q\nwant %q", got, c.want)
				}
			}
		})
	}
}

// A dataset that changes between two readings is an error.
func TestSetChanges(t *testing.T) {
	set := written(t, "s.jsonl", "{}\n")
	if err := os.WriteFile(set.File, []byte("{}\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := set.Rows(parsed(t, plain), func(batch.Row) error { return nil }); !errors.Is(err, batch.ErrChanged) {
		t.Errorf("got %v", err)
	}
}

// A file that is no dataset is one error, before any row runs.
func TestNoSet(t *testing.T) {
	wide := func(text string, order binary.AppendByteOrder) string {
		var raw []byte
		for _, c := range utf16.Encode([]rune(text)) {
			raw = order.AppendUint16(raw, c)
		}
		return string(raw)
	}
	for _, c := range []struct{ file, text, want string }{
		{"s.csv", "a,a\n1,2\n", "the header: two columns are called a"},
		{"s.csv", "a,\n1,2\n", "the header: column 2 has no name"},
		{"s.csv", "topic;n\nowls;1\n", `it has one column, "topic;n": want commas`},
		{"s.csv", "topic\tn\nowls\t1\n", "want commas"},
		{"s.csv", "topic\rowls\rbats\r", "does not end with a line feed"},
		{"s.csv", "{\"topic\": \"owls\"}\n", "the header: parse error"},
		{"s.csv", wide("\ufefftopic\nowls\n", binary.LittleEndian), "it is UTF-16"},
		{"s.csv", wide("topic\nowls\n", binary.BigEndian), "it is UTF-16"},
		{"s.jsonl", wide("{\"topic\": \"owls\"}\n", binary.LittleEndian), "it is UTF-16"},
		{"s.jsonl", wide("\ufeff{\"topic\": \"owls\"}\n", binary.BigEndian), "it is UTF-16"},
		{"s.jsonl", "topic,n\nowls,1\n", "it is not JSON Lines"},
		{"s.yaml", "- topic: owls\n- topic: bats\n", "it is not JSON Lines"},
		{"s.json", "\n[\n  {\"topic\": \"owls\"},\n  {\"topic\": \"bats\"}\n]\n", "it is not JSON Lines"},
		{"s.jsonl", "\x1f\x8b\x08\x08{\n", "it is not JSON Lines"},
		{"s.yaml", "draft: |\n  {% if a %}b\n  {{ c }}\n", "it is not JSON Lines"},
		{"s.json", "{\n  \"topic\": \"owls\"\n}\n{\n  \"topic\": \"bats\"\n}\n", "it is not JSON Lines"},
	} {
		file := filepath.Join(t.TempDir(), c.file)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := batch.Open(file); err == nil || !strings.Contains(err.Error(), file+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	for _, text := range []string{"", "\n \n", "\ufeff{\"topic\": \"a\"}", "nonsense\n{}\n", "\xff\n  {}", "{ \"topic\": \"a\"}", "{ }\nnonsense\n"} {
		written(t, "s.jsonl", text)
	}
	written(t, "s.csv", "")
	written(t, "s.csv", "\ufefftopic\r\nowls; bats\r\n")
}

// The expectation of a row is a value or an expression about the output.
func TestExpect(t *testing.T) {
	for _, c := range []struct {
		expect, output string
		want           string
	}{
		{`"an owl"`, `" an owl\n"`, "true"},
		{`"an owl"`, `"a bat"`, "false"},
		{`42`, `42.0`, "true"},
		{`42`, `"42"`, "true"},
		{`"42"`, `42`, "true"},
		{`{"a": [1]}`, `"{\"a\": [1.0]}"`, "true"},
		{`{"a": 1, "b": 2}`, `{"a": 1}`, "false"},
		{`null`, `"x"`, "false"},
		{`"output contains 'owl'"`, `"an owl"`, "true"},
		{`"len(content) > 9"`, `"an owl"`, "false"},
		{`"output == \"42\""`, `"42"`, "true"},
		{`"output.n > 1"`, `"{\"n\": 2}"`, "true"},
		{`"output.n > 1"`, `{"n": 1}`, "false"},
		{`"output.n > 1"`, `"an owl"`, "unknown"},
		{`"the output"`, `"the output"`, "true"}, // no expression
		{`{"value": "output == 1"}`, `"output == 1"`, "true"},
		{`{"expr": "input.topic == 'x'"}`, `"y"`, "true"},
	} {
		set := written(t, "s.jsonl", fmt.Sprintf(`{"topic": "x", "expect": %s}`, c.expect))
		err := set.Rows(parsed(t, plain), func(r batch.Row) error {
			if r.Err != nil {
				return r.Err
			}
			got := "unknown"
			if met := r.Expect.Met(value(t, c.output), r.Input); met != nil {
				got = fmt.Sprint(*met)
			}
			if got != c.want {
				t.Errorf("expect %s of %s: %s, want %s", c.expect, c.output, got, c.want)
			}
			return nil
		})
		if err != nil {
			t.Errorf("expect %s: %v", c.expect, err)
		}
	}
}
