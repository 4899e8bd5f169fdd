package providers

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

func nothing(string) string { return "" }

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m.scripted.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func ask(s *Set, name string) (string, error) {
	r, err := s.Call(context.Background(), model.Request{Phase: "a", Model: name, Messages: []model.Message{{Role: "user", Content: "say"}}})
	return r.Text, err
}

// A model's name decides the provider. An unknown provider is an error before
// any request is sent.
func TestNames(t *testing.T) {
	script := write(t, "- {reply: one}\n- {reply: two}\n")
	stored := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		return model.Response{Text: "as in " + r.Model}, nil
	})
	s := New(Options{Getenv: nothing, Replay: func(run string) (model.Model, error) {
		if run != "r1" {
			return nil, errors.New("there is no such run")
		}
		return stored, nil
	}})
	for _, c := range []struct{ name, says, wrong string }{
		{"scripted:" + script, "one", ""},
		{"scripted:" + script, "two", ""},
		{"scripted:" + script + ".none", "", "scripted model: "},
		{"replay:r1", "as in r1", ""},
		{"replay:r2", "", "replay:r2: there is no such run"},
		{"gpt-5-mini", "", "OPENAI_API_KEY"},
		{"anthropic:claude", "", "ANTHROPIC_API_KEY is not set"},
	} {
		text, err := ask(s, c.name)
		if text != c.says || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %q, %v", c.name, text, err)
		}
		var failure *model.Failure
		if ready := s.Ready(c.name); (ready == nil) != (c.wrong == "") || err != nil && !errors.As(err, &failure) {
			t.Errorf("%s is ready: %v; %T", c.name, ready, err)
		}
	}
	if err := New(Options{Getenv: nothing}).Ready("replay:r1"); err == nil || !strings.Contains(err.Error(), "runs are not stored") {
		t.Errorf("without runs: %v", err)
	}
}

func TestReadingRewinds(t *testing.T) {
	name := "scripted:" + write(t, "- {reply: one}\n")
	s := New(Options{Getenv: nothing})
	first, err := ask(s, name)
	if err != nil || first != "one" || len(s.Left()) != 0 {
		t.Fatalf("%q, %v, left %v", first, err, s.Left())
	}
	if again, err := ask(s.Reading(nil), name); err != nil || again != "one" {
		t.Errorf("%q, %v", again, err)
	}
}

