package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/proofs"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A hostile world generates cascades and the answers of models, gates, tools
// and people, and puts a mark into every text. If a mark reaches the tool that
// writes, the proof must contain its path. Each gate of that path must have
// passed a text with the mark.
type hostile struct {
	mu      sync.Mutex
	r       *rand.Rand
	phases  int
	gates   int
	files   fstest.MapFS
	made    int
	source  map[string]proofs.Source   // of a mark
	passed  map[string]map[string]bool // the gates that passed each mark
	stands  map[string]string          // the gate whose cascade contains the recorder
	disk    string
	written []writtenMark
}

type writtenMark struct{ mark, phase string }

var (
	aMark  = regexp.MustCompile(`mk\d+x`)
	aPhase = regexp.MustCompile(`^p\d+`)
)

func (h *hostile) may(percent int) bool { return h.r.IntN(100) < percent }

func pick[T any](h *hostile, list ...T) T { return list[h.r.IntN(len(list))] }

// mark returns a new mark.
func (h *hostile) mark(what, phase string) string {
	h.made++
	m := fmt.Sprintf("mk%dx", h.made)
	h.source[m] = proofs.Source{What: what, Phase: phase}
	return m
}

func (h *hostile) yes(gate, content string) {
	if outer := h.stands[gate]; outer != "" {
		gate = outer
	}
	for _, m := range aMark.FindAllString(content, -1) {
		if h.passed[m] == nil {
			h.passed[m] = map[string]bool{}
		}
		h.passed[m][gate] = true
	}
}

// text returns a text of the source, with a new mark.
func (h *hostile) text(what, phase string) string {
	m := h.mark(what, phase)
	object := fmt.Sprintf(`{"t": %q}`, m)
	switch h.r.IntN(5) {
	case 0, 1:
		h.yes("output_schema@"+phase, m)
		return object
	case 2:
		h.yes("output_schema@"+phase, m)
		return "lead " + h.mark(what, phase) + " " + object
	case 3:
		return fmt.Sprintf(`[%q, %q]`, m, h.mark(what, phase))
	}
	return "lead " + m
}

// Call answers for every model.
func (h *hostile) Call(_ context.Context, r model.Request) (model.Response, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	usage := model.Usage{Calls: 1}
	switch {
	case h.may(4):
		return model.Response{Usage: usage}, model.FailureOf(400, "no")
	case r.Role == "evaluator":
		return model.Response{Text: `{"winner": 1, "reason": "x"}`, Usage: usage}, nil
	case r.Validator != "":
		valid := h.may(60)
		if valid {
			for _, m := range r.Messages {
				h.yes(r.Validator, m.Content)
			}
		}
		return model.Response{Text: fmt.Sprintf(`{"valid": %t, "reason": "because %s"}`, valid, h.mark(proofs.FromWords, r.Phase)), Usage: usage}, nil
	case len(r.Tools) > 0 && h.may(60):
		t := pick(h, r.Tools...)
		args := map[string]any{"text": h.mark(proofs.FromCall, r.Phase)}
		switch t.Name {
		case keywords.SetState:
			args = map[string]any{"key": pick(h, "k1", "k2", "word"), "value": h.mark(proofs.FromCall, r.Phase)}
		case keywords.AskHuman:
			args = map[string]any{"question": "Which?", "options": []any{h.mark(proofs.FromCall, r.Phase), "b"}}
		case keywords.RouteTo:
			targets := t.Parameters.(map[string]any)["properties"].(map[string]any)["target"].(map[string]any)["enum"].([]any)
			args = map[string]any{"target": pick(h, targets...)}
		}
		text, _ := json.Marshal(args)
		return model.Response{ToolCalls: []model.ToolCall{{ID: strconv.Itoa(h.made), Name: t.Name, Arguments: string(text)}}, Usage: usage}, nil
	}
	return model.Response{Text: h.text(proofs.FromText, r.Phase), Usage: usage}, nil
}

func (h *hostile) ask(_ context.Context, q engine.Question) (engine.Answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case q.Type == cascades.Choice:
		return engine.Answer{Value: pick(h, q.Options...)}, nil
	case q.Type != cascades.Edit:
		return engine.Answer{Value: "a word"}, nil
	case h.may(50):
		return engine.Answer{Value: q.Text}, nil
	}
	return engine.Answer{Value: h.text(proofs.FromEdit, q.Phase)}, nil
}

const hostileGates = 80

