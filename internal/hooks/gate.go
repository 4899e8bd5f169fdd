package hooks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
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
		return g.conclude(ctx, e, s, recordKey(e, "", Text{}), g.describe(e, s), Refused, err)
	}
	d := Decision{Verdict: NotJudged}
	changes := changedFiles{base: s.head, event: e}
	for _, h := range g.Cascade.Hooks {
		if h.On != e.On {
			continue
		}
		texts := e.Texts
		if h.On == keywords.OnStop && h.Files != nil {
			if texts, err = changes.list(ctx); err != nil {
				texts = []Text{{Err: fmt.Errorf("the changed files: %w", err)}}
			}
			s.tree = changes.tree(ctx)
		}
		for _, text := range texts {
			if h.On == keywords.OnStop && text.File != "" && bytes.Contains(h.Cascade.Source, []byte("input.before")) {
				text.Before = changes.before(ctx, text.File)
			}
			if text.Err != nil && text.File == "" || h.Applies(text.File, text.Content) {
				d = d.worse(g.judge(ctx, e, s, h, text))
			}
		}
	}
	if len(d.Runs) == 0 { // no rule covers it, or each file passed before
		return g.conclude(ctx, e, s, recordKey(e, "", Text{}), g.describe(e, s), d.Verdict, nil)
	}
	return d
}

// Refuse records an event that could not be read, and refuses it.
func (g *Gate) Refuse(ctx context.Context, e *Event, cause error) Decision {
	s := &session{}
	var err error
	if s.deciders, err = g.Deciders(); err == nil {
		err = g.read(ctx, s, e.Session)
	}
	if err != nil {
		return Unrecorded(e, err)
	}
	return g.conclude(ctx, e, s, recordKey(e, "", Text{}), g.describe(e, s), Refused, cause)
}

// conclude records a verdict that no check made, and returns its decision. cause may be nil.
func (g *Gate) conclude(ctx context.Context, e *Event, s *session, key string, settings map[string]string, verdict string, cause error) Decision {
	settings["hook_verdict"] = verdict
	if cause != nil {
		settings["hook_reason"] = cause.Error()
	}
	run, err := g.record(ctx, e, s, key, settings)
	if err != nil {
		return Unrecorded(e, err)
	}
	d := decide(engine.Failed, settings)
	d.Runs = []string{run}
	if cause != nil {
		d.Reason = "Refused by the gate: " + cause.Error()
	}
	return d
}

// Unrecorded returns the decision if the cascade or the journal is not usable: refuse. An
// end is refused once only, because nothing counts the refusals.
func Unrecorded(e *Event, err error) Decision {
	return Decision{
		Verdict: Broken, Refuse: !(e.Again && (e.kind == keywords.OnStop || e.kind == keywords.OnSubagent)),
		Reason: fmt.Sprintf("Refused by the gate, which does not work: %v", err),
	}
}

// maxBroken is how often an end is refused because a check has no verdict. A judge that is
// down must not hold a session.
const maxBroken = 2

