package journal

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// Runs are found by what they were given, were asked and said, however long it is and
// however it stands in the file, and not by what things are called.
func TestWords(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	say := func(id string, input map[string]any, events ...event.Event) {
		r := begin(t, j, runner.Start{RunID: id, CascadeID: "cascade", Input: input})
		h := r.Host(quick{})
		h.Emit(event.Event{Kind: event.RunStarted, RunID: id, Input: input})
		for _, e := range events {
			h.Emit(e)
		}
		if err := r.End(runner.Result{RunID: id, Status: runner.Succeeded}, nil); err != nil {
			t.Fatal(err)
		}
	}
	over := strings.Repeat("x", partSize-3)
	say("given", map[string]any{"topic": []any{"Barn OWLS"}})
	say("short", nil, event.Event{Kind: event.AttemptFinished, Path: "draft/attempt[1]", Phase: "draft", Text: "They \"hoot\"\nat ÉTOILE. 100%"})
	say("long", nil, event.Event{Kind: event.AttemptFinished, Path: "draft/attempt[1]", Text: strings.Repeat("word ", 300) + "Needle"})
	say("huge", nil, event.Event{Kind: event.AttemptFinished, Path: "draft/attempt[1]", Text: over + "strad" + "dling"})
	say("asked", nil, event.Event{Kind: event.ModelCalled, Path: "draft/attempt[1]/turn[0]/model", Request: &model.Request{Messages: []model.Message{{Role: model.User, Content: "Please whisper."}}}})
	valid := false
	say("judged", nil, event.Event{Kind: event.VerdictGiven, Path: "draft/attempt[1]/post[0]", Verdict: &event.Verdict{Path: "draft/attempt[1]/post[0]", Valid: &valid, Reason: "too shrill", Validator: "tone"}})
	say("greek", nil, event.Event{Kind: event.PhaseFinished, Path: "draft", Phase: "draft", Output: map[string]any{"b": "zz", "a": []any{"η οδος"}}})
	say("turkish", nil, event.Event{Kind: event.AttemptFinished, Path: "draft/attempt[1]", Phase: "draft", Text: "ÇanakkalK, İZMİR"})
	for words, want := range map[string]string{
		"İzmİr": "turkish", "kalK": "turkish",
		"barn owls": "given", `"hoot"` + "\nat": "short", "étoile": "short", "0%": "short", "NEEDLE": "long", "straddling": "huge",
		"ετοιλε": "", "οδοσ": "greek", "ΟΔΟΣ": "greek", "Hoot": "short", "HOOT\" at  étoile": "short",
		"whisper": "asked", "shrill": "judged", "draft": "", "tone": "", "verdict": "", "#text:": "", "no such": "", "e": "asked long short",
	} {
		list, err := j.Runs(t.Context(), Filter{Words: words})
		var got []string
		for _, s := range list {
			got = append(got, s.RunID)
		}
		if strings.Join(got, " ") != want || err != nil {
			t.Errorf("%q: got %q, %v, want %q", words, got, err, want)
		}
	}
	if list, err := j.Runs(t.Context(), Filter{Words: "e", Limit: 2, Among: map[string]bool{"long": true, "asked": true, "given": true}}); len(list) != 2 || list[0].RunID != "asked" || err != nil {
		t.Errorf("got %v, %v", list, err)
	}
	for words, want := range map[string]Hit{
		"barn owls":    {Kind: event.RunStarted, Words: "Barn OWLS"},
		"étoile":       {Kind: event.AttemptFinished, Path: "draft/attempt[1]", Phase: "draft", Before: `They "hoot" at `, Words: "ÉTOILE", After: ". 100%"},
		"NEEDLE":       {Kind: event.AttemptFinished, Path: "draft/attempt[1]", Before: "…" + strings.Repeat("word ", 12), Words: "Needle"},
		"straddling":   {Kind: event.AttemptFinished, Path: "draft/attempt[1]", Before: "…" + strings.Repeat("x", 60), Words: "straddling"},
		"ΟΔΟΣ":         {Kind: event.PhaseFinished, Path: "draft", Phase: "draft", Before: "η ", Words: "οδος"},
		"\"hoot\"\nat": {Kind: event.AttemptFinished, Path: "draft/attempt[1]", Phase: "draft", Before: "They ", Words: `"hoot" at`, After: " ÉTOILE. 100%"},
	} {
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
