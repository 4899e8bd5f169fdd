package pages

import (
	"strconv"

	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
)

// shortText is the maximum size of a text that a page shows whole, in bytes.
const shortText = 16 << 10

// A textRef names one text of a run.
type textRef struct {
	What string // the kind of the text: see In
	At   event.Path
	N    int
}

type textView struct {
	Label string
	Text  string // "" if the text is long
	Size  int
	Long  bool
	URL   string // the address of the first piece
	Raw   string
}

func newTextView(run, label, text string, r textRef) textView {
	v := textView{Label: label, Size: len(text), Long: len(text) > shortText, URL: r.URL(run, "/text"), Raw: r.URL(run, "/raw")}
	if !v.Long {
		v.Text = text
	}
	return v
}

// URL returns the address of the text below its run: "/text" or "/raw".
func (r textRef) URL(run, page string) string {
	n := ""
	if r.N > 0 {
		n = strconv.Itoa(r.N)
	}
	return link(runLink(run, page), "what", r.What, "at", string(r.At), "n", n)
}

// In returns the text if the phase itself contains it.
func (r textRef) In(p *trace.Phase) (string, bool) {
	if p.Path == r.At && r.What == "output" {
		return prettyJSON(p.Output), true
	}
	text, ok := "", false
	p.Visit(trace.Visitor{
		Attempt: func(a *trace.Attempt) {
			if a.Path != r.At {
				return
			}
			switch {
			case r.What == "attempt":
				text, ok = a.Text, true
			case r.What == "feedback" && r.N >= 0 && r.N < len(a.Feedback):
				text, ok = a.Feedback[r.N], true
			}
		},
		Call: func(c *trace.Call) {
			switch {
			case c.Path != r.At || c.Response == nil:
			case r.What == "reply":
				text, ok = c.Response.Text, true
			case r.What == "thinking":
				text, ok = c.Response.Thinking, true
			}
		},
		Use: func(u *trace.Use) {
			switch {
			case u.Path != r.At:
			case r.What == "arguments" && u.Call != nil:
				text, ok = prettyJSON(u.Call.Arguments), true
			case r.What == "tool_result" && u.Result != nil:
				text, ok = prettyJSON(u.Result.Value), true
			}
		},
		Verdict: func(v *trace.Verdict) {
			if v.Path != r.At {
				return
			}
			switch r.What {
			case "reason":
				text, ok = v.Reason, true
			case "fix":
				text, ok = v.Fix, true
			case "evidence":
				text, ok = prettyJSON(v.Evidence), true
			case "details":
				text, ok = prettyJSON(v.Details), true
			}
		},
	})
	return text, ok
}
