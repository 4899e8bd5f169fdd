package backtest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/wards"
)

// A Report tells what a cascade's checks say of recorded runs.
type Report struct {
	CascadeID string      `json:"cascade_id"`
	Runs      int         `json:"runs"`        // that were looked at
	Others    int         `json:"others"`      // runs of other cascades, which were not
	Strange   int         `json:"strange"`     // visits that were not: they have no place in the cascade, or it is not known what they were given
	Attempts  int         `json:"attempts"`    // that were compared
	Verdicts  Counts      `json:"verdicts"`    // of all checks
	Wards     []Row       `json:"wards"`       // a row for each check: those of the file in its order, then those that are gone
	Fates     []Passage   `json:"fates"`       // what became of the attempts
	Changes   []Change    `json:"changes"`     // verdicts that turned, could not be said, or are new and no
	Moves     []Move      `json:"moves"`       // attempts that would have fared otherwise
	Saved     int         `json:"calls_saved"` // of models
	Added     int         `json:"calls_added"` // at least
	Usage     model.Usage `json:"usage"`       // what the report itself cost, by judges
}

// A Row is how the verdicts of one check compare. Checks of one cascade, phase,
// moment and name have one row.
type Row struct {
	Cascade   string `json:"cascade"` // whose the phase is, within the run's own; "" for the run's own
	Phase     string `json:"phase"`
	Moment    string `json:"moment"`
	Validator string `json:"validator"`
	Mode      string `json:"mode"`
	Expr      string `json:"expr,omitempty"` // the texts of the expressions without a name
	Counts
}

// A Passage is how many attempts went from what became of them to what would
// have.
type Passage struct {
	Was      Fate `json:"was"`
	Would    Fate `json:"would"`
	Attempts int  `json:"attempts"`
}

// Same tells whether the cascade would have done as the runs did: no verdict
// turned, and no attempt would have fared otherwise.
func (r *Report) Same() bool { return r.Verdicts.Flips() == 0 && len(r.Moves) == 0 }

// Would counts the attempts that would have a fate and did not.
func (r *Report) Would(f Fate) int {
	n := 0
	for _, p := range r.Fates {
		if p.Would == f && p.Was != f {
			n += p.Attempts
		}
	}
	return n
}

// A row is what tells checks apart.
type row struct {
	place
	moment, validator string
}

func (p *part) count(c Change) {
	key := row{place{c.Cascade, c.Phase}, c.Moment, c.Validator}
	if p.wards[key] == nil {
		p.wards[key] = &Counts{}
	}
	p.wards[key].add(c.Kind, c.Now)
	p.modes[key] = c.Mode
}

// report puts the parts together.
func (t Test) report(parts []*part) *Report {
	r := &Report{CascadeID: t.Cascade.ID, Wards: []Row{}, Fates: []Passage{}, Changes: []Change{}, Moves: []Move{}}
	counts, modes := map[row]Counts{}, map[row]string{}
	fates := map[[2]Fate]int{}
	spent := map[place]calls{}
	for _, p := range parts {
		if p.other {
			r.Others++
			continue
		}
		r.Runs++
		r.Strange += p.strange
		r.Attempts += p.attempts
		r.Saved += p.saved
		r.Added += p.added
		r.Usage = r.Usage.Add(p.usage)
		r.Changes = append(r.Changes, p.changes...)
		for key, c := range p.wards {
			counts[key] = counts[key].plus(*c)
			modes[key] = p.modes[key]
		}
		for passage, n := range p.fates {
			fates[passage] += n
		}
		for at, c := range p.calls {
			spent[at] = calls{spent[at].attempts + c.attempts, spent[at].calls + c.calls}
		}
	}
	for _, p := range parts {
		for _, m := range p.moves {
			if m.again {
				m.Added += mean(spent[place{m.Cascade, m.Phase}])
			}
			r.Saved += m.Saved
			r.Added += m.Added
			r.Moves = append(r.Moves, *m)
		}
	}
	for passage, n := range fates {
		r.Fates = append(r.Fates, Passage{passage[0], passage[1], n})
	}
	slices.SortFunc(r.Fates, func(a, b Passage) int {
		return cmp.Or(cmp.Compare(order(a.Was), order(b.Was)), cmp.Compare(order(a.Would), order(b.Would)))
	})
	t.rows(r, counts, modes)
	return r
}

// mean is what one attempt of a phase asked of models, rounded down; a phase
// that nobody has seen asks at least once.
func mean(c calls) int {
	if c.attempts == 0 {
		return 1
	}
	return c.calls / c.attempts
}

func order(f Fate) int {
	return slices.Index([]Fate{Released, Retried, Blocked, Exhausted, Failed, NotMade}, f)
}

// rows lays out the counts: the file's checks in its order, then those that it
// does not have any more.
func (t Test) rows(r *Report, counts map[row]Counts, modes map[row]string) {
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
				continue // whose checks are not held against anything
			}
			checks, texts := checksOf(name, p), map[row][]string{}
			for _, c := range checks {
				texts[c.row] = append(texts[c.row], c.expr)
			}
			for _, c := range checks {
				if !seen[c.row] {
					seen[c.row] = true
					add(c.row, c.mode, cascades.OneLine(texts[c.row]))
				}
			}
			for _, inner := range p.Cascades() {
				file(inner.ID, inner)
			}
		}
	}
	file("", t.Cascade)
	gone := slices.SortedFunc(maps.Keys(counts), func(a, b row) int {
		_, i := t.Cascade.Phase(a.phase)
		_, j := t.Cascade.Phase(b.phase)
		return cmp.Or(cmp.Compare(a.cascade, b.cascade), cmp.Compare(i, j), cmp.Compare(a.phase, b.phase),
			cmp.Compare(a.moment, b.moment), cmp.Compare(a.validator, b.validator))
	})
	for _, key := range gone {
		add(key, "", "")
	}
}

type checkRow struct {
	row
	mode string
	expr string // the text of an expression without a name
}

// checksOf lists the checks of a phase in the order in which they come.
func checksOf(cascade string, p *cascades.Phase) []checkRow {
	var list []checkRow
	at := place{cascade, p.Name}
	add := func(moment string, c *cascades.Check) {
		list = append(list, checkRow{row{at, moment, c.Ward.Name}, string(c.Ward.Mode), c.Validator.Unnamed()})
	}
	all := func(checks []*cascades.Check) {
		for _, c := range checks {
			add(string(c.Ward.Moment), c)
		}
	}
	all(p.Wards.Pre)
	all(p.Wards.Tool)
	all(p.Wards.Result)
	all(p.Wards.Turn)
	if p.Tool != nil && p.Tool.Validator != nil {
		list = append(list, checkRow{row{at, string(wards.Post), p.Tool.Validator.Name}, "gate", p.Tool.Validator.Unnamed()})
	}
	if p.SchemaWard != nil {
		list = append(list, checkRow{row: row{at, string(wards.OutputSchema), p.SchemaWard.Name}, mode: string(p.SchemaWard.Mode)})
	}
	if p.Rules.Loop != nil {
		add(string(wards.LoopUntil), p.Rules.Loop)
	}
	if p.Soundings != nil && p.Soundings.Filter != nil {
		add(trace.Filter, p.Soundings.Filter)
	}
	all(p.Wards.Post)
	return list
}
