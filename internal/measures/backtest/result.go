package backtest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner/model"
)

// A Result compares the checks of a cascade with recorded runs.
type Result struct {
	CascadeID      string          `json:"cascade_id"`
	Runs           int             `json:"runs"`           // runs that were compared
	OtherRuns      int             `json:"other_runs"`     // runs of other cascades, which were not compared
	UnknownVisits  int             `json:"unknown_visits"` // visits that were not compared: the cascade has no such phase, or their input is unknown
	Attempts       int             `json:"attempts"`       // attempts that were compared
	Verdicts       Counts          `json:"verdicts"`       // of all checks
	Wards          []Row           `json:"wards"`          // a row for each check: those of the file in its order, then removed ones
	Outcomes       []OutcomeChange `json:"outcomes"`
	Changes        []Change        `json:"changes"`         // verdicts that changed, are missing, or are new failures
	AttemptChanges []AttemptChange `json:"attempt_changes"` // attempts with another outcome
	Saved          int             `json:"calls_saved"`     // model calls
	Added          int             `json:"calls_added"`     // at least
	Usage          model.Usage     `json:"usage"`           // cost of the judges that the report asked
}

// A Row counts the verdicts of one check. Checks with the same cascade, phase, moment and name
// share a row.
type Row struct {
	Cascade   string `json:"cascade"` // nested cascade of the phase; "" for the cascade of the run
	Phase     string `json:"phase"`
	Moment    string `json:"moment"`
	Validator string `json:"validator"`
	Mode      string `json:"mode"`
	Expr      string `json:"expr,omitempty"` // the texts of the expressions without a name
	Counts
}

// An OutcomeChange is the number of attempts that went from one outcome to another.
type OutcomeChange struct {
	Before   Outcome `json:"before"`
	After    Outcome `json:"after"`
	Attempts int     `json:"attempts"`
}

// Same reports whether all verdicts and all outcomes of attempts stay the same.
func (r *Result) Same() bool { return r.Verdicts.Changed() == 0 && len(r.AttemptChanges) == 0 }

// CountAfter counts the attempts with this new outcome and another recorded one.
func (r *Result) CountAfter(f Outcome) int {
	n := 0
	for _, p := range r.Outcomes {
		if p.After == f && p.Before != f {
			n += p.Attempts
		}
	}
	return n
}

// A row identifies a check.
type row struct {
	place
	moment, validator string
}

func (p *part) count(c Change) {
	key := row{place{c.Cascade, c.Phase}, c.Moment, c.Validator}
	if p.wards[key] == nil {
		p.wards[key] = &Counts{}
	}
	p.wards[key].add(c.Kind, c.After)
	p.modes[key] = c.Mode
}

// report returns the sum of the parts.
func (t Test) report(parts []*part) *Result {
	r := &Result{CascadeID: t.Cascade.ID, Wards: []Row{}, Outcomes: []OutcomeChange{}, Changes: []Change{}, AttemptChanges: []AttemptChange{}}
	counts, modes := map[row]Counts{}, map[row]string{}
	outcomeCounts := map[[2]Outcome]int{}
	spent := map[place]calls{}
	for _, p := range parts {
		if p.other {
			r.OtherRuns++
			continue
		}
		r.Runs++
		r.UnknownVisits += p.unknownVisits
		r.Attempts += p.attempts
		r.Saved += p.saved
		r.Added += p.added
		r.Usage = r.Usage.Add(p.usage)
		r.Changes = append(r.Changes, p.changes...)
		for key, c := range p.wards {
			counts[key] = counts[key].plus(*c)
			modes[key] = p.modes[key]
		}
		for passage, n := range p.outcomeCounts {
			outcomeCounts[passage] += n
		}
		for at, c := range p.calls {
			spent[at] = calls{spent[at].attempts + c.attempts, spent[at].calls + c.calls}
		}
	}
	for _, p := range parts {
		for _, m := range p.attemptChanges {
			if m.again {
				m.Added += mean(spent[place{m.Cascade, m.Phase}])
			}
			r.Saved += m.Saved
			r.Added += m.Added
			r.AttemptChanges = append(r.AttemptChanges, *m)
		}
	}
	for passage, n := range outcomeCounts {
		r.Outcomes = append(r.Outcomes, OutcomeChange{passage[0], passage[1], n})
	}
	slices.SortFunc(r.Outcomes, func(a, b OutcomeChange) int {
		return cmp.Or(cmp.Compare(order(a.Before), order(b.Before)), cmp.Compare(order(a.After), order(b.After)))
	})
	t.rows(r, counts, modes)
	return r
}

// mean returns the model calls of one attempt of a phase, rounded down, or 1 without attempts.
func mean(c calls) int {
	if c.attempts == 0 {
		return 1
	}
	return c.calls / c.attempts
}

func order(f Outcome) int {
	return slices.Index([]Outcome{Released, Retried, Blocked, Exhausted, Failed, NotMade}, f)
}

// rows adds the rows of the report: the checks of the file in its order, then removed checks.
func (t Test) rows(r *Result, counts map[row]Counts, modes map[row]string) {
	add := func(key row, mode, expr string) {
		c, met := counts[key]
		if !met && mode == "" {
			return
		}
		delete(counts, key)
		r.Verdicts = r.Verdicts.plus(c)
		r.Wards = append(r.Wards, Row{key.cascade, key.phase, key.moment, key.validator, cmp.Or(mode, modes[key]), expr, c})
	}
	seen := map[row]bool{}
	met := map[*cascades.Cascade]bool{}
	var file func(name string, c *cascades.Cascade)
	file = func(name string, c *cascades.Cascade) {
		if met[c] {
			return
		}
		met[c] = true
		for _, p := range c.EveryPhase() {
			if p == c.Tries {
				continue // its checks are not compared
			}
			gates, texts := Gates(p), map[row][]string{}
			for _, g := range gates {
				if key := g.row(name, p); g.Check != nil {
					texts[key] = append(texts[key], g.Check.Validator.Unnamed())
				}
			}
			for _, g := range gates {
				if key := g.row(name, p); !seen[key] {
					seen[key] = true
					add(key, g.mode(), reports.OneExpression(texts[key]))
				}
			}
			for _, inner := range p.Cascades() {
				file(inner.ID, inner)
			}
		}
	}
	file("", t.Cascade)
	removed := slices.SortedFunc(maps.Keys(counts), func(a, b row) int {
		_, i := t.Cascade.Phase(a.phase)
		_, j := t.Cascade.Phase(b.phase)
		return cmp.Or(cmp.Compare(a.cascade, b.cascade), cmp.Compare(i, j), cmp.Compare(a.phase, b.phase),
			cmp.Compare(a.moment, b.moment), cmp.Compare(a.validator, b.validator))
	})
	for _, key := range removed {
		add(key, "", "")
	}
}
