package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seed61713e19/capstan/runner/engine"
)

const asks = "cascade_id: asks\nphases:\n  - {name: a, compose: x, human_input: {type: confirmation, prompt: 'ok?'}}\n"

// TestServerCancelled checks that a run cancelled on Temporal's page ends as
// cancelled, and that capstan show reports it.
func TestServerCancelled(t *testing.T) {
	f := newFleet(t)
	f.worker("one", "--search-attributes")
	f.begin("stopped", asks, nil)
	f.asked("stopped")
	if err := f.temporal.CancelWorkflow(t.Context(), "stopped", ""); err != nil {
		t.Fatal(err)
	}
	if result, err := f.runs.Wait(within(t, time.Minute), "stopped"); err != nil || result.Status != engine.Cancelled {
		t.Errorf("%+v: %v", result, err)
	}
	if status, says := f.capstan("show", "stopped"); status != 0 || !strings.Contains(says, "cancelled") {
		t.Errorf("capstan show: exit status %d, %s", status, says)
	}
}

// TestServerAnswered checks that capstan shows a question with the command for
// its answer, and that the run continues after the answer.
func TestServerAnswered(t *testing.T) {
	f := newFleet(t)
	f.worker("one")
	f.begin("asks", asks, nil)
	f.asked("asks")
	if status, says := f.capstan("runs", "--status", "waiting"); status != 0 || !strings.Contains(says, "asks") {
		t.Errorf("capstan runs: exit status %d, %s", status, says)
	}
	status, says := f.capstan("answer", "asks", "yes")
	_, command, found := strings.Cut(strings.TrimSpace(says), "capstan-temporal ")
	if status != usage || !found {
		t.Fatalf("capstan answer: exit status %d, %s", status, says)
	}
	if out, err := f.program("one", strings.Fields(strings.ReplaceAll(command, `"`, ""))...).CombinedOutput(); err != nil {
		t.Fatalf("capstan-temporal %s: %v: %s", command, err, out)
	}
	if result, err := f.runs.Wait(within(t, time.Minute), "asks"); err != nil || result.Status != engine.Succeeded {
		t.Errorf("%+v: %v", result, err)
	}
	if status, says := f.capstan("show", "asks"); status != 0 || strings.Contains(says, "waits for") || !strings.Contains(says, "succeeded") {
		t.Errorf("capstan show: exit status %d, %s", status, says)
	}
}

// TestServerTerminated checks that a worker records a run that was terminated
// on Temporal's page, and that a waiting client gets the status.
func TestServerTerminated(t *testing.T) {
	f := newFleet(t)
	f.worker("one")
	f.begin("dropped", asks, nil)
	f.asked("dropped")
	if err := f.temporal.TerminateWorkflow(t.Context(), "dropped", "", "too dear"); err != nil {
		t.Fatal(err)
	}
	result, err := f.runs.Wait(within(t, time.Minute), "dropped")
	if err != nil || result.Status != engine.Cancelled || result.Error == nil || !strings.HasSuffix(result.Error.Message, ": too dear") {
		t.Errorf("%+v: %v", result, err)
	}
	at := time.Now()
	for ctx := within(t, time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if run, err := f.journal.Run(ctx, "dropped"); err != nil || run.Finished != nil {
			break
		}
	}
	t.Logf("a terminated run was shown as ended %.1f s later", time.Since(at).Seconds())
	status, says := f.capstan("show", "dropped")
	if status != 0 || !strings.Contains(says, "cancelled") || !strings.Contains(says, "terminated on Temporal") || !strings.Contains(says, "too dear") {
		t.Errorf("capstan show: exit status %d, %s", status, says)
	}
	if status, says := f.capstan("runs", "--status", "cancelled"); status != 0 || !strings.Contains(says, "dropped") {
		t.Errorf("capstan runs: exit status %d, %s", status, says)
	}
}

