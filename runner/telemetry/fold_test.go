package telemetry_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/telemetry"
)

// checking is an exporter that checks its spans.
type checking struct {
	t     testing.TB
	known map[string]bool
}

func (c *checking) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	for _, s := range spans {
		all := s.Attributes()
		for _, e := range s.Events() {
			all = append(all, e.Attributes...)
		}
		for _, a := range all {
			if !c.known[string(a.Key)] {
				c.t.Errorf("%s has %s, which is not in the table", s.Name(), a.Key)
			}
		}
		if s.EndTime().Before(s.StartTime()) {
			c.t.Errorf("%s ends before it starts", s.Name())
		}
	}
	return nil
}

func (*checking) Shutdown(context.Context) error { return nil }

// FuzzEmit checks that any events are processed, and that every attribute is in the table.
func FuzzEmit(f *testing.F) {
	if err := flag.Set("test.fuzzminimizetime", "10x"); err != nil { // the default is a minute
		f.Fatal(err)
	}
	f.Add(`{"kind":"run_started","run_id":"r","cascade_id":"c"}
{"kind":"model_called","path":"a/attempt[1]/turn[0]/model","request":{"model":"m","messages":[{"role":"user","content":"x"}]}}
{"kind":"run_finished","run_id":"r","status":"failed","error":{"code":"failed"}}`)
	f.Add(`{"kind":"verdict","path":"a/attempt[1]/post[0]","validator":"v","error":"broke"}
{"kind":"phase_finished","path":"a","status":"exhausted"}
{"kind":"verdict","path":""}
{"kind":"tool_replied","path":"//[","result":{"value":1,"failed":true}}`)
	f.Add(`{"kind":"attempt_finished","path":"model/model/model"}
{"kind":"route","path":"x","from":"a","to":"b"}
{"kind":"tool_called","path":"a/attempt[1]/turn[0]/tool[-1]","call":{"name":"t","arguments":null}}`)
	known := map[string]bool{}
	for _, a := range telemetry.Table() {
		known[a.Name] = true
	}
	f.Fuzz(func(t *testing.T, lines string) {
		tel, err := telemetry.New(context.Background(), telemetry.Options{Exporter: &checking{t, known}, Content: true})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(lines, "\n") {
			var e event.Event
			if json.Unmarshal([]byte(line), &e) == nil {
				e.Run = "r"
				tel.Emit(e)
			}
		}
		tel.Shutdown(context.Background())
	})
}

// TestPage compares the page with the table, and its tree with the spans of a test.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), draftTree) {
		t.Errorf("the page's tree is not that of TestTree:\n%s", draftTree)
	}
	var rows []string
	for _, a := range telemetry.Table() {
		means := a.Means
		if a.Content {
			means += " (content)"
		}
		rows = append(rows, "| `"+a.Name+"` | "+a.On+" | "+means+" |")
	}
	if want := strings.Join(rows, "\n"); !strings.Contains(string(page), want) {
		t.Errorf("the page's table is not the code's, which is\n%s", want)
	}
}

// TestTable checks that every name in the code is in the table once.
func TestTable(t *testing.T) {
	source, err := os.ReadFile("table.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, a := range telemetry.Table() {
		seen[a.Name]++
		if a.On == "" || a.Means == "" {
			t.Errorf("%s: nothing is said of it", a.Name)
		}
	}
	names := regexp.MustCompile(`attribute\.Key\("([^"]+)"\)`).FindAllStringSubmatch(string(source), -1)
	for _, m := range names {
		if seen[m[1]] != 1 {
			t.Errorf("%s is in the table %d times", m[1], seen[m[1]])
		}
	}
	if len(names) != len(seen) {
		t.Errorf("%d names, %d rows", len(names), len(seen))
	}
}

// BenchmarkEmit measures a turn with a call and a verdict, which has four events.
func BenchmarkEmit(b *testing.B) {
	for name, content := range map[string]bool{"plain": false, "content": true} {
		b.Run(name, func(b *testing.B) {
			tel, err := telemetry.New(context.Background(), telemetry.Options{Exporter: tracetest.NewNoopExporter(), Content: content})
			if err != nil {
				b.Fatal(err)
			}
			events := turnOf(b)
			tel.Emit(event.Event{Kind: event.RunStarted, Run: "r", RunID: "r", Time: time.Now()})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e := events[i%len(events)]
				e.Time = time.Now()
				tel.Emit(e)
			}
			tel.Shutdown(context.Background())
		})
	}
}

func turnOf(b *testing.B) []event.Event {
	var out []event.Event
	for _, line := range []string{
		`{"kind":"turn_started","path":"a/attempt[1]/turn[0]"}`,
		`{"kind":"model_called","path":"a/attempt[1]/turn[0]/model","request":{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("a word ", 200) + `"}]}}`,
		`{"kind":"model_replied","path":"a/attempt[1]/turn[0]/model","response":{"text":"` + strings.Repeat("a word ", 200) + `","usage":{"input_tokens":300,"output_tokens":300}}}`,
		`{"kind":"verdict","path":"a/attempt[1]/turn[0]/ward[0]","validator":"v","valid":true,"reason":"yes"}`,
	} {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			b.Fatal(err)
		}
		e.Run = "r"
		out = append(out, e)
	}
	return out
}
