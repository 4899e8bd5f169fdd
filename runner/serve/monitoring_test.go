package serve_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/serve"
)

// A lockedBuffer is safe for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// observed returns a world with a log.
func observed(t *testing.T, log io.Writer, change ...func(*serve.Options)) *servetest.World {
	return servetest.New(t, append(change, func(o *serve.Options) {
		o.Log = slog.New(slog.NewTextHandler(log, nil))
	})...)
}

func TestMetrics(t *testing.T) {
	w := observed(t, io.Discard, few(1))
	w.Start("post", map[string]any{"topic": "owls"})
	w.Start("blocked", nil)
	w.Want(200, "POST", "/v1/gates/word_count", `{"content": "Owls.", "with": {"min": 3}}`)
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`)
	w.Problem(429, "full", "POST", "/v1/runs", `{"cascade": "post"}`)
	text := w.Send("GET", "/metrics", nil).Text
	for _, line := range []string{
		`capstan_runs_started_total{cascade="post"} 1`,
		`capstan_runs_ended_total{cascade="post",status="succeeded"} 1`,
		`capstan_runs_ended_total{cascade="blocked",status="exhausted"} 1`,
		`capstan_model_calls_total{result="ok"} 7`,
		`capstan_model_tokens_total{direction="input"} `,
		`capstan_model_cost_usd_total 0.0323`,
		`capstan_verdicts_total{gate="word_count",verdict="fail"} 2`,
		`capstan_verdicts_total{gate="word_count",verdict="pass"} 1`,
		`capstan_runs_active 1`,
		`capstan_runs_limit 1`,
		`capstan_runs_refused_total 1`,
		`capstan_store_operation_duration_seconds_count{operation="begin"} 3`,
		`capstan_http_requests_total{route="POST /v1/runs",status="202"} 3`,
		`capstan_http_requests_total{route="POST /v1/runs",status="429"} 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("no line %s", line)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestProbes(t *testing.T) {
	w := observed(t, io.Discard, few(1))
	for _, path := range []string{"/healthz", "/readyz"} {
		if r := w.Send("GET", path, nil); r.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, r.StatusCode, r.Text)
		}
	}
	unready := func(code string) {
		t.Helper()
		if r := w.Send("GET", "/readyz", nil); r.StatusCode != 503 || r.JSON(t)["code"] != code || r.Header.Get("Retry-After") == "" {
			t.Errorf("want 503 %s, got %d %s", code, r.StatusCode, r.Text)
		}
	}
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`)
	unready("full")
	close(w.Hold)
	<-w.Done
	w.Server.Close(t.Context())
	unready("closing")
	w.Store.(io.Closer).Close()
	unready("unavailable")
	if r := w.Send("GET", "/healthz", nil); r.StatusCode != 200 {
		t.Errorf("%d", r.StatusCode)
	}
}

// TestMonitoringAddress checks that the monitoring address needs no token and serves nothing
// else.
func TestMonitoringAddress(t *testing.T) {
	w := observed(t, io.Discard, func(o *serve.Options) { o.Token = "0123456789abcdef" })
	if r := w.Send("GET", "/metrics", nil, "Authorization", ""); r.StatusCode != 401 {
		t.Errorf("without a token: %d", r.StatusCode)
	}
	if r := w.Send("GET", "/metrics", nil); r.StatusCode != 200 {
		t.Errorf("with the token: %d", r.StatusCode)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- w.Server.ServeMonitoring(ctx, l) }()
	for _, c := range []struct {
		path, host string
		status     int
	}{
		{"/healthz", "", 200}, {"/readyz", "", 200}, {"/metrics", "", 200},
		{"/v1/runs", "", 404}, {"/", "", 404}, {"/metrics", "evil.example", 421},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+l.Addr().String()+c.path, nil)
		req.Host = c.host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s at %q: got %d, want %d", c.path, c.host, resp.StatusCode, c.status)
		}
	}
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

func TestLogLines(t *testing.T) {
	var log lockedBuffer
	w := observed(t, &log)
	w.Start("post", map[string]any{"topic": "barn owls of the north"})
	w.Want(200, "GET", "/v1/runs?words=nocturnal", nil)
	w.Problem(404, "no_run", "GET", "/v1/runs/nobody", nil)
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "late"}`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	w.Server.Close(ctx)
	text := log.String()
	for _, part := range []string{
		`level=INFO msg="run begun" run=`, ` cascade=post resumed=false`, `msg="run ended"`, ` calls=5 `, ` cost_usd=0.0323 status=succeeded`,
		`msg=request method=POST path=/v1/runs status=202`, `path=/v1/runs/nobody status=404`, ` code=no_run`,
		`msg="shutdown: wait for runs" runs=[late] judgements=0 limit=`, `level=WARN msg="shutdown: cancel runs, which can be resumed" runs=[late]`,
		`status=cancelled`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s", part)
		}
	}
	for _, word := range []string{"owls", "Owls", "friendly", "nocturnal"} {
		if strings.Contains(text, word) {
			t.Errorf("the log contains the text %q", word)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestRunWait(t *testing.T) {
	w := observed(t, io.Discard)
	order := `{"cascade": "post", "input": {"topic": "owls"}, "run_id": "first"}`
	for range 2 { // a repeated order waits for the same run
		run := w.Want(200, "POST", "/v1/runs?wait=30s", order).JSON(t)
		if run["status"] != "succeeded" || run["output"] != "Owls hoot softly in the night, and fly at dusk." {
			t.Errorf("%v", run)
		}
	}
	if run := w.Want(200, "POST", "/v1/runs?wait=30s", `{"cascade": "blocked"}`).JSON(t); run["status"] != "exhausted" {
		t.Errorf("%v", run)
	}
	if run := w.Want(200, "POST", "/v1/runs?wait=30s", `{"cascade": "ask"}`).JSON(t); run["status"] != "waiting" || run["questions"] == nil {
		t.Errorf("%v", run)
	}
	if run := w.Want(200, "POST", "/v1/runs/first/again?wait=30s", `{"input": {"topic": "bats"}}`).JSON(t); run["status"] == "running" {
		t.Errorf("%v", run)
	}
	if run := w.Want(202, "POST", "/v1/runs?wait=50ms", `{"cascade": "slow"}`).JSON(t); run["status"] != "running" {
		t.Errorf("%v", run)
	}
	for _, wait := range []string{"30", "-1s", "601s", "soon"} {
		r := w.Problem(400, "bad_query", "POST", "/v1/runs?wait="+wait, order)
		if !strings.Contains(r.Text, "such as 30s") {
			t.Error(r.Text)
		}
	}
}

func TestGateOfCascade(t *testing.T) {
	w := observed(t, io.Discard, few(1))
	if list := w.Want(200, "GET", "/v1/gates", nil).Text; !strings.Contains(list, `{"name":"post:tone","kind":"judge"`) {
		t.Error(list)
	}
	v := w.Want(200, "POST", "/v1/gates/post:tone", `{"content": "Owls hoot."}`).JSON(t)
	if v["valid"] != false || v["reason"] != "too dry" {
		t.Errorf("%v", v)
	}
	w.Problem(404, "unknown_gate", "POST", "/v1/gates/post:tome", `{"content": ""}`)
	w.Problem(404, "unknown_gate", "POST", "/v1/gates/nobody:tone", `{"content": ""}`)
	w.Problem(404, "unknown_gate", "POST", "/v1/gates/..%2Fpost.yaml:tone", `{"content": ""}`)
	w.Problem(422, "bad_parameters", "POST", "/v1/gates/post:tone", `{"content": "", "with": {"min": 1}}`)
	w.Problem(422, "invalid_cascade", "POST", "/v1/gates/wrong:tone", `{"content": ""}`)
	w.Problem(422, "invalid_body", "POST", "/v1/gates/post:tone", `{"text": ""}`)
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`)
	w.Problem(429, "full", "POST", "/v1/gates/post:tone", `{"content": "Owls hoot."}`)
	text := w.Send("GET", "/metrics", nil).Text
	for _, line := range []string{`capstan_verdicts_total{gate="post:tone",verdict="fail"} 1`, `capstan_model_calls_total{result="ok"} 1`} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %s in %s", line, text)
		}
	}
}
