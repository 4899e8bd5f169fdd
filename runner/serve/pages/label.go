package pages

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/serve/links"
	"github.com/seed61713e19/capstan/runner/serve/problems"
	"github.com/seed61713e19/capstan/runner/serve/queries"
	"github.com/seed61713e19/capstan/runner/serve/views"
	"github.com/seed61713e19/capstan/runner/trust"
)

// A labelView asks a person about one text. What its gates said is told once the
// person has answered, not before: it would sway the answer.
type labelView struct {
	weighed
	labelAsked
	Phases, Gates []string
	Left          int
	Doubt         *trust.Doubt // the text that is asked about, nil where there is none
	Text          string
	Where         string // its place in its run, which tells the verdicts: shown once it is labelled
	Skip          string // the address of the next text
	Told          *toldView
}

// A labelAsked is what one wants to label, and how far one has come.
type labelAsked struct {
	Phase, Gate, By, Order string
	Past                   string // the text that one has just seen
}

// A toldView is what was said of a text that the person has labelled.
type toldView struct {
	trust.Doubt
	Good  bool
	Where string
}

// maxBy bounds the name of a person, in bytes.
const maxBy = 100

func labelAskedOf(get func(string) string) labelAsked {
	a := labelAsked{get("phase"), cmp.Or(get("gate"), measure.All), strings.TrimSpace(get("by")), get("order"), get("past")}
	if len(a.By) > maxBy {
		a.By = strings.ToValidUTF8(a.By[:maxBy], "")
	}
	return a
}

func (a labelAsked) address(cascade string) string {
	return links.To("/label", "cascade", cascade, "phase", a.Phase, "gate", a.Gate, "by", a.By, "order", a.Order, "past", a.Past)
}

func (s *Site) labelPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	known, scale, err := s.weigh(w, r, "Label", "label", q.Get("cascade"))
	if err != nil {
		return err
	}
	v := labelView{weighed: known, labelAsked: labelAskedOf(q.Get)}
	if scale == nil {
		return s.render(w, v.status(), "label", v)
	}
	if !scale.Has(v.Gate) {
		return problems.Query("%s has no gate of that name", v.Cascade)
	}
	v.offer(scale)
	if v.By == "" {
		return s.render(w, http.StatusOK, "label", v)
	}
	doubts, err := s.doubts(r.Context(), scale.Cascade.ID)
	if err != nil {
		return err
	}
	if v.Order == "random" {
		doubts = slices.Clone(doubts)
		trust.Shuffle(doubts)
	}
	v.pick(scale, doubts, q.Get("text"))
	if v.Doubt != nil {
		if v.Text, err = s.text(r.Context(), v.Doubt.RunID, views.Ref{What: "attempt", At: event.Path(v.Doubt.Path)}); err != nil {
			return err
		}
		skipped := v.labelAsked
		skipped.Past = v.Doubt.Text
		v.Skip = skipped.address(v.Cascade)
	}
	return s.render(w, http.StatusOK, "label", v)
}

// offer lists what can be chosen.
func (v *labelView) offer(scale *Scale) {
	v.Gates = []string{measure.All}
	for _, g := range scale.Gates {
		if !slices.Contains(v.Gates, g.Name) {
			v.Gates = append(v.Gates, g.Name)
		}
	}
	for _, p := range scale.Cascade.EveryPhase() {
		if p.Tool == nil && !slices.Contains(v.Phases, p.Name) {
			v.Phases = append(v.Phases, p.Name)
		}
	}
}

// pick takes the text that is asked for, or the first one behind that which was seen
// last that the person has said nothing of; and tells what was said of the one that
// was seen, if the person has labelled it.
func (v *labelView) pick(scale *Scale, doubts []trust.Doubt, asked string) {
	begun := v.Past == ""
	for i := range doubts {
		d := &doubts[i]
		if !scale.Cascade.Writes(d.Phase) || v.Phase != "" && d.Phase != v.Phase {
			continue
		}
		said := scale.Labels.By(v.By, d.Text, d.Phase, v.Gate)
		if d.Text == v.Past {
			begun = true
			if said {
				v.Told = &toldView{Doubt: *d, Good: scale.Labels.Said(v.By, d.Text, d.Phase, v.Gate), Where: links.Attempt(d.RunID, event.Path(d.Path))}
			}
			continue
		}
		if asked != "" && strings.HasPrefix(asked, d.Text) {
			v.Doubt = d
		}
		if said || asked != "" {
			continue
		}
		v.Left++
		if begun && v.Doubt == nil {
			v.Doubt = d
		}
	}
}

// labelForm keeps what a person says of a text, and asks about the next.
func (s *Site) labelForm(w http.ResponseWriter, r *http.Request) error {
	form, err := queries.Form(w, r, 64<<10)
	if err != nil {
		return err
	}
	known, scale, err := s.weigh(w, r, "Label", "label", form("cascade"))
	if err != nil {
		return err
	}
	a := labelAskedOf(form)
	said, about := form("said"), form("of")
	switch {
	case scale == nil:
		return s.render(w, known.status(), "label", labelView{weighed: known, labelAsked: a})
	case a.By == "":
		return problems.New(http.StatusUnprocessableEntity, "invalid_input", "say who you are: a label has a name on it")
	case said != "y" && said != "n" || !scale.Has(a.Gate) || !scale.Cascade.Writes(about):
		return problems.New(http.StatusUnprocessableEntity, "invalid_input", "a label says y or n of a text of a phase, about a gate or all")
	}
	text, err := s.text(r.Context(), form("run"), views.Ref{What: "attempt", At: event.Path(form("at"))})
	if err != nil {
		return err
	}
	l := measure.Label{Phase: about, Gate: a.Gate, Good: said == "y", Reason: strings.TrimSpace(form("reason")), By: a.By}
	l.Text = measure.TextDigest(text)
	if !strings.HasPrefix(l.Text, cmp.Or(form("text"), "-")) {
		return problems.New(http.StatusConflict, "other_text", "the run has another text there than the one that was shown")
	}
	if err := s.o.Scales.Label(known.Cascade, text, l); err != nil {
		return err
	}
	a.Past = l.Text[:journal.TextDigits]
	http.Redirect(w, r, a.address(known.Cascade), http.StatusSeeOther)
	return nil
}

// lately are the texts of the cascade that somebody labelled last: who labels asks
// for them after each one.
type lately struct {
	mu      sync.Mutex
	cascade string
	version int64
	at      time.Time
	doubts  []trust.Doubt
}

// stale is how long texts of new runs may be missing.
const stale = 10 * time.Second

// doubts are the texts that could be labelled; nobody may change them.
func (s *Site) doubts(ctx context.Context, cascade string) ([]trust.Doubt, error) {
	version, err := s.o.Store.Version(ctx)
	if err != nil {
		return nil, err
	}
	l := &s.lately
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cascade == cascade && (l.version == version || time.Since(l.at) < stale) {
		return l.doubts, nil
	}
	at := time.Now()
	doubts, err := trust.Doubts(s.o.Store.Attempts(ctx, journal.Filter{Cascade: cascade}))
	if err != nil {
		return nil, err
	}
	l.cascade, l.version, l.at, l.doubts = cascade, version, at, doubts
	return doubts, nil
}
