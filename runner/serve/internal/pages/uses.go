package pages

import (
	"slices"
	"time"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A use is a tool call with the verdicts of its wards.
type use struct {
	Path      event.Path
	Name      string
	Took      time.Duration
	State     string // refused, not made, withheld, failed, judged, or "" for a normal call
	Arguments textView
	Output    textView
	Verdicts  []verdictView
}

// Open reports whether the page shows the call unfolded.
func (u use) Open() bool { return u.State == "refused" || u.State == "withheld" }

// Status returns the status whose colour the call has.
func (u use) Status() string {
	switch u.State {
	case "refused", "withheld":
		return "rejected"
	case "not made":
		return "cancelled"
	case "judged":
		return "running"
	}
	return u.State
}

func newUses(run string, uses []*trace.Use) []use {
	var list []use
	for _, u := range uses {
		v := use{Path: u.Path, Took: u.Took()}
		if u.Call != nil {
			v.Name = u.Call.Name
			v.Arguments = newTextView(run, "arguments", prettyJSON(u.Call.Arguments), textRef{What: "arguments", At: u.Path})
		}
		if u.Result != nil {
			if u.Result.Failed {
				v.State = "failed"
			}
			v.Output = newTextView(run, "result", prettyJSON(u.Result.Value), textRef{What: "tool_result", At: u.Path})
		}
		list = append(list, v)
	}
	return list
}

// guardedUses returns the calls of a turn with the verdicts of their wards, including the
// calls that were not made. It also returns the other verdicts of the turn. The argument
// over reports whether the attempt has ended.
func guardedUses(run string, t *trace.Turn, over bool) (uses []use, others []verdictView) {
	uses = newUses(run, t.Tools)
	for i := range t.Verdicts {
		from := &t.Verdicts[i]
		v := newVerdict(run, from)
		if !aroundTool(from) {
			others = append(others, v)
			continue
		}
		at := from.Path.Parent()
		n := slices.IndexFunc(uses, func(u use) bool { return u.Path == at })
		if n < 0 {
			n = len(uses)
			uses = append(uses, unmade(t, at, over))
		}
		uses[n].judge(from, v)
	}
	return uses, others
}

// aroundTool reports whether a verdict belongs to a call or its result.
func aroundTool(v *trace.Verdict) bool { return v.Moment == "tool" || v.Moment == "result" }

// judge adds a verdict to the call and updates its state.
func (u *use) judge(from *trace.Verdict, v verdictView) {
	u.Verdicts = append(u.Verdicts, v)
	if from.Skipped() || from.Valid != nil && *from.Valid || from.NonBinding() {
		return
	}
	switch {
	case from.Moment == "tool":
		u.State = "refused"
	case u.State != "refused":
		u.State = "withheld"
	}
}

// unmade returns a call that was judged and not made.
func unmade(t *trace.Turn, at event.Path, over bool) use {
	u := use{Path: at, State: "judged"}
	if over {
		u.State = "not made"
	}
	if c := wanted(t, at); c != nil {
		u.Name, u.Arguments = c.Name, textView{Label: "arguments", Text: clips.Bytes(c.Arguments, shortText), Size: len(c.Arguments)}
	}
	return u
}

// wanted returns the call at a path as the model wrote it. Paths number the calls of all
// messages of a turn.
func wanted(t *trace.Turn, at event.Path) *model.ToolCall {
	_, n, numbered := event.SplitIndex(at.Last())
	if !numbered {
		return nil
	}
	for _, c := range t.Calls {
		if c.Validator != "" || c.Response == nil || c.From() != at.Parent() {
			continue
		}
		if calls := c.Response.ToolCalls; n < len(calls) {
			return &calls[n]
		}
		n -= len(c.Response.ToolCalls)
	}
	return nil
}
