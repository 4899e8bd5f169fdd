package hooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// The name of a run is hook.SESSION.KEY.NUMBER: digests of the session and of what is
// judged, and the number of the run among those of the key. The journal refuses a name
// that exists, so that hooks that run at the same time have different numbers.
const lastNumber = 999_999

func recordKey(e *Event, rule string, text Text) string {
	what := text.File
	if e.On == cascades.OnCommand || e.On == cascades.OnPrompt { // another command is no further attempt
		what = digest(text.Content)
	}
	return sessionKey(e.Session) + "." + digest(strings.Join([]string{e.Agent, e.Subagent, rule, what}, "\x00"))[:16]
}

func sessionKey(session string) string { return "hook." + digest(session)[:16] }

func runName(key string, number int) string { return fmt.Sprintf("%s.%06d", key, number) }

// A state is a run of a key, and its status.
type state struct{ run, status string }

// maxAttempts is how many runs of a key count.
const maxAttempts = 1000

// states returns the last runs of a key, in order.
func (g *Gate) states(ctx context.Context, key string, limit int) ([]state, error) {
	return states(ctx, g.Journal, runName(key, 0), runName(key, lastNumber), limit)
}

// states returns the last runs with names between two names, in order. A limit of 0 is no
// limit. The names are digests and digits, so that they need no quotes within the text.
func states(ctx context.Context, j *journal.Journal, first, last string, limit int) (list []state, err error) {
	query := fmt.Sprintf("SELECT run_id, status FROM runs WHERE run_id >= '%s' AND run_id <= '%s' ORDER BY run_id DESC", first, last)
	table, err := j.Query(ctx, query, limit)
	if err != nil {
		return nil, err
	}
	for _, row := range slices.Backward(table.Rows) {
		list = append(list, state{fmt.Sprint(row[0]), fmt.Sprint(row[1])})
	}
	return list, nil
}

// next returns the number of the next run, and of the attempt after the last pass.
func next(earlier []state) (number, attempt int) {
	attempt = 1
	for _, s := range earlier {
		if attempt++; s.status == runner.Succeeded {
			attempt = 1
		}
	}
	if n := len(earlier); n > 0 {
		last := earlier[n-1].run
		number, _ = strconv.Atoi(last[strings.LastIndexByte(last, '.')+1:])
	}
	return number + 1, attempt
}

// same reports whether a run passed the same text.
func (g *Gate) same(ctx context.Context, run string, text Text) bool {
	r, err := g.Journal.Run(ctx, run)
	return err == nil && r.Status == runner.Succeeded && r.Start.Settings["hook_text"] == digest(text.Content)
}

// notes is the cascade of records that no check made. A record of a check without a verdict
// is a run that does not succeed, so that it counts as an attempt.
const notes = `{"cascade_id": "hooks.not_judged", "phases": [{"name": "not_judged", "compose": "{{ input.event }}",
  "wards": {"post": [{"expr": "input.verdict != 'broken'"}]}}]}`

// note records a decision that no check made. The start of a session stores the commit at
// which the session starts.
func (g *Gate) note(ctx context.Context, e *Event, d Decision) (run string, err error) {
	settings := map[string]string{
		"hook_agent": e.Agent, "hook_session": e.Session, "hook_subagent": e.Subagent, "hook_event": e.Name, "hook_on": e.On,
		"hook_tool": e.Tool, "hook_verdict": d.Verdict, "hook_reason": d.Reason, "hook_stops": strconv.FormatBool(g.stops()),
	}
	key := recordKey(e, "", Text{})
	if e.kind == onStart {
		key = startKey(e)
		settings["hook_head"] = head(ctx, e.Root)
	}
	return g.record(ctx, key, settings)
}

func startKey(e *Event) string {
	return recordKey(&Event{Agent: e.Agent, Session: e.Session}, "start", Text{})
}

// record adds a run without checks.
func (g *Gate) record(ctx context.Context, key string, settings map[string]string) (string, error) {
	c, err := g.Runner.Parse("hooks.json", []byte(notes))
	if err != nil {
		return "", err
	}
	for range 1000 {
		earlier, err := g.states(ctx, key, 1)
		if err != nil {
			return "", err
		}
		number, _ := next(earlier)
		input := map[string]any{"event": settings["hook_event"], "verdict": settings["hook_verdict"]}
		result, err := g.Runner.Run(ctx, c, input, runner.WithRunID(runName(key, number)), runner.WithSettings(settings))
		switch {
		case errors.Is(err, runner.ErrRunExists):
			continue
		case result.Status == runner.Blocked:
			return result.RunID, nil
		}
		return result.RunID, err
	}
	return "", errors.New("a thousand hooks of the session run at the same time")
}

// A Record is a stored decision.
type Record struct {
	Run     string    `json:"run"`
	Time    time.Time `json:"time"`
	Agent   string    `json:"agent"`
	Event   string    `json:"event"`
	On      string    `json:"on,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	Rule    string    `json:"rule,omitempty"`
	File    string    `json:"file,omitempty"`
	Attempt int       `json:"attempt,omitempty"`
	Verdict string    `json:"verdict"`
	Refused bool      `json:"refused"`
	Reason  string    `json:"reason,omitempty"`

	key   string
	stops bool
}

// Log returns the decisions of a session, in the order of time.
func Log(ctx context.Context, j *journal.Journal, session string) ([]Record, error) {
	first := sessionKey(session)
	list, err := states(ctx, j, first+"."+strings.Repeat("0", 16)+".000000", first+"."+strings.Repeat("f", 16)+".999999", 0)
	if err != nil {
		return nil, err
	}
	records := make([]Record, 0, len(list))
	for _, s := range list {
		run, err := j.Run(ctx, s.run)
		if err != nil {
			return nil, err
		}
		set := run.Start.Settings
		d := decide(run.Status, set)
		attempt, _ := strconv.Atoi(set["hook_attempt"])
		r := Record{
			Run: run.RunID, Time: run.Started, Agent: set["hook_agent"], Event: set["hook_event"], On: set["hook_on"], Tool: set["hook_tool"],
			Rule: set["hook_rule"], File: set["hook_file"], Attempt: attempt, Verdict: d.Verdict, Refused: d.Refuse, Reason: set["hook_reason"],
			key: s.run[:strings.LastIndexByte(s.run, '.')], stops: set["hook_stops"] == "true",
		}
		if run.Error != nil && r.Reason == "" {
			r.Reason = run.Error.Message
		}
		records = append(records, r)
	}
	sortRecords(records)
	return records, nil
}

// Verdict returns the verdict on a whole session: [Passed], [Refused] if a text that the
// agent leaves behind did not pass, or [NotJudged] if the session has no decision on what
// its rules judge.
func Verdict(records []Record) string {
	last := map[string]Record{}
	stops, stopped, judged := false, false, false
	for _, r := range records {
		stops = stops || r.stops
		if r.Verdict == NotJudged {
			continue
		}
		last[r.key] = r
		judged = judged || r.Verdict != Unfinished
		stopped = stopped || r.On == cascades.OnStop && r.Verdict != Unfinished
	}
	for _, r := range last {
		// A refused write or command did not happen, but a refused message stays.
		remains := r.On == cascades.OnStop || r.On == cascades.OnSubagent || !r.Refused
		if remains && (r.Verdict == Refused || r.Verdict == Exhausted || r.Verdict == Broken) {
			return Refused
		}
	}
	if !judged || stops && !stopped {
		return NotJudged
	}
	return Passed
}
