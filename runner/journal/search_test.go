package journal

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// Runs are found by their inputs, requests and replies, whatever their length
// and encoding, but not by names.
func TestWords(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	say := func(id string, input map[string]any, events ...event.Event) {
		t.Helper()
		toldRun(t, j, id, input, events...)
	}
	say("given", map[string]any{"topic": []any{"Barn OWLS"}})
	say("short", nil, event.Event{Kind: event.AttemptFinished, Path: "draft/attempt[1]", Phase: "draft", Text: "They \"hoot\"\nat ÉTOILE. 100%"})
	say("long", nil, event.Event{Kind: event.AttemptFinished, Path: "draft/attempt[1]", Text: strings.Repeat("word ", 300) + "Needle"})
	say("asked", nil, event.Event{Kind: event.ModelCalled, Path: "draft/attempt[1]/turn[0]/model", Request: &model.Request{Messages: []model.Message{{Role: model.User, Content: "Please whisper."}}}})
	valid := false
	say("judged", nil, event.Event{Kind: event.VerdictGiven, Path: "draft/attempt[1]/post[0]", Verdict: &event.Verdict{Path: "draft/attempt[1]/post[0]", Valid: &valid, Reason: "too shrill", Validator: "tone"}})
	say("greek", nil, event.Event{Kind: event.PhaseFinished, Path: "draft", Phase: "draft", Output: map[string]any{"b": "zz", "a": []any{"η οδος"}}})
	say("turkish", nil, event.Event{Kind: event.AttemptFinished, Path: "draft/attempt[1]", Phase: "draft", Text: "ÇanakkalK, İZMİR"})
	findRuns(t, j, map[string]string{
		"İzmİr": "turkish", "kalK": "turkish",
		"barn owls": "given", `"hoot"` + "\nat": "short", "étoile": "short", "0%": "short", "NEEDLE": "long",
		"ετοιλε": "", "οδοσ": "greek", "ΟΔΟΣ": "greek", "Hoot": "short", "HOOT\" at  étoile": "short",
		"whisper": "asked", "shrill": "judged", "draft": "", "tone": "", "verdict": "", "#text:": "", "no such": "", "e": "asked long short",
	})
	if list, err := j.Runs(t.Context(), Filter{Words: "e", Limit: 2, Among: map[string]bool{"long": true, "asked": true, "given": true}}); len(list) != 2 || list[0].RunID != "asked" || err != nil {
		t.Errorf("got %v, %v", list, err)
	}
	findHits(t, j, map[string]Hit{
		"barn owls":    {Kind: event.RunStarted, Words: "Barn OWLS"},
		"étoile":       {Kind: event.AttemptFinished, Path: "draft/attempt[1]", Phase: "draft", Before: `They "hoot" at `, Words: "ÉTOILE", After: ". 100%"},
		"NEEDLE":       {Kind: event.AttemptFinished, Path: "draft/attempt[1]", Before: "…" + strings.Repeat("word ", 12), Words: "Needle"},
		"ΟΔΟΣ":         {Kind: event.PhaseFinished, Path: "draft", Phase: "draft", Before: "η ", Words: "οδος"},
		"\"hoot\"\nat": {Kind: event.AttemptFinished, Path: "draft/attempt[1]", Phase: "draft", Before: "They ", Words: `"hoot" at`, After: " ÉTOILE. 100%"},
	})
}

// toldRun stores a run with these events.
func toldRun(t *testing.T, j *Journal, id string, input map[string]any, events ...event.Event) {
	t.Helper()
	r := begin(t, j, runner.Start{RunID: id, CascadeID: "cascade", Input: input})
	h := r.Host(quick{})
	h.Emit(event.Event{Kind: event.RunStarted, RunID: id, Input: input})
	for _, e := range events {
		h.Emit(e)
	}
	if err := r.End(engine.Result{RunID: id, Status: engine.Succeeded}, nil); err != nil {
		t.Fatal(err)
	}
}

// findRuns searches words and compares the found runs.
func findRuns(t *testing.T, j *Journal, want map[string]string) {
	t.Helper()
	for words, want := range want {
		list, err := j.Runs(t.Context(), Filter{Words: words})
		var got []string
		for _, s := range list {
			got = append(got, s.RunID)
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", words, got, err, want)
		}
	}
}

// findHits searches words that occur in one run and compares the hit.
func findHits(t *testing.T, j *Journal, want map[string]Hit) {
	t.Helper()
	for words, want := range want {
		list, err := j.Runs(t.Context(), Filter{Words: words})
		if err != nil || len(list) != 1 || list[0].Hit == nil {
			t.Errorf("%q: %v, %v", words, list, err)
			continue
		}
		if list[0].Hit.Seq = 0; *list[0].Hit != want {
			t.Errorf("%q: got %+v, want %+v", words, *list[0].Hit, want)
		}
	}
}
