package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/dispatch"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
)

func TestARunOverHTTP(t *testing.T) {
	w := servetest.New(t)
	r := w.Want(202, "POST", "/v1/runs", map[string]any{"cascade": "post", "input": map[string]any{"topic": "owls"}, "run_id": "first"})
	if r.Header.Get("Location") != "/v1/runs/first" || r.JSON(t)["run_id"] != "first" {
		t.Errorf("%s %s", r.Header, r.Text)
	}
	<-w.Done
	run := w.Want(200, "GET", "/v1/runs/first", nil).JSON(t)
	if run["status"] != "succeeded" || run["output"] != "Owls hoot softly in the night, and fly at dusk." || len(run["verdicts"].([]any)) != 4 {
		t.Errorf("%v", run)
	}
	list := w.Want(200, "GET", "/v1/runs?status=succeeded&cascade=post&q=fir", nil).JSON(t)
	if len(list["runs"].([]any)) != 1 {
		t.Errorf("%v", list)
	}
	if list := w.Want(200, "GET", "/v1/runs?status=failed", nil).JSON(t); len(list["runs"].([]any)) != 0 {
		t.Errorf("%v", list)
	}
}

func TestAnOrderThatIsRepeated(t *testing.T) {
	w := servetest.New(t)
	order := map[string]any{"cascade": "post", "input": map[string]any{"topic": "owls"}, "run_id": "once"}
	w.Want(202, "POST", "/v1/runs", order)
	<-w.Done
	if r := w.Want(200, "POST", "/v1/runs", order); r.JSON(t)["status"] != "succeeded" || r.Header.Get("Location") != "/v1/runs/once" {
		t.Error(r.Text)
	}
	order["input"] = map[string]any{"topic": "bats"}
	w.Problem(409, "run_exists", "POST", "/v1/runs", order)
	w.Problem(409, "run_exists", "POST", "/v1/runs", map[string]any{"cascade": "ask", "input": map[string]any{"topic": "owls"}, "run_id": "once"})
	if n := len(w.Want(200, "GET", "/v1/runs", nil).JSON(t)["runs"].([]any)); n != 1 {
		t.Errorf("%d runs", n)
	}
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "going"}`)
	if r := w.Want(200, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "going"}`); r.JSON(t)["status"] != "running" {
		t.Error(r.Text)
	}
	w.Problem(409, "run_exists", "POST", "/v1/runs", `{"cascade": "slow", "run_id": "going", "input": {"x": 1}}`)
}

