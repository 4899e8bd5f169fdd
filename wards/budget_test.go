package wards

import (
	"errors"
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

func ward(name string, m Moment, mode Mode, attempts int) *Ward {
	return &Ward{Name: name, Moment: m, Mode: mode, MaxAttempts: attempts}
}

func no(w *Ward) Outcome  { return Outcome{Ward: w, Verdict: validators.Fail("no")} }
func yes(w *Ward) Outcome { return Outcome{Ward: w, Verdict: validators.Pass("yes")} }
func bad(w *Ward) Outcome { return Outcome{Ward: w, Err: errors.New("broke")} }
func out(w *Ward) Outcome { return Outcome{Ward: w, Skipped: true} }

func TestDecide(t *testing.T) {
	blocking, retry := ward("b", Post, Blocking, 3), ward("r", Post, Retry, 3)
	advisory, once := ward("a", Post, Advisory, 3), ward("o", Post, Retry, 1)
	for name, c := range map[string]struct {
		outcomes []Outcome
		action   Action
		by       *Ward
		failed   int
	}{
		"nothing to check":               {nil, Release, nil, 0},
		"all pass":                       {[]Outcome{yes(blocking), yes(retry)}, Release, nil, 0},
		"advice is only noted":           {[]Outcome{no(advisory), bad(advisory)}, Release, nil, 0},
		"a block":                        {[]Outcome{no(blocking)}, Block, blocking, 0},
		"a block beats an earlier retry": {[]Outcome{no(retry), no(blocking)}, Block, blocking, 0},
		"an error is no block":           {[]Outcome{bad(blocking)}, Abort, blocking, 0},
		"an error of a retry ward":       {[]Outcome{bad(retry)}, Abort, retry, 0},
		"the first in file order: error": {[]Outcome{bad(retry), no(blocking)}, Abort, retry, 0},
		"the first in file order: block": {[]Outcome{no(blocking), bad(retry)}, Block, blocking, 0},
		"sent back":                      {[]Outcome{no(retry), no(advisory)}, SendBack, nil, 1},
		"all that failed go back":        {[]Outcome{no(retry), yes(blocking), no(ward("s", Post, Retry, 2))}, SendBack, nil, 2},
		"no budget at all":               {[]Outcome{no(retry), no(once)}, Exhausted, once, 2},
		"skipped is no no":               {[]Outcome{no(retry), out(once), out(blocking)}, SendBack, nil, 1},
		"skipped is no yes: retry":       {[]Outcome{out(retry), no(advisory), yes(blocking)}, Abort, retry, 0},
		"skipped is no yes: blocking":    {[]Outcome{yes(retry), out(blocking)}, Abort, blocking, 0},
		"skipped advice does not matter": {[]Outcome{out(advisory), yes(blocking)}, Release, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewBudget(0).Decide(1, c.outcomes)
			if d.Action != c.action || d.By.Ward != c.by || len(d.Failed) != c.failed || (d.By.Err != nil) != (d.Action == Abort) {
				t.Errorf("got %+v", d)
			}
		})
	}
}

// A skipped check uses no budget and does not pass.
func TestSkipped(t *testing.T) {
	once, free := ward("o", Post, Retry, 1), ward("f", Post, Retry, 3)
	budget := NewBudget(0)
	for range 2 {
		d := budget.Decide(1, []Outcome{out(once), no(free), out(ward("a", Post, Advisory, 3))})
		if d.Action != SendBack || len(d.Failed) != 1 || len(d.Unmet) != 2 || d.Unmet[0].Ward != once {
			t.Errorf("got %+v", d)
		}
	}
	if d := budget.Decide(1, []Outcome{no(once), yes(free)}); d.Action != Exhausted || d.By.Ward != once {
		t.Errorf("got %+v", d)
	}
}

// Each check has its own budget.
func TestBudgetsAreSeparate(t *testing.T) {
	a, b := ward("a", Post, Retry, 2), ward("b", Post, Retry, 2)
	exhausts(t, [][]Outcome{{no(a), yes(b)}, {yes(a), no(b)}, {yes(a), no(b)}})
}

// exhausts checks that a retry follows every attempt except the last one.
func exhausts(t *testing.T, attempts [][]Outcome) {
	t.Helper()
	budget := NewBudget(0)
	for i, outcomes := range attempts {
		if d := budget.Decide(i+1, outcomes); d.Action != SendBack && i+1 < len(attempts) || d.Action != Exhausted && i+1 == len(attempts) {
			t.Errorf("attempt %d: got %v", i+1, d.Action)
		}
	}
}

// output_schema and loop_until share one budget. An attempt that fails both uses it once.
func TestSharedBudget(t *testing.T) {
	schema, loop := ward("s", OutputSchema, Retry, 3), ward("l", LoopUntil, Retry, 3)
	exhausts(t, [][]Outcome{{no(schema), no(loop)}, {yes(schema), no(loop)}, {no(schema), yes(loop)}})
}

// The limit of all attempts applies even if a check has budget left.
func TestHardCap(t *testing.T) {
	w := ward("w", Post, Retry, 9)
	budget := NewBudget(2)
	if d := budget.Decide(1, []Outcome{no(w)}); d.Action != SendBack {
		t.Errorf("attempt 1: got %v", d.Action)
	}
	if d := budget.Decide(2, []Outcome{no(w)}); d.Action != Exhausted || d.By.Ward != w {
		t.Errorf("attempt 2: got %+v", d)
	}
	if d := NewBudget(1).Decide(1, []Outcome{yes(w)}); d.Action != Release {
		t.Errorf("a pass at the cap: got %v", d.Action)
	}
}
