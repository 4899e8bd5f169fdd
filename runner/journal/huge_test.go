package journal

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Huge texts are read unchanged from all places, without secrets for people,
// and are stored once.
func TestHuge(t *testing.T) {
	onFile(t)
	oneByOne(t)
	const key = "sk-1234567890abcdef"
	text := strings.Repeat("é \"quoted\" <line>\n", (1<<20)/16) + key
	shown := strings.ReplaceAll(text, key, "[redacted API_KEY]")
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{Secrets: map[string]string{"API_KEY": key}, noSync: true})
	input := map[string]any{"doc": text, "list": []any{"#text:x", text, 1.5}, "none": nil}
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
