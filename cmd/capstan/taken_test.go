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
	"strings"
	"sync"
	"testing"
)

// A queue is a model's endpoint that counts its calls and delays one.
type queue struct {
	*httptest.Server
	mu      sync.Mutex
	calls   int
	hold    int           // the number of the delayed call
	held    chan struct{} // closed when that call arrives
	release chan struct{}
}

func newQueue(t *testing.T, hold int) *queue {
	q := &queue{hold: hold, held: make(chan struct{}), release: make(chan struct{})}
	q.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		q.mu.Lock()
		q.calls++
		n := q.calls
		q.mu.Unlock()
		if n == q.hold {
			close(q.held)
			<-q.release
		}
		_, reply := chat(asked)
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(reply)
	}))
	t.Cleanup(q.Close)
	return q
}

// TestTakenOver takes over a run from another PID namespace while the first
// process waits for its third answer. Only that call is paid twice. The first
// process reports the takeover and ends with status 3.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "-p", "-f", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: no namespace of process numbers can be made here: %v %s", err, out)
	}
	program, dir := filepath.Join(programs(t), "capstan"), t.TempDir()
	var text strings.Builder
	text.WriteString("cascade_id: six\nmodel: m\nphases:\n")
	for i := range 6 {
		fmt.Fprintf(&text, "  - {name: p%d, instructions: Say %d.}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "six.yaml"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	q := newQueue(t, 3)
	command := func(output *bytes.Buffer, words ...string) *exec.Cmd {
		c := exec.Command(words[0], words[1:]...)
		c.Dir, c.Stdout, c.Stderr = dir, output, output
		c.Env = append(os.Environ(), "OPENAI_BASE_URL="+q.URL+"/v1", "OPENAI_API_KEY=", "CAPSTAN_MODEL=", "CAPSTAN_STORE="+filepath.Join(dir, "runs.db"))
		return c
	}
	var one, busy, two, shown bytes.Buffer
	first := command(&one, program, "run", "six.yaml", "--run-id", "six", "-q")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	<-q.held
	apart := []string{"unshare", "-p", "-f", "--mount-proc", program, "resume", "six", "-q"}
	if err := command(&busy, apart...).Run(); err == nil || !strings.Contains(busy.String(), "the run is running") {
		t.Errorf("without --take: %v: %s", err, busy.String())
	}
	if err := command(&two, append(apart, "--take")...).Run(); err != nil || !strings.Contains(two.String(), "a plain answer") {
		t.Errorf("the second: %v: %s", err, two.String())
	}
	close(q.release)
	err := first.Wait()
	if got := first.ProcessState.ExitCode(); got != exitBroken || !strings.Contains(one.String(), "taken_over") || strings.Contains(one.String(), "a plain answer") {
		t.Errorf("the first: status %d, %v: %s", got, err, one.String())
	}
	if q.calls != 7 { // six, and the interrupted call
		t.Errorf("%d calls", q.calls)
	}
	if err := command(&shown, program, "show", "six", "--json").Run(); err != nil || !strings.Contains(shown.String(), `"model_calls": 6`) {
		t.Errorf("shown: %v: %s", err, shown.String())
	}
}
