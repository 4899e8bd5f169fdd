package trace_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/graphs"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/event"
)

// TestMarks checks the marks of a run that repeats phases.
func TestMarks(t *testing.T) {
	s := runStory(t, storytest.Embedded(t, "gate_routes"))
	m := fold(s.events).Marks()
	want := &graphs.Marks{
		Phases: map[string]graphs.Mark{
			"draft": {Status: "succeeded", Visits: 3, Attempts: 3}, "gate": {Status: "succeeded", Visits: 3, Attempts: 3},
			"second": {Status: "succeeded", Visits: 2, Attempts: 2}, "next": {Status: "succeeded", Visits: 1, Attempts: 1},
		},
		Taken: map[graphs.Passed]int{
			{From: "draft", To: "gate"}: 3, {From: "gate", To: "draft"}: 1, {From: "gate", To: "second"}: 2,
			{From: "second", To: "draft", Left: "exhausted"}: 1, {From: "second", To: "next"}: 1,
		},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v, want %+v", m, want)
	}
	if chart := s.Cascade.Graph(m).Mermaid(); !strings.Contains(chart, "run 3 visits · 3 attempts") || strings.Count(chart, "linkStyle") != 5 {
		t.Errorf("got\n%s", chart)
	}
}

// TestMarksOfTries checks the marks of a cascade with soundings. They are those of
// the winning try, and before a try wins, those of the latest try.
func TestMarksOfTries(t *testing.T) {
	s := runStory(t, storytest.Embedded(t, "tries"))
	done := func(n int) graphs.Mark { return graphs.Mark{Status: "succeeded", Visits: 1, Attempts: n} }
	want := &graphs.Marks{
		Phases: map[string]graphs.Mark{"draft": done(1), "polish": done(1)},
		Taken:  map[graphs.Passed]int{{From: "draft", To: "polish"}: 1}, Won: 1,
	}
	if m := fold(s.events).Marks(); !reflect.DeepEqual(m, want) {
		t.Errorf("got %+v, want %+v", m, want)
	}
	for i, e := range s.events {
		if e.Path == "soundings/sounding[1]/attempt[1]/tool/tries/draft/attempt[1]" && e.Kind == event.AttemptFinished {
			want = &graphs.Marks{Phases: map[string]graphs.Mark{"draft": {Visits: 1, Attempts: 1}}, Taken: map[graphs.Passed]int{}}
			if m := fold(s.events[:i+1]).Marks(); !reflect.DeepEqual(m, want) {
				t.Errorf("in the second try got %+v, want %+v", m, want)
			}
		}
	}
}

// TestGraphShowsMarks checks that the graph of a cascade shows every edge that the
// run of the transcript took.
func TestGraphShowsMarks(t *testing.T) {
	for _, s := range stories(t) {
		m := fold(s.events).Marks()
		if got := strings.Count(s.Cascade.Graph(m).Mermaid(), "linkStyle"); got < len(m.Taken) {
			t.Errorf("%s: %d ways are shown of %v\n%s", s.Name, got, m.Taken, s.Cascade.Graph(m).Mermaid())
		}
	}
}
