package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
)

// recordKey returns the KEY in the name of a run, hook.SESSION.KEY.NUMBER. SESSION and KEY
// are digests of the session and of what is judged, and NUMBER counts the runs of a key.
// The journal refuses a name that exists, so hooks that run at the same time have
// different numbers.
func recordKey(e *Event, rule string, text Text) string {
	what := text.File
	if e.On == keywords.OnCommand || e.On == keywords.OnPrompt { // another command is no further attempt
		what = digest(text.Content)
	}
	return sessionKey(e.Session) + "." + digest(strings.Join([]string{e.Agent, e.Subagent, rule, what}, "\x00"))[:16]
}

func sessionKey(session string) string { return "hook." + digest(session)[:16] }

func runName(key string, number int) string { return fmt.Sprintf("%s.%06d", key, number) }

// read reads the records of a session.
func (g *Gate) read(ctx context.Context, s *session, name string) (err error) {
	first, last := sessionRange(name)
	s.records, err = g.Journal.Statuses(ctx, first, last)
	return err
}

// of returns the records of a key, in order.
func (s *session) of(key string) (list []journal.Status) {
	for _, one := range s.records {
		if strings.HasPrefix(one.RunID, key+".") {
			list = append(list, one)
		}
	}
	return list
}

// next returns the number of the next run, and of the attempt after the last pass.
func next(earlier []journal.Status) (number, attempt int) {
	attempt = 1
	for _, s := range earlier {
		if attempt++; s.Status == engine.Succeeded {
			attempt = 1
		}
	}
	if n := len(earlier); n > 0 {
		last := earlier[n-1].RunID
		number, _ = strconv.Atoi(last[strings.LastIndexByte(last, '.')+1:])
	}
	return number + 1, attempt
}

// notes is the cascade of records that no check made. The run of a refusal is blocked, and
// counts as an attempt. Its text is the reason.
const notes = `{"cascade_id": "hooks.record", "phases": [{"name": "record", "compose": "{{ input.event }}: {{ input.verdict }}\n{{ input.reason }}",
  "wards": {"post": [{"expr": "input.verdict in ['passed', 'not judged']", "reason": "the event is refused without new checks; the text has the reason"}]}}]}`

// noted runs the cascade of records, as a run of a name.
func (g *Gate) noted(ctx context.Context, name, verdict string, settings map[string]string) (engine.Result, error) {
	c, err := g.Runner.Parse("hooks.json", []byte(notes))
	if err != nil {
		return engine.Result{}, err
	}
	input := map[string]any{"event": settings["hook_event"], "verdict": verdict, "reason": settings["hook_reason"]}
	result, err := g.Runner.Run(ctx, c, input, runner.WithRunID(name), runner.WithSettings(settings))
	if result.Status == engine.Blocked {
		err = nil
	}
	return result, err
}

// sessionRange returns the first and the last name that a record of a session can have.
func sessionRange(name string) (first, last string) {
	key := sessionKey(name)
	return key + "." + strings.Repeat("0", 16) + ".000000", key + "." + strings.Repeat("f", 16) + ".999999"
}

func startKey(e *Event) string {
	return recordKey(&Event{Agent: e.Agent, Session: e.Session}, onStart, Text{})
}

// errSimultaneous is the error of a number that other hooks always take first.
var errSimultaneous = errors.New("a thousand hooks of the session run at the same time")

// record adds a run without checks.
func (g *Gate) record(ctx context.Context, e *Event, s *session, key string, settings map[string]string) (string, error) {
	for range 1000 {
		number, _ := next(s.of(key))
		result, err := g.noted(ctx, runName(key, number), settings["hook_verdict"], settings)
		if !errors.Is(err, runner.ErrRunExists) {
			return result.RunID, err
		}
		if err := g.read(ctx, s, e.Session); err != nil {
			return "", err
		}
	}
	return "", errSimultaneous
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
	Rules   string    `json:"rules"`          // the digest of what judged the session
	Tree    string    `json:"tree,omitempty"` // of the files at an end, as git names it

	key    string
	number int // of the record among those of the key
	before int // the number of records of the session before this one
	stops  bool
}