func TestOrdersThatAreRefused(t *testing.T) {
	w := servetest.New(t)
	for _, c := range []struct {
		status int
		code   string
		body   string
	}{
		{422, "unknown_cascade", `{"cascade": "/etc/passwd"}`},
		{422, "unknown_cascade", `{"cascade": "../post.yaml"}`},
		{422, "unknown_model", `{"cascade": "post", "model": "scripted:/etc/passwd"}`},
		{422, "invalid_input", `{"cascade": "post", "input": {"topic": "x"}}`},
		{422, "invalid_input", `{"cascade": "post"}`},
		{422, "invalid_input", `{"cascade": "post", "input": {"topic": "owls", "topik": "x"}}`},
		{422, "invalid_cascade", `{"cascade": "wrong"}`},
		{422, "invalid_body", `{"cascade": "post", "run_id": "../x"}`},
		{422, "invalid_body", `{"cascade": "post", "Input": {}}`},
		{422, "invalid_body", `{"cascade": "post", "input": []}`},
		{422, "invalid_body", `[]`},
		{422, "invalid_body", `{}`},
		{400, "bad_json", `{"cascade": "post", "cascade": "ask"}`},
		{400, "bad_json", `{"cascade": "post", "input": {"a": {"b": 1, "b": 2}}}`},
		{400, "bad_json", `{"cascade": "post"} {}`},
		{400, "bad_json", `{"cascade": `},
		{400, "bad_json", "{\"cascade\": \"\xff\"}"},
		{400, "bad_json", ``},
		{400, "bad_json", strings.Repeat("[", 100_000)},
	} {
		w.Problem(c.status, c.code, "POST", "/v1/runs", c.body)
	}
	for _, id := range []string{"a", "a:b", "a.b-c_d", "last", "lastly", strings.Repeat("a", 128), ".", "a b", "a/b", "a\n", "ä", "-a", strings.Repeat("a", 129)} {
		body, _ := json.Marshal(map[string]any{"cascade": "nobody", "run_id": id})
		code := "unknown_cascade"
		if runner.CheckRunID(id) != nil {
			code = "invalid_body"
		}
		w.Problem(422, code, "POST", "/v1/runs", string(body)) // the rule is that of the command and the library
	}
	w.Problem(415, "unsupported_media_type", "POST", "/v1/runs", `{"cascade": "post"}`, "Content-Type", "text/plain")
	w.Problem(413, "too_large", "POST", "/v1/runs", `{"cascade": "`+strings.Repeat("x", 17<<20)+`"}`)
	refused := w.Problem(422, "invalid_input", "POST", "/v1/runs", `{"cascade": "post", "input": {"topik": "x"}}`).JSON(t)
	if got := fmt.Sprint(refused["errors"]); !strings.Contains(got, "path:$.input.topic") || !strings.Contains(got, `path:$.input.topik`) || !strings.Contains(got, `did you mean "topic"?`) {
		t.Errorf("%v", refused)
	}
	w.Problem(404, "no_run", "GET", "/v1/runs/last", nil)
	wrong := w.Problem(422, "invalid_cascade", "POST", "/v1/runs", `{"cascade": "wrong"}`).JSON(t)
	if list := wrong["diagnostics"].([]any); len(list) == 0 || list[0].(map[string]any)["line"] != 3 {
		t.Errorf("%v", wrong)
	}
	if n := len(w.Want(200, "GET", "/v1/runs", nil).JSON(t)["runs"].([]any)); n != 0 {
		t.Errorf("%d runs were begun", n)
	}
}

func TestAnswers(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("ask", nil)
	run := w.Want(200, "GET", "/v1/runs/"+id, nil).JSON(t)
	if run["status"] != "waiting" || run["questions"].([]any)[0].(map[string]any)["question"].(map[string]any)["type"] != "confirmation" {
		t.Fatalf("%v", run)
	}
	w.Problem(409, "waiting", "POST", "/v1/runs/"+id+"/resume", nil)
	w.Problem(422, "bad_answer", "POST", "/v1/runs/"+id+"/answer", `{"value": "yes"}`)
	w.Problem(422, "invalid_body", "POST", "/v1/runs/"+id+"/answer", `{"value": 1}`)
	w.Want(202, "POST", "/v1/runs/"+id+"/answer", `{"value": true, "by": "Kim\u0007 \n of the\u202e desk"}`)
	<-w.Done
	run = w.Want(200, "GET", "/v1/runs/"+id, nil).JSON(t)
	if run["status"] != "succeeded" || len(run["answers"].([]any)) != 1 || run["answers"].([]any)[0].(map[string]any)["by"] != "Kim of the desk" {
		t.Errorf("%v", run)
	}
	if page := w.Send("GET", "/runs/"+id, nil).Text; !strings.Contains(page, "answered by <bdi>Kim of the desk</bdi>") {
		t.Error(page)
	}
	w.Problem(409, "not_waiting", "POST", "/v1/runs/"+id+"/answer", `{"value": true}`)
	w.Problem(404, "no_run", "POST", "/v1/runs/none/answer", `{"value": true}`)

	begun := w.Start("ask", nil)
	for path, body := range map[string]string{"answer": `{"value": true}`, "cancel": `{}`, "resume": `{}`, "again": `{}`} {
		w.Problem(404, "no_run", "POST", "/v1/runs/"+begun[:len(begun)-1]+"/"+path, body)
		w.Problem(404, "no_run", "POST", "/v1/runs/last/"+path, body)
	}

	id = w.Start("choose", nil)
	w.Problem(422, "bad_answer", "POST", "/v1/runs/"+id+"/answer", `{"value": "green"}`)
	w.Problem(422, "bad_answer", "POST", "/v1/runs/"+id+"/answer", `{"value": true}`)
	w.Want(202, "POST", "/v1/runs/"+id+"/answer", `{"value": "blue"}`)
	<-w.Done

	id = w.Start("tell", nil)
	w.Problem(422, "bad_answer", "POST", "/v1/runs/"+id+"/answer", `{"value": " "}`)
}

