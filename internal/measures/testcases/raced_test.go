package testcases_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// A raced host continues b after an event of a, and continues a after the end of b.
type raced struct {
	engine.Host
	at       string // the kind and path of an event of a
	reported func() // called after this event
	wait     <-chan struct{}
}

func (r raced) Emit(e event.Event) {
	r.Host.Emit(e)
	switch string(e.Kind) + " " + string(e.Path) {
	case "phase_started p/b":
		<-r.wait
	case r.at:
		r.reported()
		for r.Stopped() == nil {
			time.Sleep(time.Millisecond)
		}
	}
}

func (r raced) Each(n, limit int, body func(engine.Host, int) error) error {
	return r.Host.Each(n, limit, func(h engine.Host, i int) error {
		return body(raced{h, r.at, r.reported, r.wait}, i)
	})
}

// TestOvertaken replays runs in which a branch was cancelled. The branch had not started, was
// between two effects, or waited for a person.
func TestOvertaken(t *testing.T) {
	const failing = "cascade_id: c\nphases:\n  - name: p\n    together:\n      - PHASE\n      - {name: b, compose: b, wards: {post: [{expr: 'false'}]}}\n"
	for name, one := range map[string]struct{ phase, at, left string }{
		"before a check":        {"{name: a, instructions: a, wards: {post: [{expr: 'true'}]}}", "model_replied p/a/attempt[1]/turn[0]/model", "cancelled"},
		"before its items":      {"{name: a, compose: 'no {{ item }}', each: {in: [x, y]}}", "phase_started p/a", "cancelled"},
		"between two phases":    {"{name: a, tool: sub.yaml}", "phase_finished p/a/attempt[1]/tool/sub/first", "cancelled"},
		"and another is behind": {"{name: a, compose: a, wards: {post: [{validator: non_empty}, {cascade: sub.yaml, mode: advisory}]}}", "phase_finished p/a/attempt[1]/post[1]/sub/first", "cancelled"},
		"with a question":       {"{name: a, tool: ask_human, inputs: {question: a}}", "waiting p/a/attempt[1]/tool/question", "waiting"},
		"and another is ahead":  {"{name: c, compose: c, wards: {post: [{expr: 'false'}]}}\n      - {name: a, instructions: a}", "", "blocked"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, strings.Replace(failing, "PHASE", one.phase, 1), "one", "two", "three")
			s.files = append(s.files, cascades.File{Name: "sub.yaml", Text: []byte("cascade_id: sub\nphases: [{name: first, compose: a}, {name: second, compose: '{\"valid\": true, \"reason\": \"r\"}'}]\n")})
			s.host = func(h engine.Host) engine.Host {
				if one.at == "" {
					return storytest.Serial{Host: h}
				}
				reached := make(chan struct{})
				return raced{h, one.at, sync.OnceFunc(func() { close(reached) }), reached}
			}
			_, dir := s.freeze(t)
			head := tree(t, dir)["case.yaml"]
			if !strings.Contains(head, "status: blocked") || !strings.Contains(head, "status: "+one.left) || strings.Contains(head, "name: a") != (one.at != "") {
				t.Error(head)
			}
			updated(t, s, dir)
		})
	}
}