// judge runs the checks of a hook on one text. A changed file is judged once per content.
func (g *Gate) judge(ctx context.Context, e *Event, s *session, h *cascades.Hook, text Text) Decision {
	key := recordKey(e, g.Cascade.ID+" "+h.Name, text)
	for range 1000 {
		earlier := s.of(key)
		number, attempt := next(earlier)
		settings := g.describe(e, s)
		maps.Copy(settings, map[string]string{
			"hook_on": h.On, "hook_rule": h.Name, "hook_file": text.File, "hook_attempt": strconv.Itoa(attempt),
			"hook_max_attempts": strconv.Itoa(h.MaxAttempts), "hook_on_exhausted": h.OnExhausted, "hook_on_error": h.OnError,
			"hook_text": digest(text.Content),
		})
		if text.Err != nil {
			return g.unjudgeable(ctx, e, s, h, text, settings, key)
		}
		var last *journal.Run // that judged the same content
		if h.On == keywords.OnStop && text.File != "" {
			last = g.same(ctx, earlier, settings)
		}
		var result engine.Result
		var err error
		switch {
		case last != nil && last.Status == engine.Succeeded:
			return Decision{Verdict: Passed}
		case last != nil && repeatable(h):
			result, err = g.repeat(ctx, last, runName(key, number), settings)
		default:
			input := map[string]any{
				"text": text.Content, "file": text.File, "agent": e.Agent, "session": e.Session, "subagent": e.Subagent,
				"event": e.Name, "tool": e.Tool, "before": text.Before, "tree": s.tree,
			}
			result, err = g.Runner.Run(ctx, h.Cascade, input, runner.WithRunID(runName(key, number)), runner.WithSettings(settings))
		}
		switch {
		case errors.Is(err, runner.ErrRunExists): // another hook of the session was faster
			if err := g.read(ctx, s, e.Session); err != nil {
				return Unrecorded(e, err)
			}
			continue
		case errors.Is(err, runner.ErrNotKept):
			return Unrecorded(e, err)
		case result.Error != nil && result.Error.Code == engine.Invalid: // it lacks a program or a model, and no run is stored
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
	return Unrecorded(e, errSimultaneous)
}

// same returns the last of the earlier runs if it passed or refused the text of settings;
// nil otherwise.
func (g *Gate) same(ctx context.Context, earlier []journal.Status, settings map[string]string) *journal.Run {
	if len(earlier) == 0 {
		return nil
	}
	run, err := g.Journal.Run(ctx, earlier[len(earlier)-1].RunID)
	if err != nil || !slices.Contains([]string{engine.Succeeded, engine.Blocked, engine.Exhausted}, run.Status) {
		return nil
	}
	set := run.Start.Settings
	if set["hook_verdict"] != "" || set["hook_text"] != settings["hook_text"] || set[settingRules] != settings[settingRules] {
		return nil
	}
	return run
}

// repeatable reports whether the checks of a hook have the same verdict on the same file.
// A program may read other files, so that it runs again.
func repeatable(h *cascades.Hook) bool {
	return !bytes.Contains(h.Cascade.Source, []byte("input.tree")) && !slices.ContainsFunc(h.Cascade.EveryPhase(), func(p *cascades.Phase) bool {
		return slices.ContainsFunc(p.Checks(), func(c *cascades.Check) bool { return !c.Validator.Pure && c.Validator.Criteria == nil })
	})
}

// repeat records the refusal of an earlier run once more, as a run of a name.
func (g *Gate) repeat(ctx context.Context, earlier *journal.Run, name string, settings map[string]string) (engine.Result, error) {
	settings["hook_repeats"] = cmp.Or(earlier.Start.Settings["hook_repeats"], earlier.RunID)
	judged, err := g.Journal.Result(ctx, settings["hook_repeats"])
	if err != nil {
		return judged, fmt.Errorf("%w: %w", runner.ErrNotKept, err)
	}
	if judged.Error != nil {
		settings["hook_reason"] = judged.Error.Message
	}
	noted, err := g.noted(ctx, name, Refused, settings)
	judged.RunID, judged.Status = noted.RunID, noted.Status
	return judged, err
}

// unjudgeable decides on a text that cannot be read. A write that cannot be applied to its
// file is refused, as the agent's own tool would fail, too.
func (g *Gate) unjudgeable(
	ctx context.Context, e *Event, s *session, h *cascades.Hook, text Text, settings map[string]string, key string,
) Decision {
	verdict := Broken
	if text.File != "" && h.On == keywords.OnWrite {
		verdict, key = Refused, recordKey(e, g.Cascade.ID+" "+h.Name+" not applied", text)
	}
	d := g.conclude(ctx, e, s, key, settings, verdict, text.Err)
	if len(d.Runs) > 0 {
		d.Reason = fmt.Sprintf("Refused by the gate (%s):", place(h, text)) + quote([]string{text.Err.Error()})
	}
	return d
}

// stops reports whether a hook judges the ends of the session.
func (g *Gate) stops() bool {
	return slices.ContainsFunc(g.Cascade.Hooks, func(h *cascades.Hook) bool { return h.On == keywords.OnStop })
}

// decide returns the decision of a run with a status and settings.
func decide(status string, settings map[string]string) Decision {
	attempt, _ := strconv.Atoi(settings["hook_attempt"])
	limit, _ := strconv.Atoi(settings["hook_max_attempts"])
	ending := settings["hook_on"] == keywords.OnStop || settings["hook_on"] == keywords.OnSubagent
	held := !(ending && attempt > maxBroken)
	broken := Decision{Verdict: Broken, Refuse: settings["hook_on_error"] == keywords.HookRefuse && held}
	switch {
	case settings["hook_verdict"] == Tampered:
		return Decision{Verdict: Tampered, Refuse: held}
	case settings["hook_verdict"] == Broken:
		return broken
	case settings["hook_verdict"] != "":
		return Decision{Verdict: settings["hook_verdict"], Refuse: settings["hook_verdict"] == Refused}
	case status == engine.Succeeded:
		return Decision{Verdict: Passed}
	case status == journal.Running:
		return Decision{Verdict: Unfinished}
	case status != engine.Blocked && status != engine.Exhausted:
		return broken
	case attempt < limit:
		return Decision{Verdict: Refused, Refuse: true}
	}
	how := settings["hook_on_exhausted"]
	return Decision{Verdict: Exhausted, Refuse: how != keywords.HookMarked, Ends: how == keywords.HookStop}
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
