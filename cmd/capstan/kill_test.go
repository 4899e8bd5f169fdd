package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// elsewhere says why what runs capstan in processes of its own has no place in a short
// run, which looks for races: the detector would make each of them take seconds.
const elsewhere = "the goroutines are in other processes"

// programs gives the folder of capstan and the program behind the exec tool and
// validator.
func programs(t *testing.T) (dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip(elsewhere)
	}
	dir, err := withEffect()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// withEffect builds the program behind the tool, once, beside the capstan of the
// scripts, which is this test itself: to link another took longer than all its runs.
// They are in the folder that testscript makes for its own and removes.
var withEffect = sync.OnceValues(func() (dir string, err error) {
	scripts, err := exec.LookPath("capstan")
	if err != nil {
		return "", err
	}
	dir = filepath.Dir(scripts) + string(filepath.Separator)
	// It starts hundreds of times, and a C library of its own is dear to start.
	build := goTool(runtime.GOOS+"/"+runtime.GOARCH, "build", "-ldflags", "-s -w", "-o", dir, "./testdata/everything/effect")
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// A world is everything outside a run: a model's endpoint and the programs. It
// kills the run's process at the effect numbered at, before it answers or after.
type world struct {
	*httptest.Server
	mu    sync.Mutex
	at    int
	after bool
	count int
	made  map[string]int // by what was asked
	now   *victim
}

// A victim is the process of one command line. Behind that it is another's.
type victim struct {
	*os.Process
	killed, done bool
}

func (v *victim) kill() {
	if !v.done {
		v.killed = true
		v.Kill()
	}
}

func newWorld(t *testing.T) *world {
	w := &world{made: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", w.answering(chat))
	mux.HandleFunc("POST /effect", w.answering(program))
	w.Server = httptest.NewServer(mux)
	t.Cleanup(w.Close)
	return w
}

// answering makes a handler of one effect: what was asked gives its name and
// the answer.
func (w *world) answering(answer func(asked []byte) (name string, reply any)) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		name, reply := answer(asked)
		number, asker := w.begin(name)
		if asker == nil {
			panic(http.ErrAbortHandler)
		}
		text, _ := json.Marshal(reply)
		out.Header().Set("Content-Type", "application/json")
		out.Header().Set("Content-Length", strconv.Itoa(len(text)))
		out.Write(text)
		out.(http.Flusher).Flush()
		w.end(number, asker)
	}
}

// begin counts an effect, and kills where that is the one. It gives the process
// that asked, nil where nobody is there any more for the answer.
func (w *world) begin(name string) (number int, asker *victim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	w.made[name]++
	if w.count == w.at && !w.after {
		w.now.kill()
	}
	if w.now.killed {
		return w.count, nil
	}
	return w.count, w.now
}

// end kills just after the effect was answered. The command may have come to
// its own end by then, and the next one begun.
func (w *world) end(number int, asker *victim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if number == w.at && w.after {
		asker.kill()
	}
}

// program answers an exec tool or validator.
func program(asked []byte) (string, any) {
	var q struct {
		Key       string
		Content   *string
		Arguments map[string]any
	}
	json.Unmarshal(asked, &q)
	name := "program " + q.Key
	if q.Content == nil {
		return name, map[string]any{"found": q.Arguments["q"]}
	}
	valid := !strings.Contains(*q.Content, "shabby")
	return name, map[string]any{"valid": valid, "reason": "not shabby"}
}

// chat answers a model's call by what was said first and how often since.
func chat(asked []byte) (string, any) {
	var q struct {
		Messages []struct{ Role, Content string }
		Tools    []any
	}
	json.Unmarshal(asked, &q)
	said := 0
	for _, m := range q.Messages {
		if m.Role == "assistant" {
			said++
		}
	}
	replies := []string{"a plain answer"}
	for _, s := range story {
		if strings.Contains(q.Messages[0].Content, s.mark) {
			replies = s.replies
			break
		}
	}
	message := map[string]any{"role": "assistant", "content": ""}
	reply := replies[min(said, len(replies)-1)]
	reason := "stop"
	if tool, args, isCall := strings.Cut(strings.TrimPrefix(reply, "call "), " "); isCall && strings.HasPrefix(reply, "call ") {
		message["tool_calls"] = []any{map[string]any{"id": fmt.Sprintf("c%d", said), "type": "function", "function": map[string]any{"name": tool, "arguments": args}}}
		reason = "tool_calls"
	} else {
		message["content"] = reply
	}
	return "model " + string(asked), map[string]any{
		"id": "1", "object": "chat.completion", "model": "test-model",
		"choices": []any{map[string]any{"index": 0, "finish_reason": reason, "message": message}},
		"usage":   map[string]any{"prompt_tokens": len(asked) / 4, "completion_tokens": 7, "total_tokens": len(asked)/4 + 7},
	}
}

// story is what the model says: the n-th time in a conversation that begins
// with the mark. The judge and the fact check stand first: they hold texts in
// which other marks may be.
var story = []struct {
	mark    string
	replies []string
}{
	{"[tone]", []string{`{"valid": true, "reason": "warm"}`}},
	{"[facts]", []string{`{"valid": false, "reason": "unproven"}`}},
	{"[best]", []string{`{"winner": 2}`}},
	{"[research]", []string{"owls are birds"}},
	{"[helper]", []string{"help is here"}},
	{"[outline]", []string{"no JSON at all", `{"title": "Owls"}`}},
	{"[draft]", []string{
		`call look_up {"q": "owls"}`, `call helper {}`, `call set_state {"key": "seen", "value": true}`,
		"draft zero", "short", "a shabby text about owls", "a fine text about owls",
	}},
	{"[title]", []string{"<t>Of owls</t>"}},
	{"[decide]", []string{"It is bad.", `call route_to {"target": "reject"}`}},
	{"[reject]", []string{"rejected, and yet"}},
	{"[finish]", []string{"the end"}},
}

// A pen is where one run is made over and over until it has ended.
type pen struct {
	t     *testing.T
	w     *world
	dir   string
	idle  *sessions
	stdio bytes.Buffer
}

func newPen(t *testing.T, programs string, idle *sessions) *pen {
	p := &pen{t: t, w: newWorld(t), dir: t.TempDir(), idle: idle}
	files, err := filepath.Glob("testdata/everything/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no cascade", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.ReplaceAll(text, []byte("${PROGRAM}"), []byte(filepath.Join(programs, "effect")))
		if err := os.WriteFile(filepath.Join(p.dir, filepath.Base(file)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// capstan runs one command line and gives its status, -1 where it was killed: then
// what comes behind it is in another process.
func (p *pen) capstan(args ...string) (status int, out string) {
	s := p.idle.take()
	if err := s.begin(); err != nil {
		p.t.Fatal(err)
	}
	now := &victim{Process: s.process.Process}
	p.w.mu.Lock()
	p.w.now = now
	p.w.mu.Unlock()
	e, err := s.run(order{Dir: p.dir, Args: args, Env: append(os.Environ(), "CAPSTAN_TEST_EFFECT="+p.w.URL+"/effect",
		"OPENAI_BASE_URL="+p.w.URL+"/v1", "OPENAI_API_KEY=", "CAPSTAN_MODEL=", "CAPSTAN_STORE="+filepath.Join(p.dir, "runs.db"))})
	p.w.mu.Lock()
	now.done = true
	p.w.mu.Unlock()
	p.stdio.WriteString(e.Stderr)
	switch {
	case now.killed:
		s.close()
	case err != nil:
		p.t.Fatal(err)
	default:
		p.idle.give(s)
	}
	if err != nil {
		return -1, ""
	}
	return e.Status, e.Stdout
}

// finish makes the run, answers it and goes on with it until it has ended, and
// gives its result and how often it was killed.
func (p *pen) finish() (result map[string]any, kills int) {
	status, out := p.capstan("run", "everything.yaml", "--input", "topic=owls", "--run-id", "all", "--json", "-q")
	for range 6 {
		switch status {
		case 0:
			if err := json.Unmarshal([]byte(out), &result); err != nil {
				p.t.Fatal(err)
			}
			return result, kills
		case exitWaiting:
			if status, _ := p.capstan("answer", "all", "yes"); status != 0 {
				p.t.Fatalf("answer: status %d\n%s", status, p.stdio.String())
			}
		case -1:
			kills++
		default:
			p.t.Fatalf("status %d\n%s", status, p.stdio.String())
		}
		status, out = p.capstan("resume", "all", "--json", "-q")
	}
	p.t.Fatalf("it does not end: status %d\n%s", status, p.stdio.String())
	return nil, 0
}

// A run whose process is killed at any of its effects, before the effect is
// answered or just after, ends as the one that nobody disturbed: the same
// result and cost, and no effect made again but the one that was cut.
func TestKilled(t *testing.T) {
	programs, idle := programs(t), &sessions{}
	t.Cleanup(idle.close)
	calm := newPen(t, programs, idle)
	want, _ := calm.finish()
	effects := calm.w.count
	if effects < 30 {
		t.Fatalf("only %d effects", effects)
	}
	for k := 1; k <= effects; k++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/after=%v", k, after), func(t *testing.T) {
				t.Parallel()
				p := newPen(t, programs, idle)
				p.w.at, p.w.after = k, after
				got, kills := p.finish()
				// After the last answer before a process ends, the kill may be late.
				if kills > 1 || kills == 0 && !after {
					t.Fatalf("killed %d times\n%s", kills, p.stdio.String())
				}
				compare(t, got, want)
				again := 0
				for name, n := range p.w.made {
					if calm.w.made[name] == 0 {
						t.Errorf("made, but not where nobody disturbed: %s", name)
					}
					again += n - calm.w.made[name]
				}
				// Those that ran beside the one that was cut are cut too: three
				// soundings, or three slow checks.
				if again > 3 || len(p.w.made) != len(calm.w.made) {
					t.Errorf("%d effects made again; %d different ones, want %d", again, len(p.w.made), len(calm.w.made))
				}
			})
		}
	}
}

func compare(t *testing.T, got, want map[string]any) {
	t.Helper()
	for key := range want {
		if !reflect.DeepEqual(got[key], want[key]) {
			t.Errorf("%s:\ngot  %v\nwant %v", key, got[key], want[key])
		}
	}
}