// Log returns the decisions of a session, in the order of time.
func Log(ctx context.Context, j *journal.Journal, session string) ([]Record, error) {
	first, last := sessionRange(session)
	list, err := j.Statuses(ctx, first, last)
	if err != nil {
		return nil, err
	}
	records := make([]Record, 0, len(list))
	for _, s := range list {
		run, err := j.Run(ctx, s.RunID)
		if err != nil {
			return nil, err
		}
		set := run.Start.Settings
		d := decide(run.Status, set)
		number := func(text string) int {
			n, _ := strconv.Atoi(text)
			return n
		}
		key, last, _ := strings.Cut(strings.TrimPrefix(s.RunID, sessionKey(session)+"."), ".")
		r := Record{
			Run: run.RunID, Time: run.Started, Agent: set["hook_agent"], Event: set["hook_event"], On: set["hook_on"], Tool: set["hook_tool"],
			Rule: set["hook_rule"], File: set["hook_file"], Attempt: number(set["hook_attempt"]), Verdict: d.Verdict, Refused: d.Refuse,
			Reason: set["hook_reason"], Rules: set[settingRules], Tree: set["hook_tree"],
			key: key, number: number(last), before: number(set["hook_before"]), stops: set["hook_stops"] == "true",
		}
		if run.Error != nil && r.Reason == "" {
			r.Reason = run.Error.Message
		}
		records = append(records, r)
	}
	sortRecords(records)
	return records, nil
}

// Verdict returns the verdict on a whole session:
//
//   - [Tampered]: what judges the session changed, or a record is missing
//   - [Refused], [Exhausted], [Broken]: a text that the agent leaves behind did not pass
//   - [NotJudged]: no rule judged the session, or its end
//   - [Passed]: none of these
//
// rules may be the digest that every record must have.
func Verdict(records []Record, rules string) string {
	last := map[string]Record{}
	stops, stopped, judged := false, false, false
	for _, r := range records {
		if stops = stops || r.stops; r.Verdict == Tampered || rules != "" && r.Rules != rules {
			return Tampered
		}
		if r.Verdict == NotJudged {
			continue
		}
		last[r.key] = r
		judged = judged || r.Verdict != Unfinished
		stopped = stopped || r.On == keywords.OnStop && r.Verdict != Unfinished
	}
	if missing(records) {
		return Tampered
	}
	worst := Passed
	for _, r := range last {
		// A refused write or command did not happen, but a refused message stays.
		if remains := r.On == keywords.OnStop || r.On == keywords.OnSubagent || !r.Refused; remains && r.Verdict != Passed {
			worst = worseVerdict(worst, r.Verdict)
		}
	}
	if worst == Passed && (!judged || stops && !stopped) {
		return NotJudged
	}
	return worst
}

// worseVerdict returns the worse of two verdicts. Nobody knows what a hook that died let pass.
func worseVerdict(a, b string) string {
	if b == Unfinished {
		b = Broken
	}
	order := []string{Passed, Broken, Exhausted, Refused}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// missing reports whether records of a session are missing. Each record has the
// number of earlier records, and the records of one key are numbered.
func missing(records []Record) bool {
	count := map[string]int{}
	for _, r := range records {
		count[r.key]++
	}
	for _, r := range records {
		earlier := 0
		for _, other := range records {
			if other.before < r.before {
				earlier++
			}
		}
		if earlier < r.before || r.number > count[r.key] {
			return true
		}
	}
	return false
}

// Tree returns the tree at the last end whose changed files a rule judged; "" without one.
func Tree(records []Record) (tree string) {
	for _, r := range records {
		if r.On == keywords.OnStop && r.Tree != "" {
			tree = r.Tree
		}
	}
	return tree
}

func sortRecords(list []Record) {
	slices.SortStableFunc(list, func(a, b Record) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Run, b.Run)) })
}
