package inspectors

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators/request"
)

// tree is a git worktree with files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if git, err := exec.LookPath("git"); err == nil {
		if out, err := exec.Command(git, "init", "-q", dir).CombinedOutput(); err != nil {
			t.Fatalf("git init: %v: %s", err, out)
		}
	}
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ask inspects a request whose criteria have the hints. Every service is allowed, unless
// the inspector has a network of its own.
func ask(t *testing.T, i *Inspector, r request.Request, hints ...string) *request.Response {
	t.Helper()
	r.TaskID = "task-1"
	own := *i
	if own.Network.Services = own.Network.Hosts == nil; own.Network.Services {
		i = &own
	}
	if r.ValidationType == "" {
		r.ValidationType = request.Code
	}
	for _, h := range hints {
		id := "AC-" + string(rune('1'+len(r.Criteria)))
		r.Criteria = append(r.Criteria, request.Criterion{ID: id, Description: "It is as it should be", Hint: h})
	}
	response, err := i.Inspect(t.Context(), &r)
	if err != nil {
		t.Fatal(err)
	}
	conforms(t, response)
	return response
}

// one inspects one hint, and wants a status and a text in its evidence.
func one(t *testing.T, i *Inspector, r request.Request, hint string, status request.Verdict, evidence string) *request.Response {
	t.Helper()
	response := ask(t, i, r, hint)
	got := response.Results[0]
	if got.Status != status || !strings.Contains(got.Evidence, evidence) {
		t.Errorf("%s: got %s %q, want %s %q", hint, got.Status, got.Evidence, status, evidence)
	}
	if (got.Status == request.Fail) != (got.Remediation != "") {
		t.Errorf("%s: %s with the remediation %q", hint, got.Status, got.Remediation)
	}
	return response
}

// conforms validates a response against the protocol's schema, if the schema is
// present.
func conforms(t *testing.T, response *request.Response) {
	t.Helper()
	text, err := os.ReadFile("../../../../shared/data/validation-request/validation-response.schema.json")
	if err != nil {
		return
	}
	source, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := schema.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(response)
	if err != nil {
		t.Fatal(err)
	}
	value, err := schema.Parse(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if broken := compiled.Validate(nil, value); broken != nil {
		t.Errorf("the response breaks its schema: %v\n%s", broken, encoded)
	}
}

func TestVerdict(t *testing.T) {
	const p, f, b, s = request.Pass, request.Fail, request.Blocked, request.Skip
	for _, c := range []struct {
		statuses []request.Verdict
		want     request.Verdict
	}{
		{nil, request.Blocked},
		{[]request.Verdict{p, p}, request.Pass},
		{[]request.Verdict{p, f}, request.Partial},
		{[]request.Verdict{f, f}, request.Fail},
		{[]request.Verdict{p, f, b}, request.Fail},
		{[]request.Verdict{p, f, s}, request.Fail},
		{[]request.Verdict{p, b}, request.Blocked},
		{[]request.Verdict{p, s}, request.Blocked},
		{[]request.Verdict{b}, request.Blocked},
	} {
		var results []request.Result
		for _, status := range c.statuses {
			results = append(results, request.Result{Status: status})
		}
		if got, _ := conclude(results); got != c.want {
			t.Errorf("%v: got %s, want %s", c.statuses, got, c.want)
		}
	}
}

func TestInspect(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "hello"})
	start := time.Date(2026, 2, 17, 14, 0, 0, 0, time.FixedZone("", 3600))
	calls := 0
	i := &Inspector{Now: func() time.Time { calls++; return start.Add(time.Duration(calls) * time.Second) }}
	got := ask(t, i, request.Request{WorktreePath: dir}, "file: a.md", "file: b.md")
	if got.TaskID != "task-1" || got.Verdict != request.Partial || got.ValidatorID != "capstan" {
		t.Errorf("got %+v", got)
	}
	if got.DurationSeconds != 1 || got.Timestamp.Location() != time.UTC || !got.Timestamp.Equal(start.Add(2*time.Second)) {
		t.Errorf("got %v after %v seconds", got.Timestamp, got.DurationSeconds)
	}
	if got.Confidence == nil || *got.Confidence != 1 {
		t.Errorf("all was computed, with confidence %v", got.Confidence)
	}
	if want := "of 2 criteria 1 hold, 1 do not hold and 0 could not be decided"; got.Reasoning != want {
		t.Errorf("got %q", got.Reasoning)
	}
	if open := ask(t, i, request.Request{WorktreePath: dir}, "file: a.md", "be nice"); open.Confidence != nil || open.Verdict != request.Blocked {
		t.Errorf("got %s with confidence %v", open.Verdict, open.Confidence)
	}
}

func TestInspectCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("why")
	cancel(cause)
	r := &request.Request{TaskID: "t", Criteria: []request.Criterion{{ID: "1"}}}
	if response, err := new(Inspector).Inspect(ctx, r); !errors.Is(err, cause) || response != nil {
		t.Errorf("got %v, %v", response, err)
	}
}

