//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// slowModel answers according to the requested step, and counts the requests. A
// held step waits.
type slowModel struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int
	order []string             // the steps in the order of the requests
	hold  map[string]chan bool // the step waits until the channel is closed
	begun chan string
}

func newSlowModel(t *testing.T) *slowModel {
	m := &slowModel{asked: map[string]int{}, hold: map[string]chan bool{}, begun: make(chan string, 10000)}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, step, _ := strings.Cut(string(body), "Do step ")
		step, _, _ = strings.Cut(step, ".")
		m.mu.Lock()
		m.asked[step]++
		m.order = append(m.order, step)
		hold := m.hold[step]
		m.mu.Unlock()
		m.begun <- step
		if hold != nil {
			<-hold
		}
		answer, _ := json.Marshal(map[string]any{"id": "1", "object": "chat.completion", "model": "m", "choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": "done " + step}}},
			"usage": map[string]int{"prompt_tokens": 1, "completion_tokens": 1}})
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	t.Cleanup(m.Close)
	return m
}

// TestTakeOver kills or suspends one of two servers during a run. The other
// server resumes the run and repeats no finished step. A suspended server must
// not write after it continues.
func TestTakeOver(t *testing.T) {
	programs := programs(t)
	stores := map[string]string{"file": ""}
	if store, err := newDatabase(); err == nil {
		stores["postgres"] = store
	}
	for kind, store := range stores {
		for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "asleep": syscall.SIGSTOP} {
			if kind == "file" && name == "asleep" {
				continue // this shows that the run is there
			}
			t.Run(kind+"/"+name, func(t *testing.T) { takeOver(t, filepath.Join(programs, "capstan"), store, name, signal) })
		}
	}
}

