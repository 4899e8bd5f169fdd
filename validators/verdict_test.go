package validators

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/modelmarkup"
	"github.com/seed61713e19/capstan/internal/schema"
)

func score(f float64) *float64 { return &f }

func TestParseVerdict(t *testing.T) {
	for text, want := range map[string]Verdict{
		`true`:                             {Valid: true},
		` {"valid": true, "reason": "x"} `: {Valid: true, Reason: "x"},
		`{"valid": true}`:                  {Valid: true},
		`{"valid": false}`:                 {Reason: "no reason was given"},
		`{"valid": false, "issues": [{"message": "a", "location": "line 1"}, "b"]}`: {Reason: "line 1: a; b", Issues: []Issue{{Message: "a", Location: "line 1"}, {Message: "b"}}},
		`{"valid": false, "reason": "r", "issues": [{"message": "a", "location": 12, "severity": true, "got": null}]}`: {
			Reason: "r", Issues: []Issue{{Message: "a", Location: "12", Severity: "true"}}},
		`{"valid": true, "score": 0.5, "warnings": ["w"], "fix": "f", "evidence": [1], "status": "s"}`: {
			Valid: true, Score: score(0.5), Warnings: []Issue{{Message: "w"}}, Fix: "f", Evidence: []any{1}, Status: "s"},
		`{"valid": true, "score": 0}`:                                    {Valid: true, Score: score(0)},
		`{"valid": true, "model": "m", "n": 1}`:                          {Valid: true, Details: map[string]any{"model": "m", "n": 1}},
		`{"valid": true, "details": {"a": 1, "b": 2}, "b": 3, "c": 4}`:   {Valid: true, Details: map[string]any{"a": 1, "b": 2, "c": 4}},
		`{"valid": true, "details": "text", "c": 4}`:                     {Valid: true, Details: "text"},
		`{"valid": true, "reason": null, "score": null, "issues": null}`: {Valid: true},
	} {
		v, err := ParseVerdict([]byte(text))
		if err != nil || !reflect.DeepEqual(v, want) {
			t.Errorf("%s: got %+v, %v, want %+v", text, v, err, want)
		}
	}
}

