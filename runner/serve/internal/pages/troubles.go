package pages

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/trace"
)

// A trouble is a verdict that rejected a text, or a check without a verdict, with
// links to the text, the prompt and the feedback.
type trouble struct {
	Verdict  verdictView
	Phase    string
	Attempt  string
	Anchor   string   // of the attempt
	Where    string   // the page on which the anchor is
	Text     textView // the exact text judged
	Prompt   string   // the address of the call that made the text; "" where there is none
	Feedback textView // what the model was told of it
	Diff     string   // what the next attempt changed
}

// A troubles is what stands at the top of a run that did not pass.
type troubles struct {
	Status string // of the run
	List   []trouble
	Count  int // of all, those that are not shown too
	More   int // that are not shown
}

// maxTroubles bounds what stands at the top of a page.
const maxTroubles = 5

// newTroubles shows the newest troubles, the last one first.
func newTroubles(run string, t *trace.Run) troubles {
	v := troubles{Status: t.Status, List: allTroubles(run, t)}
	v.Count = len(v.List)
	if n := len(v.List); n > maxTroubles {
		v.List, v.More = v.List[n-maxTroubles:], n-maxTroubles
	}
	slices.Reverse(v.List)
	return v
}

// allTroubles are those of the last phase that has any: of the checks that are not
// only noted where there are such.
func allTroubles(run string, t *trace.Run) []trouble {
	for i := len(t.Phases) - 1; i >= 0; i-- {
		var list, advisory []trouble
		for p := range within(t.Phases[i]) {
			for _, x := range phaseTroubles(run, p) {
				x.Where = "?open=" + url.QueryEscape(string(p.Path))
				if p != t.Phases[i] {
					x.Where = phaseLink(run, p.Path) // it is folded away in the timeline
				}
				if x.Verdict.Mode == "advisory" || x.Verdict.Mode == "shadow" {
					advisory = append(advisory, x)
				} else {
					list = append(list, x)
				}
			}
		}
		if len(list) > 0 {
			return list
		}
		if len(advisory) > 0 && t.Status != "succeeded" {
			return advisory
		}
	}
	return nil
}

// within walks a phase and those within it.
func within(p *trace.Phase) func(yield func(*trace.Phase) bool) {
	return (&trace.Run{Phases: []*trace.Phase{p}}).All()
}

func phaseTroubles(run string, p *trace.Phase) []trouble {
	var list []trouble
	add := func(v *trace.Verdict, fill func(*trouble)) {
		if v.Skipped() || v.Valid != nil && *v.Valid {
			return
		}
		x := trouble{Verdict: newVerdict(run, v), Phase: longName(p), Anchor: anchor(string(p.Path))}
		if fill != nil {
			fill(&x)
		}
		list = append(list, x)
	}
	for i := range p.Verdicts {
		add(&p.Verdicts[i], nil)
	}
	for _, a := range p.Texts() {
		for _, t := range a.Turns {
			for j := range t.Verdicts {
				add(&t.Verdicts[j], func(x *trouble) { x.ofTurn(run, a, t, &t.Verdicts[j]) })
			}
		}
		for j := range a.Verdicts {
			add(&a.Verdicts[j], func(x *trouble) { x.of(run, p, a) })
		}
	}
	return list
}

// of fills in what belongs to an attempt whose text was judged.
func (x *trouble) of(run string, p *trace.Phase, a *trace.Attempt) {
	x.Attempt, x.Anchor = attemptName(a), anchor(string(a.Path))
	x.Text = newTextView(run, "text judged", a.Text, textRef{What: "attempt", At: a.Path})
	x.Prompt = promptOf(run, a.Turns)
	if n := len(a.Feedback); n > 0 {
		x.Feedback = newTextView(run, "feedback sent", a.Feedback[n-1], textRef{What: "feedback", At: a.Path, N: n - 1})
	}
	for _, next := range p.Versions() {
		if next.Before == a {
			x.Diff = link(runLink(run, "/diff"), "a", string(a.Path), "b", string(next.Attempt.Path))
		}
	}
}

// ofTurn fills in what belongs to a turn whose text, or a call of which, was
// judged.
func (x *trouble) ofTurn(run string, a *trace.Attempt, t *trace.Turn, v *trace.Verdict) {
	x.Attempt, x.Anchor = attemptName(a)+", turn "+strconv.Itoa(t.Number), anchor(string(a.Path))
	x.Prompt = promptOf(run, []*trace.Turn{t})
	if aroundTool(v) {
		x.ofCall(run, t, v)
		return
	}
	for _, c := range t.Calls {
		if c.Validator == "" && c.Response != nil {
			x.Text = newTextView(run, "text judged", c.Response.Text, textRef{What: "reply", At: c.Path})
		}
	}
}

// ofCall fills in what belongs to a call that was judged, or its result.
func (x *trouble) ofCall(run string, t *trace.Turn, v *trace.Verdict) {
	uses, _ := guardedUses(run, t, true)
	for _, u := range uses {
		if u.Path != v.Path.Up() {
			continue
		}
		x.Attempt += ", tool " + u.Name
		if x.Text = u.Arguments; v.Moment == "result" {
			x.Text = u.Told
		}
	}
}

// promptOf is the address of the last call by the author.
func promptOf(run string, turns []*trace.Turn) string {
	var last event.Path
	for _, t := range turns {
		for _, c := range t.Calls {
			if c.Validator == "" {
				last = c.Path
			}
		}
	}
	if last == "" {
		return ""
	}
	return link(runLink(run, "/call"), "at", string(last))
}
