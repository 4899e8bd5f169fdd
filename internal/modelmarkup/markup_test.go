package modelmarkup_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/modelmarkup"
	"github.com/seed61713e19/capstan/internal/tables"
)

func TestTableRows(t *testing.T) {
	table, err := os.ReadFile("tables/markup.tsv")
	if err != nil {
		t.Fatal(err)
	}
	err = tables.Check(string(table), func(row tables.Row, line string) bool {
		found := modelmarkup.Find(line)
		if rest, _ := modelmarkup.Cut(line); len(found) > 0 && row["kind"] == "thinking" && rest != "Hello." {
			t.Errorf("%s: Cut(%q) = %q, want %q", row["open"], line, rest, "Hello.")
		}
		kind := map[string]modelmarkup.Kind{"thinking": modelmarkup.Thinking, "call": modelmarkup.ToolCall}[row["kind"]]
		return len(found) == 1 && found[0].Kind == kind
	})
	if err != nil {
		t.Error(err)
	}
}

func TestCut(t *testing.T) {
	for text, want := range map[string]string{
		"Hello.":                                           "Hello.",
		"  Hello.\n":                                       "  Hello.\n",
		"<think>\nHm.\n</think>\n\nHello":                  "Hello",
		"Hm.\n</think>\n\nHello":                           "Hello",
		"<think>Hm.":                                       "",
		"Hm.</think>":                                      "",
		"<think></think>":                                  "",
		"<think>a</think>b</think>c":                       "c",
		"<think>a</think> <think>b</think>\nc":             "c",
		"<think>a <think> b</think>c":                      "c",
		"One.\n<think>a</think>\nTwo.":                     "One.\n\nTwo.",
		"One.\n<think>\nand then":                          "One.",
		"The tag <think> opens it.":                        "The tag <think> opens it.",
		"It says </think> there.":                          "It says </think> there.",
		"Say (</think>) or \"</think>\".":                  "Say (</think>) or \"</think>\".",
		"Write `<think>a</think>` first.":                  "Write `<think>a</think>` first.",
		"```\n<think>a</think>\n```\nb":                    "```\n<think>a</think>\n```\nb",
		"~~~~\n<think>\n~~~\n</think>\n~~~~":               "~~~~\n<think>\n~~~\n</think>\n~~~~",
		"<think>\n```\n</think>\n```\nso</think>b":         "b",
		"<think>\n```json\n{\"a\": 1\n</think>\nb":         "b",
		"<think>\n```\n</think>\nb\n```":                   "b\n```",
		"<think>a `b\n</think>\n\nc `d`":                   "c `d`",
		`{"a": "</think>"}`:                                `{"a": "</think>"}`,
		`See: {"a": ["<think>x</think>"]} and so on`:       `See: {"a": ["<think>x</think>"]} and so on`,
		`I thought {"a": 1}` + "\n</think>\n" + `{"a": 2}`: `{"a": 2}`,
		`I thought {"a: 1}</think>{"a": 2}`:                `{"a": 2}`,
		`<thinking>{"a": "</think>"} hm`:                   "",
		`{"a": 1} <think>{"a": 2}</think>`:                 `{"a": 1}`,
		"<r><reasoning>a</reasoning></r>":                  "<r><reasoning>a</reasoning></r>",
		"a</reasoning>b":                                   "a</reasoning>b",
		"<reasoning>a</reasoning><thought>b</thought>c":    "c",
		"Hm.\n</think>\n<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>":                                 "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>",
		"<|start|>assistant<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello": "Hello",
	} {
		rest, cuts := modelmarkup.Cut(text)
		if rest != want {
			t.Errorf("Cut(%q) = %q, want %q", text, rest, want)
		}
		if (len(cuts) > 0) != (rest != text) {
			t.Errorf("Cut(%q) cuts %v", text, cuts)
		}
	}
}