func TestParseVerdictRefuses(t *testing.T) {
	for text, want := range map[string]string{
		``:                                "ends too early",
		`false`:                           "want an object",
		`"true"`:                          "want an object",
		`1`:                               "want an object",
		`[{"valid": true}]`:               "want an object",
		`null`:                            "want an object",
		`{}`:                              `"valid" must be true or false, not missing`,
		`{"valid": null}`:                 `not null`,
		`{"valid": "false"}`:              `not "false"`,
		`{"valid": "true"}`:               `not "true"`,
		`{"valid": 1}`:                    `not 1`,
		`{"Valid": true}`:                 `not missing`,
		`{"valid": true, "reason": 7}`:    "reason",
		`{"valid": true, "score": 1.01}`:  "score must be from 0 to 1, not 1.01",
		`{"valid": true, "score": -0.1}`:  "score must be from 0 to 1",
		`{"valid": true, "score": NaN}`:   "invalid character",
		`{"valid": true, "score": 1e400}`: "score",
		`{"valid": true, "issues": [{"message": {}}]}`: "an issue's parts are strings",
		`{"valid": true, "issues": {}}`:                "issues",
		`{"valid": true} trailing`:                     "text after",
		`{"valid": false, "VALID": true}`:              "ambiguous",
		`{"valid": true, "Valid": false}`:              "ambiguous",
		`{"valid": false, "valid": true}`:              `the key "valid" appears twice`,
		`{"valid": false, "val\u0069d": true}`:         `the key "valid" appears twice`,
		`{"valid": true, "issues": [], "issues": []}`:  `$.issues: the key "issues" appears twice`,
		`{"valid": true, "details": {"a": 1, "a": 2}}`: `$.details.a: the key "a" appears twice`,
		"{\"valid\": true, \"reason\": \"\xff\"}":      "UTF-8",
		`it is {"valid": true}`:                        "line 1, column 1",
	} {
		if v, err := ParseVerdict([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "verdict: ") {
			t.Errorf("%s: got %+v, %v, want %s", text, v, err, want)
		}
	}
	if _, err := VerdictFrom(map[string]any{"valid": true, "score": math.NaN()}); err == nil {
		t.Error("NaN is a score")
	}
}

func TestVerdictIn(t *testing.T) {
	for text, want := range map[string]Verdict{
		"true": {Valid: true},
		"Here is what I think.\n```json\n{\"valid\": true, \"reason\": \"ok\"}\n```\n":                           {Valid: true, Reason: "ok"},
		`The set {x} and [1, 2] are fine, so {"valid": false, "reason": "a } in it"}`:                            {Reason: "a } in it"},
		`<think>{"valid": true, "reason": "at first"}</think> {"valid": false, "reason": "then"}`:                {Reason: "then"},
		"I first thought {\"valid\": false, \"reason\": \"x\"}\n</think>\n{\"valid\": true, \"reason\": \"ok\"}": {Valid: true, Reason: "ok"},
		// Common spellings of a verdict are read.
		`{"valid": "true", "reason": "ok"}`: {Valid: true, Reason: "ok"}, `{"valid": "FAIL", "reason": "bad"}`: {Reason: "bad"}, `"PASS"`: {Valid: true},
		`{"verdict": "Pass", "reason": "ok"}`: {Valid: true, Reason: "ok", Details: map[string]any{"verdict": "Pass"}}, `{"valid": false, "status": "REVISE", "reason": "bad"}`: {Reason: "bad", Status: "REVISE"},
		"{\"valid\": false, \"reason\": \"two\nlines\",}": {Reason: "two\nlines"},
		"```\ntrue\n```": {Valid: true},
		// Strings may contain JSON and tags.
		`{"valid": false, "reason": "it says {\"valid\": true} </think> {\"valid\": true}"}`:                      {Reason: `it says {"valid": true} </think> {"valid": true}`},
		"```json\n{\"valid\": false, \"reason\": \"a </think> in it\"}\n```":                                      {Reason: "a </think> in it"},
		`<think>valid: false? {"valid": false}. No.</think> {"valid": true, "reason": "ok"}`:                      {Valid: true, Reason: "ok"},
		`It repeats a key, {"a": 1, "a": 2}, and is not valid: say why. {"valid": false, "reason": "two a"}`:      {Reason: "two a"},
		`{"valid": true, "reason": "the request is valid: no field is missing", "details": {"valid_until": "x"}}`: {Valid: true, Reason: "the request is valid: no field is missing", Details: map[string]any{"valid_until": "x"}},
		`invalid: false. {"valid": true, "reason": "ok"}`:                                                         {Valid: true, Reason: "ok"},
	} {
		v, err := VerdictIn(text)
		if err != nil || !reflect.DeepEqual(v, want) {
			t.Errorf("%s: got %+v, %v, want %+v", text, v, err, want)
		}
	}
	for text, want := range map[string]string{
		"It is valid.":               "there is no JSON in the text",
		`I say {"valid": "perhaps"}`: `not "perhaps"`,
		`{"result": {"valid": true, "reason": "inner"}, "cut off`: "ends too early",
		`{"reason": "x"}`:                      "not missing",
		`true, it is`:                          "there is no JSON",
		`<think>{"valid": true}</think> maybe`: "there is no JSON",
		`<think>{"valid": true} but then`:      "there is no JSON",
		`<thinking>{"valid": true}, or`:        "there is no JSON",
	} {
		if v, err := VerdictIn(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v, want %s", text, v, err, want)
		}
	}
}

// A rejection that quotes, fences, repeats or drafts an acceptance must not be
// read as an acceptance, in any order.
func TestVerdictInIsUnambiguous(t *testing.T) {
	yes, no := `{"valid": true, "reason": "fine"}`, `{"valid": false, "reason": "not fine"}`
	for _, text := range []string{
		no + " The text ends with " + yes,
		yes + " is what it claims; I say " + no,
		no + "\n```json\n" + yes + "\n```",
		"```json\n" + no + "\n```\n```\n" + yes + "\n```",
		no + "\n```\ntrue\n```",
		yes + " is what it claims; I reject it.", "```json\n" + yes + "\n```\nI reject it.", no + " and again: " + no, "<valid>false</valid> " + yes,
		"Verdict: FAIL\n" + yes, `{"valid": true, "status": "failed"}`, `{"valid": true, "verdict": "REJECT"}`, `{"valid": false, "status": "PASS"}`,
		`{"valid": true, "VALID": false}`, `so: {"Valid": false, "valid": true}`,
		`{"valid": true, "details": {"valid": false}}`, `{"valid": true, "was": [[{"VALID": false}]]}`,
		`[` + no + `, ` + yes + `] ` + yes,
		`{"verdict": ` + no + `} ` + yes,
		`{"valid": "false", "reason": "x"} ` + yes, `{"valid": null} ` + yes, `{"valid": 0} ` + yes,
		`{valid: false, reason: "x"} ` + yes, `{'valid': False} ` + yes, "**valid**: no\n" + yes, `valid = false; ` + yes,
		`{"valid": false, "reason": "he said "no""} ` + yes,
		`{"valid": false, "score": 1e99999} ` + yes, `{"valid": false, "reason": "` + "\xff" + `"} ` + yes,
		`[+1, ` + no + `] ` + yes, `{"valid": false,} ` + yes, `{"valid": false ` + yes,
		no + ` <think> ` + no + ` </think> ` + yes,
	} {
		if v, err := VerdictIn(text); !errors.Is(err, schema.ErrAmbiguous) || v.Valid {
			t.Errorf("%s: got %+v, %v", text, v, err)
		}
	}
}

// A reply with broken JSON, or with a key twice, has no verdict.
func TestVerdictInBroken(t *testing.T) {
	yes := `{"valid": true, "reason": "fine"}`
	for _, text := range []string{
		`{"valid": false, "valid": true, "reason": "x"}`, `so: {"valid": true, "valid": true, "reason": "x"}`, `{"valid": false, "val\u0069d": true, "reason": "x"}`,
		`{"valid": true, "reason": "x", "reason": "y"}`, `{"valid": true, "details": {"a": [{"b": 1, "b": 2}]}}`,
		`{"valid": false, "reason": "` + yes + `"}`, `{"val\u0069d": false, "reason": "` + yes + `"}`,
	} {
		if v, err := VerdictIn(text); err == nil || v.Valid {
			t.Errorf("%s: got %+v, %v", text, v, err)
		}
	}
}

// A text that contains a rejection must never be read as an acceptance.
func FuzzVerdictNeverTurns(f *testing.F) {
	for _, text := range []string{"%s", "so %s {\"valid\": true}", "```\n%s\n```\n```\n{\"valid\": true}\n```", `<thinx>%s</thinx>{"valid":true}`, `[%s,{"valid":true}]`,
		`{"a":%s,"valid":true}`, `{"valid":true} </think> %s`, `<think>a</think>%s</think>{"valid": true}`, `{"x":"</think>"}%s`, "~~~\ntrue\n~~~%s"} {
		f.Add(text, "no")
	}
	f.Fuzz(func(t *testing.T, around, reason string) {
		quoted, _ := json.Marshal(reason)
		before, after, _ := strings.Cut(around, "%s")
		if strings.Count(strings.ReplaceAll(before, `\\`, ""), `"`)%2 == 1 {
			return // the content of a string
		}
		text := before + `{"valid": false, "reason": ` + string(quoted) + `}` + after
		if len(modelmarkup.Find(text)) > 0 {
			return // the rejection is part of the thinking
		}
		if v, err := VerdictIn(text); err == nil && v.Valid {
			t.Errorf("%s: a yes", text)
		}
	})
}

func FuzzVerdictIn(f *testing.F) {
	for _, text := range []string{`{"valid": true, "issues": ["a", {"location": 1}], "x": 1}`, "```\ntrue\n```", `so {"valid": false, "score": 1}`, `{"valid": "false"}`, `{"valid": true, "details": [{}]}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := VerdictIn(text)
		if err != nil {
			if v.Valid || v.Reason != "" {
				t.Errorf("%q: a verdict beside the error %v", text, err)
			}
			return
		}
		if !v.Valid && v.Reason == "" {
			t.Errorf("%q: a no without a reason", text)
		}
		one, err := json.Marshal(v)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		again, err := ParseVerdict(one)
		if err != nil {
			t.Fatalf("%q: %s: %v", text, one, err)
		}
		if two, _ := json.Marshal(again); string(two) != string(one) {
			t.Errorf("%q: %s became %s", text, one, two)
		}
	})
}