// TestQuestionSubject checks that an open question has its text, the verdicts on the text, and
// the difference to the previous version.
func TestQuestionSubject(t *testing.T) {
	w := servetest.New(t)
	run := w.Want(200, "GET", "/v1/runs/"+w.Start("revise", nil), nil).JSON(t)
	subject := run["questions"].([]any)[0].(map[string]any)["subject"].(map[string]any)
	verdicts := subject["verdicts"].([]any)
	if subject["attempt"] != "approve/attempt[1]" || subject["text"] != "A short text." || len(verdicts) != 1 {
		t.Fatalf("got %v", subject)
	}
	if v := verdicts[0].(map[string]any); v["path"] != "draft/attempt[2]/post[0]" || v["valid"] != true {
		t.Errorf("got %v", v)
	}
	if diff := subject["diff"].(string); subject["previous"] != "draft/attempt[1]" || !strings.Contains(diff, "-A text that is far too long.\n+A short text.\n") {
		t.Errorf("got %v, %s", subject["previous"], diff)
	}
}

// TestAnswerNamesQuestion checks that the answer to one of several open questions must name it.
func TestAnswerNamesQuestion(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("both", nil)
	at := "/v1/runs/" + id + "/answer"
	refused := w.Problem(409, "several_questions", "POST", at, `{"value": true}`).JSON(t)
	for _, key := range []string{"sign/finance/human_input", "sign/legal/human_input"} {
		if !strings.Contains(refused["detail"].(string), key) {
			t.Errorf("%v has no %s", refused, key)
		}
	}
	w.Problem(409, "not_waiting", "POST", at, `{"question": "sign/human_input", "value": true}`)
	page := w.Send("GET", "/runs/"+id, nil).Text
	for _, part := range []string{"Legal?", "Finance?", `name="question" value="sign/legal/human_input"`, `name="question" value="sign/finance/human_input"`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	w.Want(202, "POST", at, `{"question": "sign/finance/human_input", "value": true, "by": "finance"}`)
	<-w.Done
	run := w.Want(200, "GET", "/v1/runs/"+id, nil).JSON(t)
	if open := run["questions"].([]any); len(open) != 1 || open[0].(map[string]any)["path"] != "sign/legal/human_input" {
		t.Errorf("open: %v", open)
	}
	if answers := run["answers"].([]any); len(answers) != 1 || answers[0].(map[string]any)["path"] != "sign/finance/human_input" {
		t.Errorf("answers: %v", answers)
	}
	form := "question=sign%2Flegal%2Fhuman_input&value=yes&by=legal"
	if r := w.Send("POST", "/runs/"+id+"/answer", form, "Content-Type", "application/x-www-form-urlencoded"); r.StatusCode != 303 {
		t.Errorf("the form: %d %s", r.StatusCode, r.Text)
	}
	<-w.Done
	if run := w.Want(200, "GET", "/v1/runs/"+id, nil).JSON(t); run["status"] != "succeeded" {
		t.Errorf("%v", run)
	}
}

// TestExpiredQuestion checks that an expired question takes no answer, and that its run
// continues without one.
func TestExpiredQuestion(t *testing.T) {
	var late atomic.Int64
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{Now: func() time.Time { return time.Now().Add(time.Duration(late.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	w := servetest.Over(t, j)
	id := w.Start("yield", nil)
	late.Store(int64(time.Hour))
	run := w.Want(200, "GET", "/v1/runs/"+id, nil).JSON(t)
	if waits := run["questions"].([]any)[0].(map[string]any); waits["expired"] != true || waits["expires"] == nil {
		t.Errorf("%v", run)
	}
	w.Problem(409, "expired", "POST", "/v1/runs/"+id+"/answer", `{"value": true}`)
	w.Problem(409, "expired", "POST", "/v1/runs/"+id+"/answer", `{"value": "whatever"}`)
	if page := w.Send("GET", "/runs/"+id, nil).Text; !strings.Contains(page, "The question expired without an answer") || !strings.Contains(page, "Resume") || strings.Contains(page, `name="value"`) {
		t.Error(page)
	}
	w.Want(202, "POST", "/v1/runs/"+id+"/resume", nil)
	<-w.Done
	if run := w.Want(200, "GET", "/v1/runs/"+id, nil).JSON(t); run["status"] != "failed" || run["questions"] != nil {
		t.Errorf("%v", run)
	}
}

func TestCancelAndResume(t *testing.T) {
	w := servetest.New(t)
	id := w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).JSON(t)["run_id"].(string)
	if got := w.Want(200, "GET", "/v1/runs/"+id, nil).JSON(t)["status"]; got != "running" {
		t.Errorf("status %v", got)
	}
	w.Problem(409, "run_busy", "POST", "/v1/runs/"+id+"/resume", nil)
	w.Want(202, "POST", "/v1/runs/"+id+"/cancel", nil)
	<-w.Done
	if got := w.Want(200, "GET", "/v1/runs/"+id, nil).JSON(t)["status"]; got != "cancelled" {
		t.Errorf("status %v", got)
	}
	w.Problem(409, "not_running_here", "POST", "/v1/runs/"+id+"/cancel", nil)
	for body, want := range map[string]string{
		`{"from": "draft"}`: id + "/again makes a new run", `{"With-Changes": true}`: "/again", `{"value": true}`: "/v1/runs/" + id + "/answer",
		`{"form": "draft"}`: "is not known here", `{"b": 1, "a": {"from": 1}}`: "$.a",
	} {
		if r := w.Problem(422, "invalid_body", "POST", "/v1/runs/"+id+"/resume", body); !strings.Contains(string(r.Text), want) {
			t.Errorf("%s: %s", body, r.Text)
		}
	}
	w.Problem(400, "bad_json", "POST", "/v1/runs/"+id+"/resume", `["from"]`)
	w.Problem(422, "invalid_body", "POST", "/v1/runs/"+id+"/cancel", `{"force": true}`)
	close(w.Hold)
	w.Want(202, "POST", "/v1/runs/"+id+"/resume", " {} ")
	<-w.Done
	if got := w.Want(200, "GET", "/v1/runs/"+id, nil).JSON(t)["status"]; got != "succeeded" {
		t.Errorf("status %v", got)
	}
	w.Problem(404, "no_run", "POST", "/v1/runs/none/cancel", nil)
	w.Problem(404, "no_run", "POST", "/v1/runs/none/resume", nil)
}

func TestLists(t *testing.T) {
	w := servetest.New(t)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		w.Want(202, "POST", "/v1/runs", map[string]any{"cascade": "ask", "run_id": id})
		<-w.Done
	}
	var seen []string
	for before := ""; ; {
		page := w.Want(200, "GET", "/v1/runs?limit=2&before="+before, nil).JSON(t)
		for _, r := range page["runs"].([]any) {
			seen = append(seen, r.(map[string]any)["run_id"].(string))
		}
		next, more := page["next"].(string)
		if !more {
			break
		}
		before = next
	}
	if strings.Join(seen, "") != "edcba" {
		t.Errorf("seen %v", seen)
	}
	for _, bad := range []string{"limit=0", "limit=501", "limit=x", "status=odd", "since=yesterday"} {
		w.Problem(400, "bad_query", "GET", "/v1/runs?"+bad, nil)
	}
	if n := len(w.Want(200, "GET", "/v1/runs?since="+time.Now().Add(time.Hour).UTC().Format(time.RFC3339), nil).JSON(t)["runs"].([]any)); n != 0 {
		t.Errorf("%d runs of the future", n)
	}
	w.Want(200, "GET", "/v1/cascades", nil)
	w.Problem(404, "no_run", "GET", "/v1/runs/none", nil)
	w.Problem(404, "not_found", "GET", "/v1/nothing", nil)
	if r := w.Problem(405, "method_not_allowed", "DELETE", "/v1/runs", nil); r.Header.Get("Allow") == "" {
		t.Error("no Allow")
	}
}

func TestGatesOverHTTP(t *testing.T) {
	judge := validators.NewJudge("kind", "Validates that the text is kind", "Is it kind?")
	odd := validators.New("odd", "panics", func(_ context.Context, _ struct{}, _ validators.Subject) (validators.Verdict, error) { panic("odd") })
	w := servetest.New(t, func(o *serve.Options) { o.Gates = o.Gates.With(judge, odd) })
	yes := w.Want(200, "POST", "/v1/gates/word_count", `{"content": "one two three", "with": {"min": 3}}`).JSON(t)
	no := w.Want(200, "POST", "/v1/gates/word_count", `{"content": "one", "with": {"min": 3}}`).JSON(t)
	if yes["valid"] != true || no["valid"] != false || no["reason"] == "" {
		t.Errorf("%v %v", yes, no)
	}
	w.Problem(422, "bad_parameters", "POST", "/v1/gates/word_count", `{"content": "one", "with": {"mn": 3}}`)
	w.Problem(422, "bad_parameters", "POST", "/v1/gates/kind", `{"content": "one", "with": {"strict": true}}`)
	w.Problem(422, "invalid_body", "POST", "/v1/gates/word_count", `{"with": {}}`)
	w.Problem(404, "unknown_gate", "POST", "/v1/gates/nothing", `{"content": ""}`)
	w.Problem(503, "no_verdict", "POST", "/v1/gates/kind", `{"content": "hi"}`)
	w.Problem(502, "no_verdict", "POST", "/v1/gates/odd", `{"content": "hi"}`)
	list := w.Want(200, "GET", "/v1/gates", nil).JSON(t)["gates"].([]any)
	if len(list) < 10 {
		t.Errorf("%d gates", len(list))
	}
}

func TestComputedLeavesOutWhatReadsFiles(t *testing.T) {
	file := validators.New("file", "reads a file", func(_ context.Context, _ struct{}, _ validators.Subject) (validators.Verdict, error) {
		return validators.Verdict{}, nil
	}, validators.Impure)
	set := serve.Computed(builtins.Default().With(file))
	if _, err := set.Find("file"); err == nil {
		t.Error("file is offered")
	}
	if _, err := set.Find("grammar_check"); err != nil {
		t.Error(err)
	}
}

func TestAServerThatOnlyShows(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("ask", nil)
	s, err := serve.New(serve.Options{Store: w.Store})
	if err != nil {
		t.Fatal(err)
	}
	w.HTTP.Config.Handler = s
	for _, path := range []string{"/v1/runs", "/v1/runs/" + id + "/answer", "/v1/runs/" + id + "/cancel", "/v1/runs/" + id + "/resume", "/v1/validation-requests", "/v1/validation-requests/x/responses"} {
		w.Problem(501, "not_offered", "POST", path, `{}`)
	}
	w.Problem(501, "not_offered", "GET", "/v1/validation-requests/x", nil)
}

func TestABrokenStore(t *testing.T) {
	w := servetest.MadeUp(t)
	w.Shelf.Broken = http.ErrAbortHandler
	r := w.Problem(500, "internal", "GET", "/v1/runs", nil)
	if strings.Contains(r.Text, "abort") {
		t.Errorf("the server's own trouble is reported: %s", r.Text)
	}
	if page := w.Send("GET", "/", nil); page.StatusCode != 500 || !strings.Contains(page.Text, "<h1>500") {
		t.Errorf("%d %s", page.StatusCode, page.Text)
	}
}

func TestTheDocument(t *testing.T) {
	w := servetest.New(t)
	served := w.Want(200, "GET", "/v1/openapi.json", nil).JSON(t)
	if served["openapi"] != "3.1.0" {
		t.Errorf("%v", served["openapi"])
	}
	w.Want(200, "GET", "/v1/openapi.yaml", nil)
	described := map[string]bool{}
	ids := map[string]bool{}
	for path, item := range served["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			if method == "parameters" {
				continue
			}
			described[strings.ToUpper(method)+" "+path] = true
			id, _ := op.(map[string]any)["operationId"].(string)
			if id == "" || ids[id] {
				t.Errorf("%s %s: operationId %q", method, path, id)
			}
			ids[id] = true
		}
	}
	for _, route := range w.Server.API() {
		if !described[route] {
			t.Errorf("%s is served and not described", route)
		}
		delete(described, route)
	}
	for route := range described {
		t.Errorf("%s is described and not served", route)
	}
	text, _ := json.Marshal(served)
	for _, part := range strings.Split(string(text), `"$ref":"`)[1:] {
		ref, _, _ := strings.Cut(part, `"`)
		var at any = served
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			at = at.(map[string]any)[name]
		}
		if at == nil {
			t.Errorf("%s leads nowhere", ref)
		}
	}
}

