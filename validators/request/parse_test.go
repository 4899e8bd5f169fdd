package request_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
)

func TestParseResponseWherever(t *testing.T) {
	good := string(text(t, answer("PASS", "AC-1", "PASS")))
	bad := string(text(t, answer("FAIL", "AC-1", "FAIL")))
	for name, in := range map[string]string{
		"raw":                   good,
		"byte order mark":       "\ufeff" + good,
		"white space":           "\n\t " + good + "\r\n",
		"fence":                 "It holds.\n\n```json\n" + good + "\n```\nDone.",
		"fence without a label": "~~~\n" + good + "\n~~~",
		"the last fence":        "```json\n" + bad + "\n```\nNo:\n```JSON\n" + good + "\n```",
		"windows":               "Here:\r\n```json\r\n" + good + "\r\n```\r\n",
		"indented":              "- here:\n  ```json\n  " + good + "\n  ```\n",
		"a shell fence behind":  "```json\n" + good + "\n```\nTry\n```sh\ngo test\n```\n",
		"longer fence":          "````json\n" + good + "\n````\n",
		"thinking":              "<think>```json\n" + bad + "\n```</think>\n" + good,
		"another word for it":   "<thinking>```json\n" + bad + "\n```</thinking>\n" + good,
		"only the closing tag":  "Maybe " + bad + "?\n</think>\n" + good,
		"thinking in brackets":  "[THINK]" + bad + "[/THINK]" + good,
		"a tag in a string":     strings.Replace(good, `"evidence":"`, `"evidence":"it writes </think>, `, 1),
		"fence inside a fence":  "````md\n```json\n" + bad + "\n```\n````\n```json\n" + good + "\n```",
	} {
		r, err := request.ParseResponse([]byte(in))
		if err != nil || r.Verdict != request.Pass {
			t.Errorf("%s: %v %v", name, r, err)
		}
	}
}

