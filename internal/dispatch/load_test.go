package dispatch_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed61713e19/capstan/internal/dispatch"
	"github.com/seed61713e19/capstan/validators/request"
)

// verdictOf returns the verdict of the nth task in the load tests.
func verdictOf(n int) request.Verdict {
	return []request.Verdict{request.Pass, request.Fail, request.Partial, request.Blocked}[n%4]
}

// response returns the response to the nth task. With other, its verdict differs.
func response(t testing.TB, n int, other bool) []byte {
	verdict := verdictOf(n)
	if other {
		verdict = verdictOf(n + 1)
	}
	pairs := map[request.Verdict][]string{
		request.Pass: {"a", "PASS", "b", "PASS"}, request.Fail: {"a", "FAIL", "b", "FAIL"},
		request.Partial: {"a", "PASS", "b", "FAIL"}, request.Blocked: {"a", "PASS", "b", "BLOCKED"},
	}
	form, known := forms.Load(verdict)
	if !known {
		form = string(text(t, with(answer(string(verdict), pairs[verdict]...), object{"task_id": "task-%d", "reasoning": "task %d"})))
		forms.Store(verdict, form)
	}
	return fmt.Appendf(nil, form.(string), n, n)
}

var forms sync.Map // verdict → template of its response, because the tests send tens of thousands

// openAll opens every request.
func openAll(t *testing.T, d *dispatch.Dispatcher) {
	t.Helper()
	r := asked(t, ask("a", "b"))
	for n := range inFlight() {
		r.TaskID = taskName(n) // Open checks and copies the request
		if _, err := d.Open(r); err != nil {
			t.Fatal(err)
		}
	}
}

func taskName(n int) string { return fmt.Sprintf("task-%d", n) }

// inFlight returns the number of requests. A short run, which only looks for races, uses a tenth
// of them.
func inFlight() int {
	if testing.Short() {
		return 1_000
	}
	return 10_000
}

// checkLoad compares the outcome of every task with the expected one.
func checkLoad(t *testing.T, d *dispatch.Dispatcher) {
	t.Helper()
	for n := range inFlight() {
		o, err := d.Wait(t.Context(), taskName(n))
		if err != nil || o.Judgement.Effective != verdictOf(n) || o.Judgement.TaskID != taskName(n) || o.Response.Reasoning != fmt.Sprint("task ", n) || o.Synthetic {
			t.Fatalf("task %d: got %+v %v", n, o, err)
		}
		rec, err := d.Status(taskName(n))
		accepted := 0
		for _, e := range rec.Record {
			if e.Event == dispatch.Accepted {
				accepted++
			}
		}
		if err != nil || accepted != 1 {
			t.Fatalf("task %d: %d responses are accepted, %v", n, accepted, err)
		}
	}
}

// memory logs the memory of the process, and fails the test at 200 MB or more.
func memory(t *testing.T, what string) {
	t.Helper()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	mb := (m.Sys - m.HeapReleased) >> 20
	t.Logf("%s: %d MB of the system, %d MB in heap, %d MB in stacks", what, mb, m.HeapAlloc>>20, m.StackInuse>>20)
	if mb >= 200 {
		t.Errorf("%s: %d MB", what, mb)
	}
}

// ownProcess runs the test in a new process, so that other tests do not affect its memory. It
// reports whether the caller is in this process.
func ownProcess(t *testing.T) bool {
	t.Helper()
	const variable = "CAPSTAN_TEST_ALONE"
	if os.Getenv(variable) == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$", fmt.Sprintf("-test.short=%t", testing.Short()))
	cmd.Env = append(os.Environ(), variable+"="+t.Name())
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a new process: %v", err)
	}
	return false
}

// TestLoadOfValidators runs 10,000 validators in parallel.
func TestLoadOfValidators(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	before := runtime.NumGoroutine()
	var waiting sync.WaitGroup
	waiting.Add(inFlight())
	gate := make(chan struct{})
	d := dispatch.New(dispatch.Config{Fresh: func() dispatch.Validate {
		return (func(_ context.Context, r *request.Request, _ *request.ProtocolError) ([]byte, error) {
			n, err := strconv.Atoi(strings.TrimPrefix(r.TaskID, "task-"))
			waiting.Done()
			<-gate
			return response(t, n, false), err
		})
	}})
	openAll(t, d)
	waiting.Wait()
	memory(t, "in flight")
	close(gate)
	checkLoad(t, d)
	memory(t, "settled")
	d.Close()
	if after := runtime.NumGoroutine(); after > before+5 {
		t.Errorf("%d goroutines, %d before the test", after, before)
	}
}

// TestLoadOfDeliveries delivers the responses to 10,000 requests in random order, from several
// goroutines. For a fifth of the tasks, it also delivers a second response and a response to an
// unknown task.
func TestLoadOfDeliveries(t *testing.T) {
	if !ownProcess(t) {
		return
	}
	d := dispatch.New(dispatch.Config{})
	defer d.Close()
	openAll(t, d)
	memory(t, "in flight")
	order := rand.Perm(inFlight())
	var next, accepted, duplicate, unknown atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < inFlight(); i = int(next.Add(1)) - 1 {
				n := order[i]
				sent := [][]byte{response(t, n, false)}
				if n%5 == 0 {
					sent = append(sent, response(t, n, true), response(t, inFlight()+n, false))
				}
				for _, raw := range sent {
					got, err := d.Deliver(raw)
					switch {
					case err != nil:
						unknown.Add(1)
					case got.Event == dispatch.Accepted:
						accepted.Add(1)
					case got.Event == dispatch.Duplicate:
						duplicate.Add(1)
					}
				}
			}
		})
	}
	all.Wait()
	if want := int32(inFlight()); accepted.Load() != want || duplicate.Load() != want/5 || unknown.Load() != want/5 {
		t.Errorf("accepted %d, duplicate %d, unknown %d", accepted.Load(), duplicate.Load(), unknown.Load())
	}
	checkLoad(t, d)
	memory(t, "settled")
}

// TestLoadOfOneTask checks that only one of several concurrent responses is accepted.
func TestLoadOfOneTask(t *testing.T) {
	d := dispatch.New(dispatch.Config{})
	defer d.Close()
	for attempt := range 100 {
		if _, err := d.Open(asked(t, with(ask("a", "b"), object{"task_id": taskName(0)}))); err != nil {
			t.Fatal(err)
		}
		var accepted atomic.Int32
		var winner atomic.Value
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				raw := text(t, with(answer("PASS", "a", "PASS", "b", "PASS"), object{"task_id": taskName(0), "validator_id": fmt.Sprint(n)}))
				if got, err := d.Deliver(raw); err == nil && got.Event == dispatch.Accepted {
					accepted.Add(1)
					winner.Store(fmt.Sprint(n))
				}
			})
		}
		all.Wait()
		o, err := d.Wait(t.Context(), taskName(0))
		if err != nil || accepted.Load() != 1 || o.Attempt != attempt+1 || o.Response.ValidatorID != winner.Load() {
			t.Fatalf("%d were accepted; got %+v %v", accepted.Load(), o, err)
		}
	}
}