func TestValidationRequestsOverHTTP(t *testing.T) {
	d := dispatch.New(dispatch.Config{})
	defer d.Close()
	w := servetest.New(t, func(o *serve.Options) { o.Requests = d })
	ask := `{"task_id": "bead-1", "validation_type": "code", "acceptance_criteria": [{"id": "AC-1", "description": "it works"}]}`
	r := w.Want(202, "POST", "/v1/validation-requests", ask)
	if r.Header.Get("Location") != "/v1/validation-requests/bead-1" || r.JSON(t)["open"] != true {
		t.Errorf("%v %s", r.Header, r.Text)
	}
	w.Problem(409, "task_open", "POST", "/v1/validation-requests", ask)
	w.Problem(422, "protocol_error", "POST", "/v1/validation-requests", `{"task_id": "x"}`)
	w.Problem(404, "unknown_task", "GET", "/v1/validation-requests/none", nil)
	w.Problem(400, "bad_query", "GET", "/v1/validation-requests/bead-1?wait=601s", nil)
	if got := w.Want(200, "GET", "/v1/validation-requests/bead-1", nil).JSON(t); got["open"] != true {
		t.Errorf("%v", got)
	}
	response := `{"task_id": "bead-1", "verdict": "PASS", "criteria_results": [{"criterion_id": "AC-1", "status": "PASS", "evidence": "seen"}], "timestamp": "2026-01-02T03:04:05Z"}`
	w.Problem(422, "other_task", "POST", "/v1/validation-requests/bead-2/responses", response)
	w.Problem(422, "protocol_error", "POST", "/v1/validation-requests/bead-1/responses", `{"task_id": "bead-1"}`)
	if got := w.Want(200, "POST", "/v1/validation-requests/bead-1/responses", response).JSON(t); got["event"] != "accepted" {
		t.Errorf("%v", got)
	}
	if got := w.Want(200, "POST", "/v1/validation-requests/bead-1/responses", response).JSON(t); got["event"] != "duplicate" {
		t.Errorf("%v", got)
	}
	settled := w.Want(200, "GET", "/v1/validation-requests/bead-1?wait=5s", nil).JSON(t)
	if settled["open"] != false || settled["outcome"].(map[string]any)["judgement"].(map[string]any)["effective_verdict"] != "PASS" {
		t.Errorf("%v", settled)
	}
}

func TestErrorsOfTheJournalAreTold(t *testing.T) {
	w := servetest.MadeUp(t)
	w.Shelf.Broken = runner.ErrRunBusy
	w.Problem(409, "run_busy", "GET", "/v1/runs/x", nil)
}
