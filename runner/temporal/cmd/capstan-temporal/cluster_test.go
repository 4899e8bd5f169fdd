package main

import (
	"bufio"
	"cmp"
	"context"
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
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/seed61713e19/capstan/internal/postgrestest"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/temporal"
)

// The tests in files named server_* need a real server and processes that they
// can kill. They run only if CAPSTAN_TEMPORAL_SERVER is set: see .ci/temporal.

// asProgram is the variable that makes the test binary act as capstan-temporal.
const asProgram = "CAPSTAN_TEMPORAL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	failed := m.Run()
	if failed == 0 && os.Getenv("CAPSTAN_TEMPORAL_SERVER") != "" {
		failed = again(m)
	}
	os.Exit(failed)
}

// again runs the tests that need a server a second time with PostgreSQL, if it
// is installed. The first run uses a file as its store.
func again(m *testing.M) int {
	c, err := postgrestest.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "not over PostgreSQL:", err)
		return 0
	}
	defer c.Stop()
	shared = c
	fmt.Fprintln(os.Stderr, "over PostgreSQL:")
	return m.Run()
}

// shared is the PostgreSQL server of the second run; fleets counts the tests
// that have a schema there.
var (
	shared *postgrestest.Cluster
	fleets atomic.Int32
)

// A fleet is a server, its store and the workers of a test.
type fleet struct {
	t                *testing.T
	dir, store       string
	address          string
	server           *exec.Cmd
	model            *mind
	journal          *journal.Journal
	temporal         client.Client
	runs             *temporal.Client
	devserver, shows string   // the programs
	env              []string // the environment of the programs that the test starts next
	asks             string   // the model; "" means the test's own endpoint
}

// newFleet starts a server.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	built := os.Getenv("CAPSTAN_TEMPORAL_SERVER")
	if built == "" {
		t.Skip("CAPSTAN_TEMPORAL_SERVER is not set")
	}
	dir := t.TempDir()
	store := filepath.Join(dir, "runs.db")
	if shared != nil {
		store = fmt.Sprintf("%s&search_path=fleet%d", shared.Address("postgres"), fleets.Add(1))
	}
	f := &fleet{t: t, dir: dir, store: store, address: "127.0.0.1:0", model: newMind(t), devserver: built}
	if !filepath.IsAbs(built) {
		f.devserver = f.build("devserver", "../../devserver", ".")
	}
	f.serve()
	var err error
	if f.journal, err = journal.Open(f.store, journal.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.journal.Close() })
	if f.temporal, err = client.Dial(client.Options{HostPort: f.address, Logger: logger{}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.temporal.Close)
	f.runs = &temporal.Client{Temporal: f.temporal, Texts: f.journal.Blobs(), Queue: "capstan"}
	return f
}

// build builds a program of another module in the repository.
func (f *fleet) build(name, module, of string) string {
	f.t.Helper()
	program := filepath.Join(f.dir, name)
	if out, err := exec.Command("go", "build", "-C", module, "-o", program, of).CombinedOutput(); err != nil {
		f.t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return program
}

// serve starts the server, or restarts it at the same address with its data.
func (f *fleet) serve() {
	f.t.Helper()
	f.server = exec.Command(f.devserver, "-address", f.address, "-file", filepath.Join(f.dir, "temporal.db"))
	out, err := f.server.StdoutPipe()
	if err == nil {
		f.server.Stderr = os.Stderr
		err = f.server.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	own := f.server
	f.t.Cleanup(func() { _ = own.Process.Kill(); _ = own.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		f.t.Fatal("the server did not start: ", err)
	}
	f.address = strings.TrimSpace(strings.TrimPrefix(line, "address "))
}

// program returns a command of capstan-temporal for the fleet's server.
func (f *fleet) program(model string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], append(args, "--address", f.address, "--store", f.store)...)
	c.Env = append(os.Environ(), asProgram+"=1", "VLLM_BASE_URL="+f.model.URL+"/"+model+"/v1")
	c.Env = append(c.Env, f.env...)
	c.Dir = f.dir
	return c
}

// worker starts a worker with a named model and waits until the worker polls.
func (f *fleet) worker(name string, args ...string) *exec.Cmd {
	f.t.Helper()
	w := f.program(name, append([]string{"worker"}, args...)...)
	says, err := w.StderrPipe()
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = w.Process.Kill(); _ = w.Wait() })
	lines := bufio.NewReader(says)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			f.t.Fatalf("worker %s did not start: %v", name, err)
		}
		if strings.HasPrefix(line, "worker of ") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	return w
}

