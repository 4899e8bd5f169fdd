package storytest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A keying host records the names and keys of tools and validators, and the questions
// to people.
type keying struct {
	engine.Host
	c     *cascades.Cascade
	wrong func(at event.Path, name, key string)
}

func (h keying) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	if found, err := h.c.ToolAt(job.Place); err != nil || found.Name != job.Call.Name || job.Call.Key != engine.Key("run", at) {
		h.wrong(at, job.Call.Name, job.Call.Key)
	}
	return h.Host.Tool(at, job)
}

func (h keying) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	want := engine.Key("run", at)
	if v.Pure {
		want = ""
	}
	if found, err := h.c.ValidatorAt(v.Place); err != nil || found.Name != v.Validator || v.Subject.Key != want {
		h.wrong(at, v.Validator, v.Subject.Key)
	}
	return h.Host.Validate(at, v)
}

func (h keying) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	if !strings.Contains(string(at), q.Phase) || q.Phase == "" || !slices.Contains([]string{cascades.Confirmation, cascades.Choice, cascades.Text, cascades.Edit}, q.Type) {
		h.wrong(at, q.Type+" of "+q.Phase, "")
	}
	return h.Host.Ask(at, q)
}

func (h keying) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(keying{inner, h.c, h.wrong}, i) })
}

func (h keying) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return h.Host.Within(at, d, func(inner engine.Host) error { return body(keying{inner, h.c, h.wrong}) })
}

// A call names the tool or validator at its place, and a question has an
// existing phase and type. Effects that can have happened already have their
// path in the run as the key. The keys of pure effects do not depend on the
// place.
func TestKeys(t *testing.T) {
	for _, s := range storytest.Stories(t) {
		wrong := func(at event.Path, name, key string) { t.Errorf("%s: %s is %s by the key %q", s.Name, at, name, key) }
		_, _ = engine.Run(keying{s.Host(t), s.Cascade, wrong}, s.Cascade, s.Start())
	}
}
