package validators

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
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
		`{"valid": true, "score": 0}`:                                         {Valid: true, Score: score(0)},
		`{"valid": true, "model": "m", "n": 1}`:                               {Valid: true, Details: map[string]any{"model": "m", "n": 1}},
		`{"valid": true, "details": {"a": 1, "b": 2}, "b": 3, "c": 4}`:        {Valid: true, Details: map[string]any{"a": 1, "b": 2, "c": 4}},
		`{"valid": true, "details": "text", "c": 4}`:                          {Valid: true, Details: "text"},
		`{"valid": true, "reason": null, "score": null, "issues": null}`:      {Valid: true},
		`{"valid": false, "VALID": true, "reason": "the first key is meant"}`: {Reason: "the first key is meant", Details: map[string]any{"VALID": true}},
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
		`{"valid": true} trailing`:                     "text behind",
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
		"Here is what I think.\n```json\n{\"valid\": true, \"reason\": \"ok\"}\n```\nGood luck!":   {Valid: true, Reason: "ok"},
		`The set {x} and [1, 2] are fine, so {"valid": false, "reason": "a } in it"}.`:             {Reason: "a } in it"},
		`<think>{"valid": true, "reason": "at first"}</think> {"valid": false, "reason": "then"}`:  {Reason: "then"},
		`{"valid": true, "reason": "one"} no, wait: {"valid": false, "reason": "two"} {"note": 1}`: {Reason: "two"},
		`{"result": {"valid": true, "reason": "inner"}, "cut off`:                                  {Valid: true, Reason: "inner"},
		"```\ntrue\n```": {Valid: true},
	} {
		v, err := VerdictIn(text)
		if err != nil || !reflect.DeepEqual(v, want) {
			t.Errorf("%s: got %+v, %v, want %+v", text, v, err, want)
		}
	}
	for text, want := range map[string]string{
		"It is valid.":                         "there is no JSON in the text",
		`I say {"valid": "false"}`:             `not "false"`,
		`{"reason": "x"}`:                      "not missing",
		`true, it is`:                          "there is no JSON",
		`<think>{"valid": true}</think> maybe`: "there is no JSON",
	} {
		if v, err := VerdictIn(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v, want %s", text, v, err, want)
		}
	}
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
