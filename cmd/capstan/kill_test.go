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

// elsewhere is the reason to skip tests of other processes in a short run. A
// short run looks for races, and the race detector would slow each process by
// seconds.
const elsewhere = "the goroutines are in other processes"

// programs returns the folder of capstan and of the program for the exec tool
// and validator.
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

// withEffect builds the program for the tool once, into the folder of the
// scripts' capstan, which is this test binary. Testscript creates and removes
// the folder. Linking another capstan would take longer than the runs.
var withEffect = sync.OnceValues(func() (dir string, err error) {
	scripts, err := exec.LookPath("capstan")
	if err != nil {
		return "", err
	}
	dir = filepath.Dir(scripts) + string(filepath.Separator)
	// The program starts hundreds of times, so it is built without cgo.
	build := goTool(runtime.GOOS+"/"+runtime.GOARCH, "build", "-ldflags", "-s -w", "-o", dir, "./testdata/everything/effect")
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// A world simulates everything outside a run: the model's endpoint and the
// programs. It kills the process of the run at effect number at, before or
// after the answer.
type world struct {
	*httptest.Server
	mu    sync.Mutex
	at    int
	after bool
	count int
	made  map[string]int // by request
	now   *victim
}

// A victim is the process of one command line. The next command line may use
// another process.
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

// answering returns the handler of one kind of effect. The function answer
// returns the name of an effect and its reply.
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

// begin counts an effect and kills the process if the count is at. It returns
// the calling process, or nil if that process is gone.
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

// end kills the process after the answer to an effect. The command may have
// ended by then, and the next may have begun.
func (w *world) end(number int, asker *victim) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if number == w.at && w.after {
		asker.kill()
	}
}

// program answers a call of the exec tool or validator.
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

// chat answers a model call according to its first message and the number of
// replies so far.
func chat(asked []byte) (string, any) {
	var q struct {
		Messages []struct{ Role, Content string }
		Tools    []any
	}
	json.Unmarshal(asked, &q)
	replied := 0
	for _, m := range q.Messages {
		if m.Role == "assistant" {
			replied++
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
	reply := replies[min(replied, len(replies)-1)]
	reason := "stop"
	if tool, args, isCall := strings.Cut(strings.TrimPrefix(reply, "call "), " "); isCall && strings.HasPrefix(reply, "call ") {
		message["tool_calls"] = []any{map[string]any{"id": fmt.Sprintf("c%d", replied), "type": "function", "function": map[string]any{"name": tool, "arguments": args}}}
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

// story lists the replies of the model for each mark: reply n answers call n of
// a conversation that begins with the mark. The judge and the fact check are
// first, because their texts may contain other marks.
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

// A pen runs one cascade repeatedly until the run has ended.
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

// capstan runs one command line and returns its status, or -1 if the process
// was killed. The next command line then gets another process.
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

// finish starts the run, answers its questions and resumes it until it has
// ended. It returns the result and the number of kills.
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

// TestKilled kills the process of a run before or after the answer of each
// effect. The run must end with the result and cost of an undisturbed run. Only
// the interrupted effect may be repeated.
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
				// After the last answer of a process, the kill may be late.
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
				// The kill also interrupts the effects that ran in parallel:
				// three in all.
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
