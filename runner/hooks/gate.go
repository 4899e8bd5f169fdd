package hooks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// The verdicts of decisions.
const (
	Passed     = "passed"
	Refused    = "refused"
	Exhausted  = "exhausted"  // refused as often as max_attempts allows
	Broken     = "broken"     // a check had no verdict
	Tampered   = "tampered"   // what judges the session changed, or a record is missing
	NotJudged  = "not judged" // no rule covers the event
	Unfinished = "unfinished" // the process died before the verdict
)

// A Decision is the result of all rules for an event.
type Decision struct {
	Verdict string
	Refuse  bool
	Ends    bool // the session is to end
	Reason  string
	Runs    []string // the runs that record it
}

// worse returns the worse of two decisions, with the reasons of both.
func (d Decision) worse(other Decision) Decision {
	order := []string{NotJudged, Passed, Exhausted, Broken, Refused, Tampered}
	rank := func(d Decision) int {
		if d.Refuse {
			return len(order)
		}
		return slices.Index(order, d.Verdict)
	}
	a, b := d, other
	if rank(b) > rank(a) {
		a, b = b, a
	}
	a.Ends = a.Ends || b.Ends
	a.Runs = append(d.Runs, other.Runs...)
	if a.Reason != "" && b.Reason != "" {
		a.Reason += "\n\n" + b.Reason
	} else {
		a.Reason += b.Reason
	}
	return a
}

// A Gate applies the hooks of one cascade to events.
type Gate struct {
	Runner   *runner.Runner // with Journal as its journal
	Journal  *journal.Journal
	Cascade  *cascades.Cascade
	Store    string // the file of the journal; "" for a server
	Settings string // the settings of the agent, with the hooks; may be empty
	Program  string // the program of the hooks; may be empty

	settings string // the digest of Settings
}

// Decide applies every hook that covers the event, and records each decision.
func (g *Gate) Decide(ctx context.Context, e *Event) Decision {
	s, changed, err := g.session(ctx, e)
	switch {
	case err != nil:
		return Unrecorded(e, err)
	case changed != nil:
		return g.tampered(ctx, e, s, changed)
	}
	if err := g.forbidden(e, s); err != nil {
		return g.refuse(ctx, e, s, err)
	}
	d := Decision{Verdict: NotJudged}
	changes := changedFiles{base: s.head, event: e}
	for _, h := range g.Cascade.Hooks {
		if h.On != e.On {
			continue
		}
		texts := e.Texts
		if h.On == cascades.OnStop && h.Files != nil {
			if texts, err = changes.list(ctx); err != nil {
				texts = []Text{{Err: fmt.Errorf("the changed files: %w", err)}}
			}
			s.tree = changes.tree(ctx)
		}
		for _, text := range texts {
			if h.On == cascades.OnStop && text.File != "" && bytes.Contains(h.Cascade.Source, []byte("input.before")) {
				text.Before = changes.before(ctx, text.File)
			}
			if text.Err != nil && text.File == "" || h.Applies(text.File, text.Content) {
				d = d.worse(g.judge(ctx, e, s, h, text))
			}
		}
	}
	if len(d.Runs) == 0 { // no rule covers it, or each file passed before
		run, err := g.note(ctx, e, s, d)
		if err != nil {
			return Unrecorded(e, err)
		}
		d.Runs = append(d.Runs, run)
	}
	return d
}

// Refuse records an event that could not be read, and refuses it.
func (g *Gate) Refuse(ctx context.Context, e *Event, why error) Decision {
	s := &session{}
	var err error
	if s.deciders, err = g.Deciders(); err == nil {
		err = g.read(ctx, s, e.Session)
	}
	if err != nil {
		return Unrecorded(e, err)
	}
	return g.refuse(ctx, e, s, why)
}

func (g *Gate) refuse(ctx context.Context, e *Event, s *session, why error) Decision {
	d := Decision{Verdict: Refused, Refuse: true, Reason: "Refused by the gate: " + cut(why.Error())}
	run, err := g.note(ctx, e, s, d)
	if err != nil {
		return Unrecorded(e, err)
	}
	d.Runs = []string{run}
	return d
}

// Unrecorded returns the decision if the cascade or the journal is not usable: refuse. An
// end is refused once only, because nothing counts the refusals.
func Unrecorded(e *Event, err error) Decision {
	return Decision{
		Verdict: Broken, Refuse: !(e.Again && (e.kind == cascades.OnStop || e.kind == cascades.OnSubagent)),
		Reason: fmt.Sprintf("Refused by the gate, which does not work: %v", err),
	}
}

// maxBroken is how often an end is refused because a check has no verdict. A judge that is
// down must not hold a session.
const maxBroken = 2

