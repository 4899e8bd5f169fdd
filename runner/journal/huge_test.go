package journal

import (
	"bytes"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// What is written piece by piece is what the encoder writes.
func TestWriteJSON(t *testing.T) {
	long := func(s string) string { return strings.Repeat(s, huge/len(s)+1) }
	for _, v := range []any{
		nil, "", "a", 1, 2.5, true, []any{}, map[string]any{}, long("plain "), long("é"), long("x\n\"\\<&>\u2028\x00\U0001F989"), long("\xff"), "\xff",
		[]any{long("😀a"), nil, []any{map[string]any{"b": long("q"), "a<": 1, "é\n": []any{}}}}, map[string]any{long("key"): long("v")},
	} {
		want, err := encodings.Of(v)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := writeJSON(&got, v, view{text: func(said string) string { return said }}); err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%.40q: got %.80q, %v", want, got.Bytes(), err)
		}
	}
	for _, n := range []int{1, 2, 3, 5} {
		var all []string
		for part := range parts("aé😀b", max(n, 4)) {
			all = append(all, part)
		}
		if strings.Join(all, "") != "aé😀b" {
			t.Errorf("parts of %d: %q", n, all)
		}
	}
}

// Huge texts come back as they were from wherever they stood, without secrets
// where people look, and stand once in the file.
func TestHuge(t *testing.T) {
	oneByOne(t)
	const key = "sk-1234567890abcdef"
	text := strings.Repeat("é \"quoted\" <line>\n", partSize/16) + key + "#parts:" + strings.Repeat("0", 40)
	shown := strings.ReplaceAll(text, key, "[redacted API_KEY]")
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{Secrets: map[string]string{"API_KEY": key}, careless: true})
	input := map[string]any{"doc": text, "list": []any{"#text:x", text, 1.5}, "#parts:": "#parts:" + strings.Repeat("0", 40), "none": nil}
	start := runner.Start{RunID: "run", Input: input, Settings: map[string]string{"s": strings.Repeat("setting ", 100)}}
	r := begin(t, j, start)
	h := r.Host(quick{})
	call := tool.Call{Name: "t", Arguments: map[string]any{"doc": text}}
	h.Emit(event.Event{Kind: event.RunStarted, RunID: "run", Input: input})
	h.Emit(event.Event{Kind: event.ToolCalled, Path: "p/tool", Call: &call})
	if _, err := h.Tool("p/tool", engine.Job{Call: call}); err != nil {
		t.Fatal(err)
	}
	h.Emit(event.Event{Kind: event.PhaseFinished, Path: "p", Phase: "p", Output: text})
	if err := r.End(engine.Result{RunID: "run", Status: engine.Waiting, Output: text, Outputs: map[string]any{"p": text}}, nil); err != nil {
		t.Fatal(err)
	}
	clean(t, file, map[string]string{"API_KEY": key})
	run, err := j.Run(t.Context(), "run")
	if err != nil || run.Start.Input["doc"] != shown || run.Start.Input["list"].([]any)[1] != shown || !reflect.DeepEqual(run.Start.Settings, start.Settings) {
		t.Errorf("shown otherwise: %v", err)
	}
	again := reopen(t, j, "run")
	if !reflect.DeepEqual(again.Start().Input, input) {
		t.Error("the input is not what it was")
	}
	if _, err := again.Host(refusing{}).Tool("p/tool", engine.Job{Call: call}); err != nil {
		t.Errorf("the call is made again: %v", err)
	}
	for _, e := range eventsOf(t, j, "run", Whole) {
		if e.Input != nil && e.Input["doc"] != shown || e.Call != nil && e.Call.Arguments["doc"] != shown || e.Kind == event.PhaseFinished && e.Output != shown {
			t.Errorf("event %s tells otherwise", e.Kind)
		}
	}
	if got, err := j.Query(t.Context(), "SELECT output FROM phases", 0); err != nil || got.Rows[0][0] != shown {
		t.Errorf("the query gives something else, %v", err)
	}
	if got, err := j.Query(t.Context(), "SELECT sum(length(text)) FROM text", 0); err != nil || got.Rows[0][0].(int64) > int64(len([]rune(shown)))+4096 {
		t.Errorf("the file holds %v characters, %v", got, err)
	}
}

// refusing makes no effect.
type refusing struct{ quick }

func (refusing) Tool(event.Path, engine.Job) (tool.Result, error) { panic("called") }

func (refusing) Model(event.Path, model.Request) (model.Response, error) { panic("called") }

// To keep a run with a text of many megabytes takes little more memory than the
// text itself has.
func TestHugeCostsNoCopies(t *testing.T) {
	onFile(t)
	oneByOne(t)
	const size = 32 << 20
	text := strings.Repeat("a line of text, with its end\n", size/29)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{Secrets: map[string]string{"API_KEY": "sk-1234567890abcdef"}, careless: true})
	input := map[string]any{"doc": text}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // with the suite's the heap grows by what was left
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := begin(t, j, runner.Start{RunID: "run", Input: input})
	h := r.Host(quick{})
	h.Emit(event.Event{Kind: event.RunStarted, RunID: "run", Input: input})
	if _, err := h.Tool("p/tool", engine.Job{Call: tool.Call{Name: "t", Arguments: input}}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := int64(after.HeapSys) - int64(before.HeapSys); got > 2*size {
		t.Errorf("the heap grew by %d bytes for a text of %d", got, size)
	}
}