func takeOver(t *testing.T, program, store, id string, signal syscall.Signal) {
	m, dir := newSlowModel(t), t.TempDir()
	if store == "" {
		store = filepath.Join(dir, "runs.db")
	}
	cascade := "cascade_id: steps\nphases:\n"
	for i := range 4 {
		cascade += fmt.Sprintf("  - {name: s%d, instructions: 'Do step %d.'}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "steps.yaml"), []byte(cascade), 0o600); err != nil {
		t.Fatal(err)
	}
	held := make(chan bool)
	m.hold["2"] = held
	first, url := m.serve(t, program, dir, store)
	second, _ := m.serve(t, program, dir, store)
	order, _ := json.Marshal(map[string]any{"cascade": "steps", "run_id": id})
	resp, err := http.Post(url+"/v1/runs", "application/json", strings.NewReader(string(order)))
	if err != nil || resp.StatusCode/100 != 2 {
		t.Fatal(err, resp)
	}
	for step := range m.begun {
		if step == "2" {
			break
		}
	}
	m.mu.Lock()
	m.hold["2"] = nil
	m.mu.Unlock()
	if err := first.Signal(signal); err != nil {
		t.Fatal(err)
	}
	for step := range m.begun { // started by the other server
		if step == "3" {
			break
		}
	}
	j, err := journal.Open(store, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	ends := time.Now().Add(time.Minute)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for ; ; <-look.C {
		if run, err := j.Run(t.Context(), id); err == nil && run.Status == "succeeded" {
			break
		} else if time.Now().After(ends) {
			t.Fatal("it does not end", err)
		}
	}
	before, _ := j.Result(t.Context(), id)
	close(held)
	_ = first.Signal(syscall.SIGCONT) // the first server receives the answer now
	_ = first.Signal(syscall.SIGTERM)
	_, _ = first.Wait()
	after, err := j.Result(t.Context(), id)
	compareJSON(t, after, before)
	if err != nil || after.Output != "done 3" {
		t.Errorf("got %v, %v", after.Output, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for step, n := range m.asked {
		if want := map[string]int{"2": 2}[step]; n != max(want, 1) {
			t.Errorf("step %s was asked for %d times", step, n)
		}
	}
	_ = second.Kill()
}

// TestOneOfThreeIsKilled kills one of three servers that share 200 runs. All
// runs must end. No step is requested again after the request of its next step,
// which shows that the step had finished.
func TestOneOfThreeIsKilled(t *testing.T) {
	store, err := newDatabase()
	if err != nil {
		t.Skip(err)
	}
	const runs, steps = 200, 4
	m, dir := newSlowModel(t), t.TempDir()
	cascade := "cascade_id: steps\ninputs_schema: {k: {type: integer}}\nphases:\n"
	for i := range steps {
		cascade += fmt.Sprintf("  - {name: s%d, instructions: 'Do step %d of {{ input.k }}.'}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "steps.yaml"), []byte(cascade), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(programs(t), "capstan")
	held := make(chan bool)
	m.hold["1 of 0"] = held
	var servers []*os.Process
	var urls []string
	for range 3 {
		p, url := m.serve(t, program, dir, store)
		servers, urls = append(servers, p), append(urls, url)
	}
	for k := range runs {
		order, _ := json.Marshal(map[string]any{"cascade": "steps", "run_id": fmt.Sprint("run", k), "input": map[string]any{"k": k}})
		resp, err := http.Post(urls[k%3]+"/v1/runs", "application/json", strings.NewReader(string(order)))
		if err != nil || resp.StatusCode/100 != 2 {
			t.Fatal(err, resp)
		}
		resp.Body.Close()
		if k == runs*3/4 { // some runs have ended, some are running, some are waiting
			for asked := range m.begun {
				if asked == "1 of 0" {
					break
				}
			}
			if err := servers[0].Kill(); err != nil {
				t.Fatal(err)
			}
			m.mu.Lock()
			m.hold["1 of 0"] = nil
			m.mu.Unlock()
			close(held)
			urls[0] = urls[1]
		}
	}
	j, err := journal.Open(store, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for ends := time.Now().Add(2 * time.Minute); ; <-look.C {
		list, err := j.Runs(t.Context(), journal.Filter{Status: "succeeded"})
		if err == nil && len(list) == runs {
			break
		}
		if time.Now().After(ends) {
			t.Fatalf("%d of %d runs end: %v", len(list), runs, err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	last := map[string]string{}
	for _, asked := range m.order {
		step, run, _ := strings.Cut(asked, " of ")
		if step < last[run] {
			t.Errorf("run %s: step %s was asked for after step %s", run, step, last[run])
		}
		last[run] = step
	}
	again := 0
	for asked, n := range m.asked {
		if n > 2 {
			t.Errorf("step %s was asked for %d times", asked, n)
		}
		again += n - 1
	}
	if m.asked["1 of 0"] != 2 {
		t.Errorf("the step that was under way was asked for %d times", m.asked["1 of 0"])
	}
	t.Logf("%d steps of %d were under way in the process that died", again, runs*steps)
}

func compareJSON(t *testing.T, got, want any) {
	t.Helper()
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if string(a) != string(b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
}

// TestHeirs checks that a server resumes the runs that servers started, and
// reports the reason why it leaves other runs.
func TestHeirs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	j, err := journal.Open(file, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	h := heir{s: &kit{journal: j}, offered: map[string]string{"steps": "steps.yaml"}}
	for id, c := range map[string]struct {
		settings map[string]string
		want     string
	}{
		"command": {map[string]string{settingDir: "/"}, "it was started by a command, not by a server: capstan resume command continues it"},
		"another": {map[string]string{"cascade": "letters"}, "this server does not offer its cascade post"},
	} {
		if _, err := j.Begin(runner.Start{RunID: id, CascadeID: "post", Settings: c.settings}); err != nil {
			t.Fatal(err)
		}
		if err := h.take(t.Context(), id); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// serve starts a server and returns its process and address.
func (m *slowModel) serve(t *testing.T, program, dir, store string) (*os.Process, string) {
	t.Helper()
	cmd := exec.Command(program, "serve", "steps.yaml", "--addr", "127.0.0.1:0", "--model", "m", "--takeover", "1s")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CAPSTAN_STORE="+store, "OPENAI_BASE_URL="+m.URL+"/v1", "OPENAI_API_KEY=", "CAPSTAN_MODEL=")
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line := make([]byte, 0, 4096)
	for buffer := make([]byte, 1024); ; {
		n, err := out.Read(buffer)
		line = append(line, buffer[:n]...)
		if url, _, found := strings.Cut(string(line), " shows"); found {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return cmd.Process, url[strings.LastIndex(url, "http"):]
		}
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
}