// judge runs the checks of a hook on one text.
func (g *Gate) judge(ctx context.Context, e *Event, s *session, h *cascades.Hook, text Text) Decision {
	key := recordKey(e, g.Cascade.ID+" "+h.Name, text)
	for range 1000 {
		earlier := s.of(key)
		number, attempt := next(earlier)
		first := h.On == cascades.OnStop && text.File != "" && attempt == 1
		if first && len(earlier) > 0 && g.same(ctx, earlier[len(earlier)-1].run, text) {
			return Decision{Verdict: Passed}
		}
		settings := g.describe(e, s)
		maps.Copy(settings, map[string]string{
			"hook_on": h.On, "hook_rule": h.Name, "hook_file": text.File, "hook_attempt": strconv.Itoa(attempt),
			"hook_max_attempts": strconv.Itoa(h.MaxAttempts), "hook_on_exhausted": h.OnExhausted, "hook_on_error": h.OnError,
			"hook_text": digest(text.Content),
		})
		input := map[string]any{
			"text": text.Content, "file": text.File, "agent": e.Agent, "session": e.Session, "subagent": e.Subagent, "event": e.Name, "tool": e.Tool,
			"before": text.Before, "tree": s.tree,
		}
		if text.Err != nil {
			return g.unjudgeable(ctx, e, s, h, text, settings, key)
		}
		result, err := g.Runner.Run(ctx, h.Cascade, input, runner.WithRunID(runName(key, number)), runner.WithSettings(settings))
		switch {
		case errors.Is(err, runner.ErrRunExists): // another hook of the session was faster
			if err := g.read(ctx, s, e.Session); err != nil {
				return Unrecorded(e, err)
			}
			continue
		case errors.Is(err, runner.ErrNotKept):
			return Unrecorded(e, err)
		case result.Error != nil && result.Error.Code == runner.Invalid: // it lacks a program or a model, and no run is stored
			settings["hook_verdict"], settings["hook_reason"] = Broken, result.Error.Message
			if result.RunID, err = g.record(ctx, e, s, key, settings); err != nil {
				return Unrecorded(e, err)
			}
		}
		d := decide(result.Status, settings)
		d.Runs = []string{result.RunID}
		if d.Verdict != Passed {
			d.Reason = explanation(h, text, attempt, result, d)
		}
		return d
	}
	return Unrecorded(e, errors.New("a thousand hooks of the session run at the same time"))
}

// unjudgeable decides on a text that cannot be read. A write that cannot be applied to its
// file is refused, as the agent's own tool would fail, too.
func (g *Gate) unjudgeable(
	ctx context.Context, e *Event, s *session, h *cascades.Hook, text Text, settings map[string]string, key string,
) Decision {
	settings["hook_verdict"], settings["hook_reason"] = Broken, text.Err.Error()
	if text.File != "" && h.On == cascades.OnWrite {
		settings["hook_verdict"], key = Refused, recordKey(e, g.Cascade.ID+" "+h.Name+" not applied", text)
	}
	run, err := g.record(ctx, e, s, key, settings)
	if err != nil {
		return Unrecorded(e, err)
	}
	d := decide(runner.Failed, settings)
	d.Runs, d.Reason = []string{run}, fmt.Sprintf("Refused by the gate (%s):", place(h, text))+quote([]string{text.Err.Error()})
	return d
}

// stops reports whether a hook judges the ends of the session.
func (g *Gate) stops() bool {
	return slices.ContainsFunc(g.Cascade.Hooks, func(h *cascades.Hook) bool { return h.On == cascades.OnStop })
}

// decide returns the decision that a run with these settings came to.
func decide(status string, settings map[string]string) Decision {
	attempt, _ := strconv.Atoi(settings["hook_attempt"])
	limit, _ := strconv.Atoi(settings["hook_max_attempts"])
	ending := settings["hook_on"] == cascades.OnStop || settings["hook_on"] == cascades.OnSubagent
	held := !(ending && attempt > maxBroken)
	broken := Decision{Verdict: Broken, Refuse: settings["hook_on_error"] == cascades.HookRefuse && held}
	switch {
	case settings["hook_verdict"] == Tampered:
		return Decision{Verdict: Tampered, Refuse: held}
	case settings["hook_verdict"] == Broken:
		return broken
	case settings["hook_verdict"] != "":
		return Decision{Verdict: settings["hook_verdict"], Refuse: settings["hook_verdict"] == Refused}
	case status == runner.Succeeded:
		return Decision{Verdict: Passed}
	case status == journal.Running:
		return Decision{Verdict: Unfinished}
	case status != runner.Blocked && status != runner.Exhausted:
		return broken
	case attempt < limit:
		return Decision{Verdict: Refused, Refuse: true}
	}
	how := settings["hook_on_exhausted"]
	return Decision{Verdict: Exhausted, Refuse: how != cascades.HookMarked, Ends: how == cascades.HookStop}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
