package pages

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
)

// A trouble is a verdict that rejected a text, or a check without a verdict, with links to the
// text, the prompt and the feedback.
type trouble struct {
	Verdict  verdictView
	Phase    string
	Attempt  string
	Anchor   string   // of the attempt
	Where    string   // the page with the anchor
	Text     textView // the judged text
	Prompt   string   // the address of the call that wrote the text; may be ""
	Feedback textView // the feedback to the model
	Diff     string   // the address of the change in the next attempt
}

// A troubles is the list at the top of a run's page.
type troubles struct {
	Status string // of the run
	List   []trouble
	Count  int // including those that are not shown
	More   int // that are not shown
}

// maxTroubles is the maximum number of troubles on a page.
const maxTroubles = 5

// newTroubles returns the newest troubles, the last one first.
func newTroubles(run string, t *trace.Run) troubles {
	v := troubles{Status: t.Status, List: allTroubles(run, t)}
	v.Count = len(v.List)
	if n := len(v.List); n > maxTroubles {
		v.List, v.More = v.List[n-maxTroubles:], n-maxTroubles
	}
	slices.Reverse(v.List)
	return v
}

// allTroubles returns the troubles of the last phase with troubles. Advisory checks count only
// if no other check failed.
func allTroubles(run string, t *trace.Run) []trouble {
	for i := len(t.Phases) - 1; i >= 0; i-- {
		var list, advisory []trouble
		for p := range within(t.Phases[i]) {
			for _, x := range phaseTroubles(run, p) {
				x.Where = "?open=" + url.QueryEscape(string(p.Path))
				if p != t.Phases[i] {
					x.Where = phaseLink(run, p.Path) // the timeline does not show this phase
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

// within iterates over a phase and its inner phases.
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

// of adds the data of the judged attempt.
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

// ofTurn adds the data of the turn whose text or call was judged.
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

// ofCall adds the data of the judged call or result.
func (x *trouble) ofCall(run string, t *trace.Turn, v *trace.Verdict) {
	uses, _ := guardedUses(run, t, true)
	for _, u := range uses {
		if u.Path != v.Path.Parent() {
			continue
		}
		x.Attempt += ", tool " + u.Name
		if x.Text = u.Arguments; v.Moment == "result" {
			x.Text = u.Output
		}
	}
}

// promptOf returns the address of the author's last call.
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