// Scripts and the files of their replies are read by one function, which may refuse them.
func TestReadingRefuses(t *testing.T) {
	file := write(t, "- {reply_file: good.md}\n- {reply_file: ../bad.md}\n- {reply_file: /dev/zero}\n")
	var names []string
	s := New(Options{Getenv: nothing}).Reading(func(name, _ string) ([]byte, error) {
		names = append(names, name)
		switch filepath.Base(name) {
		case filepath.Base(file):
			return os.ReadFile(name)
		case "good.md":
			return []byte("good"), nil
		}
		return nil, errors.New("refused")
	})
	dir := filepath.Dir(file)
	want := []string{file, filepath.Join(dir, "good.md"), filepath.Join(filepath.Dir(dir), "bad.md"), "/dev/zero"}
	if err := s.Ready("scripted:" + file); err == nil || strings.Count(err.Error(), "refused") != 2 || !slices.Equal(names, want) {
		t.Errorf("read %q: %v", names, err)
	}
	for _, name := range []string{"/dev/zero", dir} {
		if err := New(Options{Getenv: nothing}).Ready("scripted:" + name); err == nil || !strings.Contains(err.Error(), "regular file") && !strings.Contains(err.Error(), "directory") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Left lists the remaining replies of a script in their order.
func TestLeft(t *testing.T) {
	s := New(Options{Getenv: nothing})
	if _, err := ask(s, "scripted:"+write(t, "- {reply: one}\n"+strings.Repeat("- {reply: further}\n", 9))); err != nil {
		t.Fatal(err)
	}
	if left := s.Left(); len(left) != 9 || !strings.Contains(left[0], ".yaml:2:") || !strings.Contains(left[8], ".yaml:10:") {
		t.Errorf("left %q", left)
	}
}

// A rewound set starts each script at its beginning, takes no replies from the
// original set, and calls the same endpoints.
func TestRewound(t *testing.T) {
	file := write(t, "- {reply: one}\n- {reply: all, times: always}\n")
	s := New(Options{Getenv: nothing})
	s = s.Of([]model.Provider{{Name: "mine", BaseURL: "http://127.0.0.1:1/v1"}})
	if err := s.Ready("scripted:" + file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("- {reply: two}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		again := s.Rewound()
		for _, want := range []string{"one", "all", "all"} {
			if got, err := ask(again, "scripted:"+file); err != nil || got != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		}
		again = again.Of([]model.Provider{{Name: "mine", BaseURL: "http://127.0.0.1:1/v1"}})
		if again.router != s.router || again.Ready("mine:m") != nil {
			t.Error("other endpoints")
		}
	}
	if left := s.Left(); len(left) != 1 {
		t.Errorf("left %q", left)
	}
}

// A header of a cascade's provider may need an environment variable that is not
// set. The error lists all missing variables, including the key, and nothing is
// sent. Other providers work.
func TestHeadersThatAreLacking(t *testing.T) {
	t.Setenv("THERE", "x")
	s := New(Options{Getenv: nothing}).Of([]model.Provider{
		{Name: "mine", BaseURL: "http://127.0.0.1:1/v1", Headers: map[string]string{"X-Who": "{{ env.CAPSTAN_TEST_NOT_SET }}"}},
		{Name: "much", BaseURL: "http://127.0.0.1:1/v1", KeyEnv: "MUCH_KEY", Headers: map[string]string{"X-B": "{{ env.CAPSTAN_TEST_B }}", "X-There": "{{ env.THERE }}", "X-A": "{{ env.CAPSTAN_TEST_A }}"}},
		{Name: "other", BaseURL: "http://127.0.0.1:1/v1", Headers: map[string]string{"X-Who": "{{ env.THERE }}"}},
	})
	if err := s.Ready("mine:m"); err == nil || !strings.Contains(err.Error(), "provider mine: header X-Who") || !strings.Contains(err.Error(), "CAPSTAN_TEST_NOT_SET") {
		t.Errorf("mine: %v", err)
	}
	want := "provider much: header X-A: the environment has no CAPSTAN_TEST_A; header X-B: the environment has no CAPSTAN_TEST_B; model much:m: MUCH_KEY is not set"
	if err := s.Ready("much:m"); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("much: %v", err)
	}
	if err := s.Ready("other:m"); err != nil {
		t.Errorf("other: %v", err)
	}
}

// A set can serve calls and receive a cascade's providers concurrently.
func TestTogether(t *testing.T) {
	name := "scripted:" + write(t, "- {reply: one, times: 8}\n")
	s := New(Options{Getenv: nothing})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := ask(s.Of([]model.Provider{{Name: "mine", BaseURL: "http://127.0.0.1:1/v1"}}), name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if left := s.Left(); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// Two cascades that limit one endpoint differently share the stricter limit.
func TestLimitsShared(t *testing.T) {
	e := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}`))
	}))
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var waits []openai.Wait
	s := New(Options{Getenv: nothing, OnWait: func(w openai.Wait) { waits = append(waits, w); cancel() }})
	list := func(name string, perMinute int) []model.Provider {
		return []model.Provider{{Name: name, BaseURL: e.URL + "/v1", Limits: model.Limits{RequestsPerMinute: perMinute}}}
	}
	if text, err := ask(s.Of(list("strict", 2)), "strict:m"); text != "yes" || err != nil {
		t.Fatal(text, err)
	}
	_, err := s.Of(list("lax", 6000)).Call(ctx, model.Request{Phase: "a", Model: "lax:m", Messages: []model.Message{{Role: "user", Content: "say"}}})
	if !errors.Is(err, context.Canceled) || len(waits) != 1 || !waits[0].Quota || waits[0].For < 20*time.Second || waits[0].For > 30*time.Second {
		t.Errorf("%v, waits %+v", err, waits)
	}
}