// capstan runs the program capstan on the fleet's store.
func (f *fleet) capstan(args ...string) (status int, says string) {
	f.t.Helper()
	if f.shows == "" {
		f.shows = f.build("capstan", "../../../..", "./cmd/capstan")
	}
	c := exec.Command(f.shows, append(args, "--store", f.store)...)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		f.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// write writes a file into the fleet's folder.
func (f *fleet) write(name, text string) string {
	f.t.Helper()
	file := filepath.Join(f.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return file
}

// begin begins a run of a cascade with an input.
func (f *fleet) begin(id, source string, input map[string]any) {
	f.t.Helper()
	c := cluster{root: f.dir}
	r, err := c.runner()
	if err != nil {
		f.t.Fatal(err)
	}
	cascade, err := r.Load(f.write(id+".yaml", source))
	if err == nil {
		err = f.runs.Begin(f.t.Context(), temporal.Request{RunID: id, Cascade: cascade, Input: input, Model: cmp.Or(f.asks, "vllm:m")})
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// historySize returns the number of a run's histories, and the events and bytes of the
// largest history.
func (f *fleet) historySize(id string) (histories int, events, bytes int64) {
	f.t.Helper()
	for run := ""; ; histories++ {
		d, err := f.temporal.DescribeWorkflowExecution(f.t.Context(), id, run)
		if err != nil {
			f.t.Fatal(err)
		}
		info := d.WorkflowExecutionInfo
		events, bytes = max(events, info.HistoryLength), max(bytes, info.HistorySizeBytes)
		first, err := f.temporal.GetWorkflowHistory(f.t.Context(), id, info.Execution.RunId, false, 1).Next()
		if err != nil {
			f.t.Fatal(err)
		}
		if run = first.GetWorkflowExecutionStartedEventAttributes().GetContinuedExecutionRunId(); run == "" {
			return histories + 1, events, bytes
		}
	}
}

// A mind is a model endpoint that answers with the text after "Say " and counts
// its requests.
type mind struct {
	*httptest.Server
	mu       sync.Mutex
	asked    map[string]int                     // the number of requests for each text
	answered map[string]int                     // the number of answers for each text
	before   func(worker, what string, nth int) // called before each answer; may wait
	answer   func(what string) string
	hold     func(asking context.Context) // called first for each request
}

func newMind(t *testing.T) *mind {
	m := &mind{asked: map[string]int{}, answered: map[string]int{}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if m.hold != nil {
			m.hold(r.Context())
		}
		_, what, _ := strings.Cut(string(raw), "Say ")
		what, _, _ = strings.Cut(what, ".")
		worker, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		m.mu.Lock()
		m.asked[what]++
		nth, before := m.begun(), m.before
		m.mu.Unlock()
		if before != nil {
			before(worker, what, nth)
		}
		text := what
		if m.answer != nil {
			text = m.answer(what)
		}
		answer, _ := json.Marshal(map[string]any{"model": "m", "choices": []any{map[string]any{
			"finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": text}}}})
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write(answer); err == nil && r.Context().Err() == nil {
			m.mu.Lock()
			m.answered[what]++
			m.mu.Unlock()
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// begun returns the number of requests. The caller holds m.
func (m *mind) begun() (n int) {
	for _, k := range m.asked {
		n += k
	}
	return n
}

// counts returns the requests and answers so far.
func (m *mind) counts() (asked, answered map[string]int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	asked, answered = map[string]int{}, map[string]int{}
	for what, n := range m.asked {
		asked[what] = n
	}
	for what, n := range m.answered {
		answered[what] = n
	}
	return asked, answered
}

// steps returns a cascade that repeats each element of a list, with a maximum
// of concurrent items.
func steps(together int) string {
	return fmt.Sprintf(`
cascade_id: steps
budget: {max_calls: 10000}
phases:
  - {name: all, each: {in: "{{ input.list }}", as: one, max_items: 3000, max_parallel: %d}, instructions: "Say {{ one }}."}
  - {name: last, compose: "{{ outputs.all | length }}"}
`, together)
}

// listOf returns an input for steps.
func listOf(n int) map[string]any {
	list := make([]any, n)
	for i := range list {
		list[i] = fmt.Sprint("step ", i)
	}
	return map[string]any{"list": list}
}

// within returns a context with a time limit.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
