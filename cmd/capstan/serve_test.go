package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// serving runs capstan serve until the test ends, and returns its address.
func serving(t *testing.T, args ...string) (url string, end func() int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	address := make(chan string, 1)
	printedURL := regexp.MustCompile(`http://\S+`)
	getenv := func(name string) string {
		return map[string]string{"CAPSTAN_STORE": filepath.Join(t.TempDir(), "runs.db")}[name]
	}
	c := &Command{Stdin: strings.NewReader(""), Stdout: io.Discard, Getenv: getenv}
	c.Stderr = onWrite(func(p []byte) {
		if found := printedURL.Find(p); found != nil {
			address <- string(found)
		}
	})
	ended := make(chan int, 1)
	go func() { ended <- c.Run(ctx, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)) }()
	t.Cleanup(stop)
	select {
	case url = <-address:
	case status := <-ended:
		t.Fatalf("it ended with status %d", status)
	}
	return url, func() int { stop(); return <-ended }
}

func call(t *testing.T, method, url, body string) (status int, answer map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s: %s", err, text)
	}
	return resp.StatusCode, answer
}

// TestServe starts a run over HTTP with the requested model, reads its events,
// and lints a validation request below the root.
func TestServe(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := unpack("examples"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("seen.md", []byte("seen"), 0o600); err != nil {
		t.Fatal(err)
	}
	url, end := serving(t, "examples", "--model", "gpt-never", "--allow-model", "scripted")
	_, offers := call(t, "GET", url+"/v1/cascades", "")
	names := fmt.Sprint(offers["cascades"])
	if !strings.Contains(names, "ward_retry_flow") || strings.Contains(names, "scripted") || strings.Contains(names, "edit_status") {
		t.Errorf("offered: %s", names)
	}
	status, _ := call(t, "POST", url+"/v1/runs", `{"cascade": "ward_retry_flow", "input": {"product": "kettle"}, "model": "scripted", "run_id": "one"}`)
	if status != http.StatusAccepted {
		t.Fatalf("status %d", status)
	}
	resp, err := http.Get(url + "/v1/runs/one/events")
	if err != nil {
		t.Fatal(err)
	}
	events, err := io.ReadAll(resp.Body) // until the run has ended
	if err != nil || !strings.Contains(string(events), `"kind":"run_finished"`) {
		t.Errorf("events: %v\n%s", err, events)
	}
	if _, run := call(t, "GET", url+"/v1/runs/one", ""); run["status"] != "succeeded" || !strings.Contains(fmt.Sprint(run["output"]), "warranty") {
		t.Errorf("got %v", run)
	}

	form := neturl.Values{"cascade": {"ward_retry_flow"}, "in.product": {"kettle"}, "model": {"scripted"}, "run_id": {"typed"}}
	if resp, err = http.PostForm(url+"/start", form); err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if at := resp.Request.URL.Path; resp.StatusCode != http.StatusOK || at != "/runs/typed" {
		t.Errorf("the form leads to %s: %d", at, resp.StatusCode)
	}

	ask := `{"task_id": "TASK", "validation_type": "code", "worktree_path": "DIR", "acceptance_criteria": [{"id": "A", "description": "it is there", "validation_hint": "file: seen.md"}]}`
	dir, _ := os.Getwd()
	for task, want := range map[string]string{"inside": "PASS", "outside": "BLOCKED"} {
		where := map[string]string{"inside": dir, "outside": os.TempDir()}[task]
		body := strings.NewReplacer("TASK", task, "DIR", where).Replace(ask)
		if status, answer := call(t, "POST", url+"/v1/validation-requests?wait=20s", body); status >= 300 {
			t.Fatalf("status %d: %v", status, answer)
		}
		_, answer := call(t, "GET", url+"/v1/validation-requests/"+task+"?wait=20s", "")
		if got := fmt.Sprint(answer["outcome"]); !strings.Contains(got, "effective_verdict:"+want) {
			t.Errorf("%s: got %s", task, got)
		}
	}
	if status := end(); status != exitOK {
		t.Errorf("it ended with status %d", status)
	}
}

// A validation request over HTTP reaches the hosts and sends the methods that the operator
// allows.
func TestServeAllowHost(t *testing.T) {
	t.Chdir(t.TempDir())
	var asked atomic.Int32
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" { // the first request checks that the service is up
			asked.Add(1)
		}
	}))
	t.Cleanup(target.Close)
	host := strings.TrimPrefix(target.URL, "http://")
	for i, c := range []struct {
		flags      []string
		hint, want string
		verdict    string
		reaches    int32
	}{
		{nil, "url: /x", "--allow-host " + host, "BLOCKED", 0},
		{[]string{"--allow-host", "example.com"}, "url: /x", "--allow-host " + host, "BLOCKED", 0},
		{[]string{"--allow-host", host}, "url: DELETE /x", "--allow-method DELETE", "BLOCKED", 0},
		{[]string{"--allow-host", host}, "url: /x", "status 200", "PASS", 1},
		{[]string{"--allow-host", host, "--allow-method", "DELETE"}, "url: DELETE /x", "status 200", "PASS", 1},
	} {
		asked.Store(0)
		url, end := serving(t, c.flags...)
		task := fmt.Sprintf("task-%d", i)
		body := `{"task_id": "` + task + `", "validation_type": "code", "services": {"api_url": "` + target.URL + `"}, "acceptance_criteria": [{"id": "A", "description": "it answers", "validation_hint": "` + c.hint + `"}]}`
		if status, answer := call(t, "POST", url+"/v1/validation-requests?wait=20s", body); status >= 300 {
			t.Fatalf("status %d: %v", status, answer)
		}
		_, answer := call(t, "GET", url+"/v1/validation-requests/"+task+"?wait=20s", "")
		if got := fmt.Sprint(answer["outcome"]); !strings.Contains(got, "effective_verdict:"+c.verdict) || !strings.Contains(got, c.want) || asked.Load() != c.reaches {
			t.Errorf("%q %s: asked %d times, got %s", c.flags, c.hint, asked.Load(), got)
		}
		end()
	}
}