// TestServerSaysWhatIsMissing checks that a waiting client gets the reason why
// no worker continues a run: there is no worker, or the worker has another
// store. With the right worker, the run ends.
func TestServerSaysWhatIsMissing(t *testing.T) {
	f := newFleet(t)
	file := f.write("one.yaml", "cascade_id: one\nphases:\n  - {name: a, instructions: Say one.}\n")
	waits := f.program("one", "run", file, "--model", "vllm:m")
	says, err := waits.StderrPipe()
	if err == nil {
		err = waits.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = waits.Process.Kill() })
	lines := make(chan string, 100)
	go func() {
		for in := bufio.NewScanner(says); in.Scan(); {
			lines <- in.Text()
		}
		close(lines)
	}()
	hears := func(what string) {
		t.Helper()
		late := time.After(2 * time.Minute)
		for {
			select {
			case line, more := <-lines:
				if t.Log(line); strings.Contains(line, what) {
					return
				}
				if !more {
					t.Fatalf("it ended and did not say %q", what)
				}
			case <-late:
				t.Fatalf("it did not say %q", what)
			}
		}
	}
	hears("no worker takes it: start a worker for the queue capstan")
	own := f.store
	f.store = t.TempDir()
	other := f.worker("two")
	run := regexp.MustCompile(`\S+$`)
	f.store = own
	again := f.program("one", "run", file, "--model", "vllm:m", "--detach")
	out, err := again.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	reasons := make(chan string, 1)
	f.runs.Explain(ctx, run.FindString(strings.TrimSpace(string(out))), func(reason string) {
		reasons <- reason
		cancel()
	})
	if reason := <-reasons; !strings.Contains(reason, "another store") {
		t.Errorf("with a worker of another store: %s", reason)
	}
	_ = other.Process.Kill()
	f.worker("one")
	if err := waits.Wait(); err != nil {
		t.Error(err)
	}
}

// TestServerTracesGoOn checks that a run begun in a trace belongs to that trace
// on every worker: Temporal's spans, the spans of the run, and the headers of
// model requests.
func TestServerTracesGoOn(t *testing.T) {
	f := newFleet(t)
	const outside = "0af7651916cd43dd8448eb211c80319c"
	var mu sync.Mutex
	var sent, elsewhere []string
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		var data traces.TracesData
		if err := proto.Unmarshal(raw, &data); err != nil {
			t.Error(err)
		}
		for _, resource := range data.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, span := range scope.Spans {
					sent = append(sent, span.Name)
					if id := hex.EncodeToString(span.TraceId); id != outside {
						elsewhere = append(elsewhere, id)
					}
				}
			}
		}
	}))
	t.Cleanup(receiver.Close)
	f.env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + receiver.URL, "OTEL_EXPORTER_OTLP_COMPRESSION=none", "OTEL_METRICS_EXPORTER=none", "OTEL_BSP_SCHEDULE_DELAY=100"}
	w := f.worker("one")
	f.env = append(f.env, "TRACEPARENT=00-"+outside+"-b7ad6b7169203331-01")
	file := f.write("one.yaml", "cascade_id: one\nphases:\n  - {name: a, instructions: Say one.}\n")
	if out, err := f.program("one", "run", file, "--model", "vllm:m").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := w.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = w.Wait()
	mu.Lock()
	defer mu.Unlock()
	all := strings.Join(sent, "\n")
	for _, name := range []string{"StartWorkflow:capstan.run", "RunWorkflow:capstan.run", "RunActivity:capstan.model", "invoke_workflow one", "chat m"} {
		if !strings.Contains(all, name) {
			t.Errorf("no %s in %q", name, sent)
		}
	}
	if len(elsewhere) > 0 {
		t.Errorf("%d of %d spans are of other traces", len(elsewhere), len(sent))
	}
}

// asked waits until a run has an open question.
func (f *fleet) asked(id string) {
	f.t.Helper()
	for ctx := within(f.t, time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if list, err := f.runs.Questions(ctx, id); err == nil && len(list) > 0 {
			return
		}
		if ctx.Err() != nil {
			f.t.Fatal("nothing was asked")
		}
	}
}

// TestServerNoNamespace checks the message for an unknown namespace.
func TestServerNoNamespace(t *testing.T) {
	f := newFleet(t)
	file := f.write("asks.yaml", asks)
	for _, args := range [][]string{{"worker"}, {"run", file}, {"answer", "r", "yes"}} {
		c := f.program("one", append(args, "--namespace", "nowhere")...)
		out, _ := c.CombinedOutput()
		if c.ProcessState.ExitCode() != broken || !strings.Contains(string(out), "namespace nowhere is not there") {
			t.Errorf("%v: exit status %d, %s", args, c.ProcessState.ExitCode(), out)
		}
	}
}