func TestCalls(t *testing.T) {
	for text, want := range map[string][]string{
		"Hello.": nil,
		`I look. <tool_call>{"name": "a", "arguments": {"x": "</tool_call>"}}</tool_call> Wait.`: {`<tool_call>{"name": "a", "arguments": {"x": "</tool_call>"}}</tool_call>`},
		`<tool_call>{"name": "a"`: {`<tool_call>{"name": "a"`},
		`[{"name": "a", "arguments": {}}, {"id": "1", "type": "function", "name": "b", "arguments": "{}"}]`: {`[{"name": "a", "arguments": {}}, {"id": "1", "type": "function", "name": "b", "arguments": "{}"}]`},
		`[{"name": "a", "arguments": {}}, 1]`:                                              nil,
		`[]"name""arguments"`:                                                              nil,
		`{"name": {}, "arguments": {}}`:                                                    nil,
		`{"tool": {"name": "a", "arguments": {}}}`:                                         nil,
		`{"name": "a", "arguments": {}, "why": "b"}`:                                       nil,
		"```json\n{\"name\": \"a\", \"arguments\": {}}\n```":                               nil,
		"```tool_call\nNothing.\n```":                                                      nil,
		"```tool_calls\n{}\n```":                                                           nil,
		"`<tool_call>{}</tool_call>`":                                                      nil,
		`<think><tool_call>{}</tool_call></think>`:                                         nil,
		`<function=a>{}</function> then <invoke name="b"></invoke>`:                        {`<function=a>{}</function>`, `<invoke name="b"></invoke>`},
		"<tool_call>\n<function=a>\n<parameter=x>1</parameter>\n</function>\n</tool_call>": {"<tool_call>\n<function=a>\n<parameter=x>1</parameter>\n</function>\n</tool_call>"},
	} {
		var got []string
		for _, c := range modelmarkup.Calls(text) {
			got = append(got, c.Text)
			if bare := c.Text[0] == '{' || c.Text[1] == '{'; c.Bare != bare {
				t.Errorf("Calls(%q): bare is %v", text, c.Bare)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("Calls(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCallNames(t *testing.T) {
	c := modelmarkup.Call{Text: `<tool_call>{"name": "read_file", "arguments": {"path": "set_state.txt"}}</tool_call>`}
	if got := c.Names([]string{"read", "read_file", "list"}); !reflect.DeepEqual(got, []string{"read_file"}) {
		t.Errorf("Names: %q", got)
	}
}

// TestFindLinear checks that hostile texts take time in proportion to their length.
func TestFindLinear(t *testing.T) {
	for name, unit := range map[string]string{
		"openings": "<think>", "closings": "</think>", "pairs": "<think>a</think>", "code": "`<think></think>` ", "unclosed calls": "<tool_call>{",
		"calls": "<tool_call>{}</tool_call>", "braces": "{", "brackets": "[", "broken objects": `{"a": {`, "objects": `{"name": "a", "arguments": {}} `,
		"fences": "```\n", "longer fences": "~~~~~~~a\n~~~~~~\n~~~~~\n", "backticks": "`` ` ``` ", "blank": " \n", "paragraphs": "`<think>`\n\n", "masked closings": "<think>`</think>`\n\n",
		"mentions": " <think> ", "harmony": "<|channel|>analysis<|message|><|end|>", "starts": "<thought>", "alone": "\n<think>\n",
	} {
		took := func(n int) time.Duration {
			text := strings.Repeat(unit, n/len(unit))
			begin := time.Now()
			modelmarkup.Cut(text)
			return time.Since(begin)
		}
		took(1 << 10)
		if small, large := took(1<<16), took(1<<20); large > 64*small+time.Second {
			t.Errorf("%s: %v for 64 KiB, %v for 1 MiB", name, small, large)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("<think>`a`\n```\n</think>{\"a\": [1]}\n</think>[TOOL_CALLS][{}]")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, s := range modelmarkup.Find(text) {
			if s.Start < at || s.End <= s.Start || s.End > len(text) {
				t.Fatalf("Find(%q): span %v after %d", text, s, at)
			}
			at = s.End
		}
		modelmarkup.Cut(text)
	})
}