// TestServeLacksAKey checks that an answer over HTTP reports a missing key
// before the run resumes. The answer is stored, and the run does not change.
func TestServeLacksAKey(t *testing.T) {
	t.Chdir(t.TempDir())
	text := `
cascade_id: later
providers: {house: {base_url: "http://127.0.0.1:1/v1", key_env: HOUSE_KEY}}
phases:
  - {name: first, compose: A text., human_input: {prompt: "Well?"}}
  - {name: second, instructions: Write., model: "house:big"}
`
	if err := os.WriteFile("later.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &Command{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Getenv: func(name string) string {
		return map[string]string{"HOUSE_KEY": "abcdefgh"}[name]
	}}
	if status := c.Run(t.Context(), []string{"run", "later.yaml", "--run-id", "later", "--store", "kept.db"}); status != exitWaiting {
		t.Fatalf("status %d", status)
	}
	url, _ := serving(t, "later.yaml", "--store", "kept.db")
	for path, body := range map[string]string{"/answer": `{"value": true}`, "/resume": ""} {
		status, problem := call(t, "POST", url+"/v1/runs/later"+path, body)
		if path == "/answer" && (status != 503 || problem["code"] != "not_ready" || !strings.Contains(fmt.Sprint(problem["detail"]), "the answer is stored, but: phase second: model house:big: HOUSE_KEY is not set")) {
			t.Errorf("%s: %d %v", path, status, problem)
		}
		if status < 400 {
			t.Errorf("%s: %d %v", path, status, problem)
		}
	}
	if _, run := call(t, "GET", url+"/v1/runs/later", ""); run["status"] != "waiting" {
		t.Errorf("got %v", run)
	}
}
