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
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/runner/trust"
)

// A labelView asks a person about one text. What its gates said is told once the
// person has answered, not before: it would sway the answer.
type labelView struct {
	weighed
	labelAsked
	Phases, Gates []string
	Left          int
	Candidate     *trust.Candidate // the text that is asked about, nil where there is none
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
	trust.Candidate
	Good  bool
	Where string
}

// maxBy bounds the name of a person, in bytes.
const maxBy = 100

func labelAskedOf(get func(string) string) labelAsked {
	a := labelAsked{get("phase"), cmp.Or(get("gate"), measure.All), strings.TrimSpace(get("by")), measure.Random, get("past")}
	if get("order") == measure.Disagreement {
		a.Order = measure.Disagreement
	}
	if len(a.By) > maxBy {
		a.By = strings.ToValidUTF8(a.By[:maxBy], "")
	}
	return a
}

func (a labelAsked) address(cascade string) string {
	return link("/label", "cascade", cascade, "phase", a.Phase, "gate", a.Gate, "by", a.By, "order", a.Order, "past", a.Past)
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
		return orders.BadQuery("%s has no gate of that name", v.Cascade)
	}
	v.offer(scale)
	if v.By == "" {
		return s.render(w, http.StatusOK, "label", v)
	}
	all, err := s.candidates(r.Context(), scale.Cascade.ID)
	if err != nil {
		return err
	}
	v.pick(scale, all, q.Get("text"))
	if v.Candidate != nil {
		if v.Text, err = s.text(r.Context(), v.Candidate.RunID, textRef{What: "attempt", At: event.Path(v.Candidate.Path)}); err != nil {
			return err
		}
		skipped := v.labelAsked
		skipped.Past = v.Candidate.Text
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

// draw returns the texts to label in the requested order, including the text that was
// shown last.
func (a labelAsked) draw(scale *Scale, all []trust.Candidate) []trust.Candidate {
	own := slices.DeleteFunc(slices.Clone(all), func(c trust.Candidate) bool {
		return !scale.Cascade.Writes(c.Phase) || a.Phase != "" && c.Phase != a.Phase
	})
	return trust.Draw(own, a.Order, func(c trust.Candidate) (l measure.Label, found bool) {
		if c.Text == a.Past {
			return l, false
		}
		return scale.Labels.By(a.By, c.Text, c.Phase, a.Gate)
	})
}

// pick takes the text that is named, or the first of the drawn texts that was not
// skipped. It shows the verdicts on the text before, if the person has labelled it.
func (v *labelView) pick(scale *Scale, all []trust.Candidate, named string) {
	for i := range all {
		c := &all[i]
		switch l, found := scale.Labels.By(v.By, c.Text, c.Phase, v.Gate); {
		case c.Text == v.Past && found && scale.Cascade.Writes(c.Phase):
			v.Told = &toldView{Candidate: *c, Good: l.Good, Where: attemptLink(c.RunID, event.Path(c.Path))}
		case named != "" && strings.HasPrefix(named, c.Text) && (v.Phase == "" || c.Phase == v.Phase):
			draw := measure.Draw{Order: measure.Chosen}
			v.Candidate = &trust.Candidate{RunID: c.RunID, Path: c.Path, Phase: c.Phase, Text: c.Text, Draw: draw}
		}
	}
	if named != "" {
		return
	}
	left := v.draw(scale, all)
	v.Left = len(left)
	// What was skipped comes before the text that was seen last, or is it.
	if v.Told != nil {
		v.Left--
	}
	if at := slices.IndexFunc(left, func(c trust.Candidate) bool { return c.Text == v.Past }); at >= 0 {
		left = left[at+1:]
	}
	if len(left) > 0 {
		v.Candidate = &left[0]
	}
}

// drawOf returns how the text of a label came to be shown. Only who labels the text that
// was drawn has drawn it. A label that replaces another keeps the draw of that.
func (s *Site) drawOf(ctx context.Context, scale *Scale, a labelAsked, order, phase, text string) (*measure.Draw, error) {
	if l, found := scale.Labels.By(a.By, text, phase, a.Gate); found && l.Draw != nil && order == measure.Chosen {
		return l.Draw, nil
	}
	chosen := &measure.Draw{Order: measure.Chosen}
	if order != a.Order {
		return chosen, nil
	}
	all, err := s.candidates(ctx, scale.Cascade.ID)
	if err != nil {
		return nil, err
	}
	left := a.draw(scale, all)
	at := slices.IndexFunc(left, func(c trust.Candidate) bool { return c.Phase == phase && strings.HasPrefix(text, c.Text) })
	if at < 0 {
		return chosen, nil
	}
	return &left[at].Draw, nil
}

// labelForm keeps what a person says of a text, and asks about the next.
func (s *Site) labelForm(w http.ResponseWriter, r *http.Request) error {
	form, err := api.Form(w, r, 64<<10)
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
		return orders.NewProblem(http.StatusUnprocessableEntity, "invalid_input", "say who you are: a label has a name on it")
	case said != "y" && said != "n" || !scale.Has(a.Gate) || !scale.Cascade.Writes(about):
		return orders.NewProblem(http.StatusUnprocessableEntity, "invalid_input", "a label says y or n of a text of a phase, about a gate or all")
	}
	text, err := s.text(r.Context(), form("run"), textRef{What: "attempt", At: event.Path(form("at"))})
	if err != nil {
		return err
	}
	l := measure.Label{Phase: about, Gate: a.Gate, Good: said == "y", Reason: strings.TrimSpace(form("reason")), By: a.By}
	l.Text = measure.TextDigest(text)
	if l.Draw, err = s.drawOf(r.Context(), scale, a, form("draw"), about, l.Text); err != nil {
		return err
	}
	if !strings.HasPrefix(l.Text, cmp.Or(form("text"), "-")) {
		return orders.NewProblem(http.StatusConflict, "other_text", "the run has another text there than the one that was shown")
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
	all     []trust.Candidate
}

// stale is how long texts of new runs may be missing.
const stale = 10 * time.Second

// candidates returns the texts that could be labelled; nobody may change them.
func (s *Site) candidates(ctx context.Context, cascade string) ([]trust.Candidate, error) {
	version, err := s.o.Store.Version(ctx)
	if err != nil {
		return nil, err
	}
	l := &s.lately
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cascade == cascade && (l.version == version || time.Since(l.at) < stale) {
		return l.all, nil
	}
	at := time.Now()
	all, err := trust.Candidates(s.o.Store.Attempts(ctx, journal.Filter{Cascade: cascade}))
	if err != nil {
		return nil, err
	}
	l.cascade, l.version, l.at, l.all = cascade, version, at, all
	return all, nil
}