func TestParseResponseProblems(t *testing.T) {
	good := answer("PASS", "AC-1", "PASS")
	result := func(o object) object { return with(good, object{"criteria_results": []any{o}}) }
	one := object{"criterion_id": "AC-1", "status": "PASS", "evidence": "e"}
	raw := string(text(t, good))
	for name, c := range map[string]struct {
		in   any
		want []string // a part of every problem, in order
	}{
		"trailing document":     {raw + raw, []string{"there is text after the JSON document"}},
		"prose behind":          {raw + "\nI hope this helps.", []string{"there is text after the JSON document"}},
		"object in prose":       {"Here it is: " + raw, []string{"there is no JSON: want one JSON object, alone or in a ```json fence"}},
		"last fence is cut off": {"```json\n" + raw + "\n```\n```json\n" + raw[:20], []string{"the fence in line 4 is never closed"}},
		"never closed":          {"so:\n```json\n" + raw, []string{"the fence in line 2 is never closed"}},
		"within a thought":      {"<think>so:\n```json\n" + raw + "\n```\nbut", []string{"it ends within the model's thinking"}},
		"within thinking":       {" <thinking>so:\n```json\n" + raw + "\n```\nbut", []string{"it ends within the model's thinking"}},
		"never closed, whole":   {"so:\n~~~\n" + raw + "\n```\n", []string{"the fence in line 2 is never closed"}},
		"another one is open":   {"```json\n" + raw + "\n```\n```sh\ngo test\n", []string{"the fence in line 4 is never closed"}},
		"a document behind":     {"```json\n" + raw + "\n```\nOn second thoughts: " + raw, []string{"line 4: a second document begins behind the first"}},
		"another word behind":   {"```json\n" + raw + "\n```\n{\"verdict\": \"FAIL\"}", []string{"line 4: a second document begins behind the first"}},
		"behind, in a list":     {"```json\n" + raw + "\n```\nand [" + raw + "]", []string{"line 4: a second document begins behind the first"}},
		"two in a fence":        {"```json\n" + raw + "\n" + raw + "\n```", []string{"line 3, column 1: there is text after"}},
		"place in a fence":      {"a\nb\n```json\n{\"task_id\": }\n```", []string{"line 4, column 13"}},
		"no UTF-8":              {"{\"task_id\": \"\xff\"}", []string{"not UTF-8"}},
		"nothing":               {"", []string{"there is no JSON"}},
		"null":                  {"null", []string{"there is no JSON"}},
		"array":                 {"[" + raw + "]", []string{"must be an object"}},

		"key twice":                {`{"verdict": "FAIL",` + raw[1:], []string{"verdict: appears twice"}},
		"key twice, escaped":       {`{"verd\u0069ct": "FAIL",` + raw[1:], []string{"verdict: appears twice"}},
		"key twice inside":         {strings.Replace(raw, `"status":`, `"status":"FAIL","status":`, 1), []string{"criteria_results[0].status: appears twice"}},
		"key twice nobody reads":   {strings.Replace(raw, `{`, `{"x":[1,{"a":1,"a":2}],`, 1), []string{"x[1].a: appears twice"}},
		"case of a key":            {with(good, object{"verdict": nil, "Verdict": "PASS"}), []string{"Verdict: use verdict", "verdict: is missing"}},
		"case beside the right":    {with(good, object{"VERDICT": "FAIL"}), []string{"VERDICT: use verdict"}},
		"camel case":               {with(good, object{"criteria_results": nil, "criteriaResults": []any{}}), []string{"criteriaResults: use criteria_results", "criteria_results: is missing"}},
		"case of an optional key":  {with(good, object{"evidenceCollected": object{}}), []string{"evidenceCollected: use evidence_collected"}},
		"case of a value":          {with(good, object{"verdict": "pass"}), []string{`verdict: must be one of ["PASS","FAIL","PARTIAL","BLOCKED"], not "pass"`}},
		"another form of a value":  {result(with(one, object{"status": "Passed"})), []string{`criteria_results[0].status: must be one of ["PASS","FAIL","SKIP","BLOCKED"], not "Passed"`}},
		"partial for a criterion":  {result(with(one, object{"status": "PARTIAL"})), []string{`criteria_results[0].status: must be one of`}},
		"missing":                  {object{}, []string{"task_id: is missing", "verdict: is missing", "criteria_results: is missing", "timestamp: is missing"}},
		"no evidence":              {result(with(one, object{"evidence": nil})), []string{"criteria_results[0].evidence: is missing"}},
		"null evidence":            {result(object{"criterion_id": "AC-1", "status": "PASS", "evidence": json.RawMessage("null")}), []string{"criteria_results[0].evidence: must be a string, is null"}},
		"no time zone":             {with(good, object{"timestamp": "2026-02-17T14:30:00"}), []string{"timestamp: must be of format date-time"}},
		"no such day":              {with(good, object{"timestamp": "2026-02-30T14:30:00Z"}), []string{"timestamp: must be of format date-time"}},
		"confidence above":         {with(good, object{"confidence": 1.01}), []string{"confidence: "}},
		"confidence below":         {with(good, object{"confidence": -0.01}), []string{"confidence: "}},
		"confidence in words":      {with(good, object{"confidence": "high"}), []string{"confidence: must be a number, is a string"}},
		"no whole number":          {with(good, object{"evidence_collected": object{"test_results": object{"exit_code": 0.5}}}), []string{"evidence_collected.test_results.exit_code: must be an integer, is a number"}},
		"no number of this world":  {with(good, object{"evidence_collected": object{"test_results": object{"exit_code": 1e300}}}), []string{"exit_code: number 1e+300 is too large"}},
		"escape sequences":         {with(good, object{"verdict": "\x1b[2JPASS\u202e"}), []string{"verdict: must be"}},
		"more than one at a time":  {with(result(with(one, object{"status": "pass"})), object{"verdict": "ok", "timestamp": "now", "Duration_Seconds": 1}), []string{"Duration_Seconds: use", "criteria_results[0].status: ", "timestamp: ", "verdict: "}},
		"more than can be read":    {with(good, object{"criteria_results": make([]any, 10_001)}), []string{"criteria_results: has 10001 items, and more than 10000 are not read"}},
		"nested deeper than reads": {strings.Repeat(`{"a":`, 20_000), []string{"nests deeper than 9000 levels"}},
	} {
		r, err := request.ParseResponse(text(t, c.in))
		var broken *request.ProtocolError
		if !errors.As(err, &broken) || r != nil {
			t.Errorf("%s: %v %v", name, r, err)
			continue
		}
		if len(broken.Problems) != len(c.want) {
			t.Errorf("%s: got %q", name, broken.Problems)
			continue
		}
		for i, p := range broken.Problems {
			if !strings.Contains(p.String(), c.want[i]) || strings.ContainsAny(p.String(), "\x1b\u202e\n") {
				t.Errorf("%s: got %q, want %q", name, p, c.want[i])
			}
		}
		if !strings.HasPrefix(err.Error(), "validation response: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseResponseTakes(t *testing.T) {
	good := answer("PASS", "AC-1", "PASS")
	for name, in := range map[string]object{
		"fields that nobody knows":   with(good, object{"model": "x", "criteria": []any{1}, "status": "done", "x": object{"verdict": "FAIL"}}),
		"whole numbers with a point": with(good, object{"evidence_collected": object{"test_results": object{"exit_code": json.RawMessage("0.0")}}}),
		"small letters":              with(good, object{"timestamp": "2026-02-17t14:30:00z"}),
		"leap second":                with(good, object{"timestamp": "2016-12-31T23:59:60Z"}),
		"parts of a second":          with(good, object{"timestamp": "2026-02-17T14:30:00.123456+01:00"}),
		"confidence 0":               with(good, object{"confidence": 0}),
		"confidence 1":               with(good, object{"confidence": 1}),
		"no results":                 with(good, object{"criteria_results": []any{}}),
	} {
		r, err := request.ParseResponse(text(t, in))
		if err != nil || r.Verdict != request.Pass || r.Timestamp.IsZero() {
			t.Errorf("%s: %+v %v", name, r, err)
		}
	}
	// The standard decoder would fold this key to a field's name. Here it is an
	// unknown key.
	r := answered(t, with(good, object{"ta\u017fk_id": "other", "verdict": "PASS"}))
	if r.TaskID != "task-1" {
		t.Errorf("got %q", r.TaskID)
	}
}

func TestParseRequest(t *testing.T) {
	whole := with(ask("AC-1", "AC-2"), object{
		"prd_id": "PRD-S3-AUTONOMY-001", "claimed_evidence": object{"summary": "s", "files_modified": []any{"a.go"}, "test_results": "ok", "commit_hash": "abc"},
		"worktree_path": "/w", "branch": "b", "services": object{"app_url": "http://localhost:3000", "api_url": "http://localhost:8000/v1", "required_ports": []any{3000}},
		"focus_areas": []any{"f"}, "timeout_seconds": 5, "more": 1,
	})
	r := asked(t, "Validate this:\n```json\n"+string(text(t, whole))+"\n```\n")
	if r.Timeout() != 5*time.Second || len(r.Warnings()) != 0 || r.Services.RequiredPorts[0] != 3000 || r.Claimed["commit_hash"] != "abc" || r.Criteria[1].ID != "AC-2" {
		t.Errorf("got %+v", r)
	}
	if again := asked(t, string(text(t, r))); !reflect.DeepEqual(again, r) {
		t.Errorf("written and read again: %+v", again)
	}
	for name, c := range map[string]struct {
		seconds any
		want    time.Duration
	}{"none": {nil, 300 * time.Second}, "whole": {json.RawMessage("7.0"), 7 * time.Second}, "for ever": {int64(1) << 62, 24 * time.Hour}} {
		if got := asked(t, with(ask("a"), object{"timeout_seconds": c.seconds})).Timeout(); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	dotted := asked(t, with(ask("a"), object{"prd_id": "PRD-S3-1.2"}))
	if w := dotted.Warnings(); len(w) != 1 || w[0].Field != "prd_id" {
		t.Errorf("a dot in prd_id: %v", w)
	}
}

func TestParseRequestProblems(t *testing.T) {
	good := ask("AC-1")
	for name, c := range map[string]struct{ in, want any }{
		"no criteria":         {with(good, object{"acceptance_criteria": []any{}}), "acceptance_criteria: must have at least 1 item"},
		"the same id twice":   {ask("AC-1", "AC-2", "AC-1"), `acceptance_criteria[2].id: another criterion is called "AC-1" too`},
		"capitals in task_id": {with(good, object{"task_id": "Task-1"}), "task_id: "},
		"a path as task_id":   {with(good, object{"task_id": "../../etc/passwd"}), "task_id: "},
		"a line in task_id":   {with(good, object{"task_id": "task-1\n"}), "task_id: "},
		"empty task_id":       {with(good, object{"task_id": ""}), "task_id: "},
		"type":                {with(good, object{"validation_type": "Code"}), "validation_type: must be one of [\"code\",\"browser\",\"both\"], not \"Code\""},
		"prd_id":              {with(good, object{"prd_id": "PRD_1"}), "prd_id: "},
		"small prd_id":        {with(good, object{"prd_id": "PRD-a.1"}), "prd_id: "},
		"url":                 {with(good, object{"services": object{"app_url": "localhost"}}), "services.app_url: must be of format uri"},
		"no time":             {with(good, object{"timeout_seconds": 0}), "timeout_seconds: must be at least 1, is 0"},
		"no time, negative":   {with(good, object{"timeout_seconds": json.RawMessage("-0")}), "timeout_seconds: must be at least 1"},
		"less than no time":   {with(good, object{"timeout_seconds": -3}), "timeout_seconds: must be at least 1, is -3"},
		"less, far":           {with(good, object{"timeout_seconds": -1e300}), "timeout_seconds: "},
		"part of a second":    {with(good, object{"timeout_seconds": 0.5}), "timeout_seconds: must be an integer, is a number"},
		"part of another":     {with(good, object{"timeout_seconds": 1.5}), "timeout_seconds: must be an integer, is a number"},
		"next to nothing":     {with(good, object{"timeout_seconds": json.RawMessage("1e-9")}), "timeout_seconds: "},
		"no number":           {`{"timeout_seconds": NaN}`, "invalid character"},
		"no time at all":      {with(good, object{"timeout_seconds": json.RawMessage("null")}), "timeout_seconds: must be an integer, is null"},
		"time in words":       {with(good, object{"timeout_seconds": "300"}), "timeout_seconds: must be an integer, is a string"},
		"key twice":           {`{"task_id": "a", "task_id": "b"}`, "task_id: appears twice"},
		"ports":               {with(good, object{"services": object{"required_ports": []any{80, "81"}}}), "services.required_ports[1]: must be an integer, is a string"},
	} {
		_, err := request.ParseRequest(text(t, c.in))
		if err == nil || !strings.Contains(err.Error(), c.want.(string)) || !strings.HasPrefix(err.Error(), "validation request: ") {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// TestParseLong checks that the problems of a message are limited,
// deterministic and fast. Every list of a message may have its maximum length.
func TestParseLong(t *testing.T) {
	const n = 10_000
	list := func(item object) []any { return slices.Repeat([]any{item}, n) }
	long := object{
		"task_id": "t", "verdict": "PASS", "timestamp": "2026-02-17T14:30:00Z",
		"criteria_results": list(object{"criterion_id": "a", "status": "PASS", "evidence": "e", "remediation": "r"}),
		"evidence_collected": object{
			"screenshots":   list(object{"path": "p", "description": "d", "step": "s"}),
			"api_responses": list(object{"endpoint": "e", "method": "m", "status_code": 200, "response_snippet": "s"}),
			"file_checks":   list(object{"path": "p", "exists": true, "size_bytes": 1, "contains_expected": true, "note": "n"}),
		},
	}
	if r, err := request.ParseResponse(text(t, long)); err != nil || len(r.Results) != n {
		t.Fatal(err)
	}
	long["focus"] = list(object{"a": slices.Repeat([]any{1}, 100)})
	if _, err := request.ParseResponse(text(t, long)); err == nil || !strings.Contains(err.Error(), "values and names") {
		t.Errorf("got %v", err)
	}
}

func TestParseHostile(t *testing.T) {
	const n = 10 << 20
	bad := `{"criterion_id": 1, "Status": "x", "evidence": "` + strings.Repeat("e", 200) + `"},`
	for name, in := range map[string]string{
		"nonsense":       strings.Repeat("nonsense ", n/9),
		"zeros":          strings.Repeat("\x00", n),
		"brackets":       strings.Repeat("[", n),
		"braces":         strings.Repeat(`{"a":`, n/5),
		"fences":         strings.Repeat("```\n", n/4),
		"fences of JSON": strings.Repeat("```json\n{}\n```\n", n/15),
		"bad results":    `{"criteria_results": [` + strings.Repeat(bad, 9_999) + `{}]}`,
		"small items":    `{"criteria_results": [` + strings.Repeat("1,", n/2) + `1]}`,
		"other keys":     `{"x": [` + strings.Repeat(`{"a":1,"a":2},`, n/14) + `1]}`,
		"one key":        `{"` + strings.Repeat("k", n) + `": 1}`,
		"one word":       `{"verdict": "` + strings.Repeat("v", n) + `"}`,
	} {
		_, err := request.ParseResponse([]byte(in))
		if err == nil || len(err.Error()) > 50_000 {
			t.Errorf("%s: %d bytes are reported", name, len(err.Error()))
			continue
		}
		if len(in) < 3<<20 {
			if _, again := request.ParseResponse([]byte(in)); again.Error() != err.Error() {
				t.Errorf("%s: %v, then %v", name, err, again)
			}
		}
	}
}