// TestInspectOutOfTime checks that the request's timeout leads to a response
// and not to an error.
func TestInspectOutOfTime(t *testing.T) {
	t.Parallel()
	dir := tree(t, nil)
	i := &Inspector{AllowExec: true}
	got := ask(t, i, request.Request{WorktreePath: dir, TimeoutSeconds: 1}, "run: sleep 100000", "file: .")
	for _, r := range got.Results {
		if r.Status != request.Blocked || !strings.Contains(r.Evidence, "out of time") {
			t.Errorf("got %+v", r)
		}
	}
	if got.Verdict != request.Blocked {
		t.Errorf("got %s", got.Verdict)
	}
}

func TestJudge(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "hello"})
	asked := 0
	answer := request.Result{CriterionID: "another", Status: request.Fail, Evidence: "rude", Remediation: "be kind"}
	var problem error
	var found request.Evidence
	i := &Inspector{Judge: func(_ context.Context, c request.Criterion, so request.Evidence) (request.Result, error) {
		asked++
		found = so
		return answer, problem
	}}
	r := request.Request{WorktreePath: dir}

	got := ask(t, i, r, "file: a.md; the tone is kind").Results[0]
	if got.CriterionID != "AC-1" || got.Status != request.Fail || !strings.Contains(got.Evidence, "a.md exists") ||
		!strings.Contains(got.Evidence, "judged: rude") || got.Remediation != "be kind" {
		t.Errorf("got %+v", got)
	}
	if len(found.FileChecks) != 1 || found.FileChecks[0].Path != "a.md" {
		t.Errorf("the judge was shown %+v", found)
	}
	asked = 0
	if got := ask(t, i, r, "file: b.md; the tone is kind").Results[0]; got.Status != request.Fail || asked != 0 {
		t.Errorf("got %+v and asked %d times", got, asked)
	}
	if got := ask(t, i, r, "file: ../b.md; the tone is kind").Results[0]; got.Status != request.Blocked || asked != 0 {
		t.Errorf("got %+v and asked %d times", got, asked)
	}
	answer = request.Result{Status: "pass"}
	if got := ask(t, i, r, "the tone is kind").Results[0]; got.Status != request.Blocked || !strings.Contains(got.Evidence, `"pass" is no status`) {
		t.Errorf("got %+v", got)
	}
	problem = errors.New("no model")
	if got := ask(t, i, r, "the tone is kind").Results[0]; got.Status != request.Blocked || !strings.Contains(got.Evidence, "no model") {
		t.Errorf("got %+v", got)
	}
	one(t, &Inspector{}, r, "the tone is kind", request.Blocked, "there is no judge")
}

// TestType checks that checks of another validation type are not made.
func TestType(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "hello"})
	i := &Inspector{AllowExec: true, Browser: NoBrowser}
	one(t, i, request.Request{WorktreePath: dir}, "page: / element h1", request.Blocked, "asks for code validation alone")
	r := request.Request{WorktreePath: dir, ValidationType: request.Browser}
	one(t, i, r, "file: a.md", request.Blocked, "asks for browser validation alone")
	one(t, i, r, "run: true", request.Blocked, "asks for browser validation alone")
	r.ValidationType = request.Both
	one(t, i, r, "file: a.md", request.Blocked, "has no app_url")
	one(t, i, r, "file: b.md", request.Fail, "does not exist")
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöü", 3, "äöü"}, {"äöüa", 3, "äö…"}, {"\xff", 5, "\uFFFD"},
		{strings.Repeat("ä", 600), 500, strings.Repeat("ä", 499) + "…"},
	} {
		if got := clip(c.text, c.max); got != c.want {
			t.Errorf("%q: got %q", c.text, got)
		}
	}
}

// TestHostile checks that long texts are ignored, and that concurrent
// inspections are independent.
func TestHostile(t *testing.T) {
	big := strings.Repeat("not exists a/b.md \xff", 1<<20)
	i := &Inspector{AllowExec: true}
	r := request.Request{TaskID: "t", ValidationType: request.Code, WorktreePath: tree(t, nil), Criteria: []request.Criterion{
		{ID: big, Description: big}, {ID: "2", Hint: big}, {ID: "3", Description: big, Hint: "Check x.md"}, {ID: "4", Hint: "run: true; file: ."},
	}}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			got, err := i.Inspect(t.Context(), &r)
			if err != nil || got.Verdict != request.Blocked || got.Results[3].Status != request.Pass {
				t.Errorf("got %v, %v", got.Results[1:], err)
				return
			}
			for _, g := range got.Results {
				if len(g.Evidence) > 5000 {
					t.Errorf("%d bytes of evidence", len(g.Evidence))
				}
			}
		})
	}
	all.Wait()
}