func (h *hostile) validators() (list []validators.Validator) {
	for i := range hostileGates {
		name := fmt.Sprintf("g%d", i)
		judge := func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if i%5 == 0 && !strings.HasPrefix(s.Content, "{") {
				return validators.Verdict{}, errors.New("it is no object")
			}
			if h.stands[name] != "" || h.may(65) {
				h.yes(name, s.Content)
				return validators.Verdict{Valid: true}, nil
			}
			return validators.Verdict{Reason: "no"}, nil
		}
		if i%3 == 0 {
			list = append(list, validators.New(name, "", judge, validators.Impure))
		} else {
			list = append(list, validators.New(name, "", judge))
		}
	}
	return list
}

func (h *hostile) tools() []tool.Tool {
	params := map[string]any{"type": "object"}
	make := func(name string, effect tool.Effect, do func(tool.Call, string) any) tool.Tool {
		return tool.Declared(name, name, params, func(_ context.Context, c tool.Call) (any, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			text := fmt.Sprint(c.Arguments)
			value := do(c, text)
			if h.may(6) {
				return nil, errors.New("it broke at " + text)
			}
			return value, nil
		}).WithEffect(effect)
	}
	return []tool.Tool{
		make("store", tool.Writes, func(c tool.Call, text string) any {
			at := strings.Split(c.Key, "/")
			slices.Reverse(at)
			i := slices.IndexFunc(at, func(s string) bool { return aPhase.MatchString(s[strings.IndexByte(s, ':')+1:]) })
			phase := aPhase.FindString(at[i][strings.IndexByte(at[i], ':')+1:])
			for _, m := range aMark.FindAllString(text, -1) {
				h.written = append(h.written, writtenMark{m, phase})
			}
			h.disk += text
			return "stored"
		}),
		make("fetch", tool.Reads, func(tool.Call, string) any { return h.disk }),
		make("calc", tool.None, func(_ tool.Call, text string) any { return text }),
	}
}

// unsound returns the first written text that contradicts the proof, or "".
func (h *hostile) unsound(p *proofs.Proof) string {
	for _, w := range h.written {
		from := h.source[w.mark]
		listed := slices.ContainsFunc(p.Paths, func(way proofs.Path) bool {
			if way.Phase != w.phase || way.From.What != from.What || way.From.Phase != from.Phase {
				return false
			}
			return !slices.ContainsFunc(way.Gates, func(g proofs.Gate) bool {
				name := g.Name
				if name == "output_schema" {
					name += "@" + g.Phase
				}
				return !h.passed[w.mark][name]
			})
		})
		if !listed {
			return fmt.Sprintf("%s, %s, was written in phase %s, having passed %v", w.mark, from, w.phase, h.passed[w.mark])
		}
	}
	return ""
}

// TestProofIsSound runs generated cascades in a hostile world: a text that the
// proof calls guarded has passed the gates. CAPSTAN_PROOFS is the number of
// cascades.
func TestProofIsSound(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 100
	}
	if text := os.Getenv("CAPSTAN_PROOFS"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	const seed = 17
	loaded, invalid, proven, writing, guarded, ended := 0, 0, 0, 0, 0, map[string]int{}
	for i := range n {
		h := &hostile{r: rand.New(rand.NewPCG(seed, uint64(i))), files: fstest.MapFS{}, stands: map[string]string{}}
		h.cascade("root.yaml", 0)
		r, err := runner.New(runner.WithModel(h), runner.WithValidators(h.validators()...), runner.WithTools(h.tools()...), runner.WithAsk(h.ask))
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.LoadFS(h.files, "root.yaml")
		if err != nil {
			t.Logf("cascade %d: %v", i, err)
			invalid++
			continue
		}
		loaded++
		p := proofs.Of(c)
		if p.Proven() {
			proven++
		}
		for range 4 {
			h.source, h.passed, h.written, h.disk = map[string]proofs.Source{}, map[string]map[string]bool{}, nil, ""
			res, _ := r.Run(t.Context(), c, map[string]any{"text": "given"})
			ended[res.Status]++
			if len(h.written) > 0 {
				if writing++; p.Proven() {
					guarded++
				}
			}
			if reason := h.unsound(p); reason != "" {
				t.Errorf("cascade %d: %s\n%s\n%s", i, reason, p.Text(), h.listing())
				return
			}
		}
	}
	t.Logf("%d cascades, %d proven; %d runs wrote a model's text, %d of them of a proven cascade; runs ended %v", loaded, proven, writing, guarded, ended)
	if n >= 400 && guarded*50 < n || ended["succeeded"]*4 < n {
		t.Error("too little happened")
	}
}

func (h *hostile) listing() string {
	var b strings.Builder
	for name, f := range h.files {
		fmt.Fprintf(&b, "-- %s --\n%s\n", name, f.Data)
	}
	return b.String()
}
