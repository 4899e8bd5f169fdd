package runner

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
)

// given returns the error of one notice.
func given(t *testing.T, o NoticeOptions, to *cascades.Notify, change ...func(*engine.Question)) error {
	t.Helper()
	o.pause = time.Nanosecond
	n := NewNotices(o)
	var received error
	q := engine.Question{Phase: "draft", Prompt: "Publish?", Type: cascades.Choice, Options: []string{"a", "b"}, Subject: &trace.Subject{Text: "a text"}, Notice: &engine.Notice{
		To: to, Run: "run", Path: "draft/human_input", Key: "run:draft/human_input",
		Expires: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), Done: func(err error) { received = err },
	}}
	for _, c := range change {
		c(&q)
	}
	n.give(q)
	n.Close(t.Context())
	return received
}

// A hook answers with the statuses in order, and then repeats the last one.
func hook(t *testing.T, statuses ...int) (url string, bodies *[]string) {
	var mu sync.Mutex
	bodies = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		*bodies = append(*bodies, r.URL.Path+" "+r.Header.Get("Idempotency-Key")+" "+r.Header.Get("X-Team")+" "+string(text))
		status := statuses[min(len(*bodies), len(statuses))-1]
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
	}))
	t.Cleanup(s.Close)
	return s.URL, bodies
}

func TestNoticeOverHTTP(t *testing.T) {
	t.Setenv("HOOK_TOKEN", "hush-hush-hush")
	for _, c := range []struct {
		name     string
		statuses []int
		tries    int
		want     string
	}{
		{"taken", []int{200}, 1, ""},
		{"taken in the end", []int{500, 429, 204}, 3, ""},
		{"never", []int{503}, 3, "503"},
		{"refused", []int{404}, 1, "404"},
		{"elsewhere", []int{307}, 1, "a redirect is not followed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, bodies := hook(t, c.statuses...)
			err := given(t, NoticeOptions{}, &cascades.Notify{URL: url + "/{{ env.HOOK_TOKEN }}", Headers: map[string]string{"X-Team": "owls"}})
			if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hush")) {
				t.Errorf("got %v", err)
			}
			if len(*bodies) != c.tries {
				t.Fatalf("got %q", *bodies)
			}
			for _, b := range *bodies {
				if b != (*bodies)[0] || !strings.HasPrefix(b, "/hush-hush-hush run:draft/human_input owls {") {
					t.Errorf("got %s", b)
				}
			}
		})
	}
	err := given(t, NoticeOptions{}, &cascades.Notify{URL: "http://127.0.0.1:1/{{ env.HOOK_TOKEN }}"})
	if err == nil || strings.Contains(err.Error(), "hush") || !strings.Contains(err.Error(), "{{ env.HOOK_TOKEN }}") {
		t.Errorf("got %v", err)
	}
}

// A notice has limited length, whole characters and no secrets.
func TestNoticeSays(t *testing.T) {
	url, bodies := hook(t, 200)
	clean := func(s string) string { return strings.ReplaceAll(s, "hush-hush", "[redacted]") }
	err := given(t, NoticeOptions{Clean: clean, Link: func(run string) string { return "http://page/" + run }}, &cascades.Notify{URL: url}, func(q *engine.Question) {
		q.Prompt, q.Subject.Text = "hush-hush?", strings.Repeat("ä", 25<<20)
	})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte((*bodies)[0][strings.Index((*bodies)[0], "{"):]), &got); err != nil {
		t.Fatal(err)
	}
	text := got["text"].(string)
	if len(text) > 64<<10 || strings.Trim(text, "ä") != "" || got["text_bytes"] != float64(50<<20) || got["cut"] != true {
		t.Errorf("%d bytes of %v, cut %v", len(text), got["text_bytes"], got["cut"])
	}
	delete(got, "text")
	delete(got, "text_bytes")
	raw, _ := json.Marshal(got)
	want := `{"answer":"capstan answer run VALUE --question draft/human_input","cut":true,"expires":"2026-03-02T12:00:00Z","key":"run:draft/human_input","link":"http://page/run",` +
		`"options":["a","b"],"path":"draft/human_input","phase":"draft","question":"[redacted]?","run_id":"run","type":"choice"}`
	if string(raw) != want {
		t.Errorf("got %s", raw)
	}
}

// A secret at the place where a text is cut is found, however long it is.
func TestNoticeCutsNoSecret(t *testing.T) {
	url, bodies := hook(t, 200)
	secret := strings.Repeat("hush", 1000)
	clean := func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
	err := given(t, NoticeOptions{Clean: clean}, &cascades.Notify{URL: url}, func(q *engine.Question) {
		q.Subject.Text = strings.Repeat("x", maxNoticeText-100) + secret
	})
	if err != nil || strings.Contains((*bodies)[0], "hush") || !strings.Contains((*bodies)[0], "[redacted]") {
		t.Errorf("%v, or a piece of the secret is reported", err)
	}
}

// A program may read the question or not, hang with child processes, fail, or
// print without end. No process remains after the notice.
func TestNoticeToAProgram(t *testing.T) {
	dir := t.TempDir()
	run := func(script string, each time.Duration) error {
		return given(t, NoticeOptions{each: each}, &cascades.Notify{Argv: []string{"sh", "-c", script}, Dir: dir}, func(q *engine.Question) {
			q.Subject.Text = strings.Repeat("x", 50<<20)
		})
	}
	if err := run("cat >got.json; yes | head -c 3000000", time.Minute); err != nil {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "got.json")); err != nil || !json.Valid(text) {
		t.Errorf("got %.100s, %v", text, err)
	}
	if err := run("exit 0", time.Minute); err != nil {
		t.Errorf("one that reads nothing: %v", err)
	}
	if err := run("echo x >>tries; echo no such room; exit 3", time.Minute); err == nil || !strings.Contains(err.Error(), "exit status 3; it said: no such room") {
		t.Errorf("got %v", err)
	}
	if tries, _ := os.ReadFile(filepath.Join(dir, "tries")); string(tries) != "x\nx\nx\n" {
		t.Errorf("tried %q", tries)
	}
	if err := run("sleep 600 & sleep 600", 20*time.Millisecond); err == nil {
		t.Error("it hangs, and was reported")
	}
	if err := given(t, NoticeOptions{}, &cascades.Notify{Argv: []string{filepath.Join(dir, "none")}}); err == nil || !strings.Contains(err.Error(), "not started") {
		t.Errorf("got %v", err)
	}
}
