package pages

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/measures/trust"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// A labelView asks a person about one text. It shows the verdicts of the gates after the
// answer, because earlier verdicts would influence the person.
type labelView struct {
	measuredView
	labelQuery
	Phases, Gates []string
	Left          int
	Candidate     *trust.Candidate // nil if there is none
	Text          string
	Where         string // its place in the run, which shows the verdicts; shown after the answer
	Skip          string // the address of the next text
	Answered      *answeredView
}

// A labelQuery is the selection of texts.
type labelQuery struct {
	Phase, Gate, By, Order string
	Past                   string // the digest of the previous text
}

// An answeredView is a text that the person has labelled.
type answeredView struct {
	trust.Candidate
	Good  bool
	Where string
}

// maxBy is the maximum length of a person's name, in bytes.
const maxBy = 100

func labelQueryOf(get func(string) string) labelQuery {
	a := labelQuery{get("phase"), cmp.Or(get("gate"), stats.All), strings.TrimSpace(get("by")), stats.Random, get("past")}
	if get("order") == stats.Disagreement {
		a.Order = stats.Disagreement
	}
	if len(a.By) > maxBy {
		a.By = strings.ToValidUTF8(a.By[:maxBy], "")
	}
	return a
}

func (a labelQuery) address(cascade string) string {
	return link("/label", "cascade", cascade, "phase", a.Phase, "gate", a.Gate, "by", a.By, "order", a.Order, "past", a.Past)
}

func (s *Site) labelPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	known, scale, err := s.weigh(w, r, "Label", "label", q.Get("cascade"))
	if err != nil {
		return err
	}
	v := labelView{measuredView: known, labelQuery: labelQueryOf(q.Get)}
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
		skipped := v.labelQuery
		skipped.Past = v.Candidate.Text
		v.Skip = skipped.address(v.Cascade)
	}
	return s.render(w, http.StatusOK, "label", v)
}

// offer lists the phases and gates for selection.
func (v *labelView) offer(scale *Scale) {
	v.Gates = []string{stats.All}
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

// draw returns the texts to label in the requested order, including the previous text.
func (a labelQuery) draw(scale *Scale, all []trust.Candidate) []trust.Candidate {
	own := slices.DeleteFunc(slices.Clone(all), func(c trust.Candidate) bool {
		return !scale.Cascade.Writes(c.Phase) || a.Phase != "" && c.Phase != a.Phase
	})
	return trust.Draw(own, a.Order, func(c trust.Candidate) (l stats.Label, found bool) {
		if c.Text == a.Past {
			return l, false
		}
		return scale.Labels.By(a.By, c.Text, c.Phase, a.Gate)
	})
}

// pick selects the named text, or the first drawn text that was not skipped. It shows the
// verdicts on the previous text if the person has labelled it.
func (v *labelView) pick(scale *Scale, all []trust.Candidate, named string) {
	for i := range all {
		c := &all[i]
		switch l, found := scale.Labels.By(v.By, c.Text, c.Phase, v.Gate); {
		case c.Text == v.Past && found && scale.Cascade.Writes(c.Phase):
			v.Answered = &answeredView{Candidate: *c, Good: l.Good, Where: attemptLink(c.RunID, event.Path(c.Path))}
		case named != "" && strings.HasPrefix(named, c.Text) && (v.Phase == "" || c.Phase == v.Phase):
			draw := stats.Draw{Order: stats.Chosen}
			v.Candidate = &trust.Candidate{RunID: c.RunID, Path: c.Path, Phase: c.Phase, Text: c.Text, Draw: draw}
		}
	}
	if named != "" {
		return
	}
	left := v.draw(scale, all)
	v.Left = len(left)
	// Skipped texts come before the previous text.
	if v.Answered != nil {
		v.Left--
	}
	if at := slices.IndexFunc(left, func(c trust.Candidate) bool { return c.Text == v.Past }); at >= 0 {
		left = left[at+1:]
	}
	if len(left) > 0 {
		v.Candidate = &left[0]
	}
}

// drawOf returns how the labelled text was selected. A label that replaces another keeps the
// draw of that.
func (s *Site) drawOf(ctx context.Context, scale *Scale, a labelQuery, order, phase, text string) (*stats.Draw, error) {
	if l, found := scale.Labels.By(a.By, text, phase, a.Gate); found && l.Draw != nil && order == stats.Chosen {
		return l.Draw, nil
	}
	chosen := &stats.Draw{Order: stats.Chosen}
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

// labelForm stores a label and shows the next text.
func (s *Site) labelForm(w http.ResponseWriter, r *http.Request) error {
	form, err := api.Form(w, r, 64<<10)
	if err != nil {
		return err
	}
	known, scale, err := s.weigh(w, r, "Label", "label", form("cascade"))
	if err != nil {
		return err
	}
	a := labelQueryOf(form)
	answer, about := form("said"), form("of")
	switch {
	case scale == nil:
		return s.render(w, known.status(), "label", labelView{measuredView: known, labelQuery: a})
	case a.By == "":
		return orders.NewProblem(http.StatusUnprocessableEntity, "invalid_input", "say who you are: a label has a name on it")
	case answer != "y" && answer != "n" || !scale.Has(a.Gate) || !scale.Cascade.Writes(about):
		return orders.NewProblem(http.StatusUnprocessableEntity, "invalid_input", "a label says y or n of a text of a phase, about a gate or all")
	}
	text, err := s.text(r.Context(), form("run"), textRef{What: "attempt", At: event.Path(form("at"))})
	if err != nil {
		return err
	}
	l := stats.Label{Phase: about, Gate: a.Gate, Good: answer == "y", Reason: strings.TrimSpace(form("reason")), By: a.By}
	l.Text = stats.TextDigest(text)
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

// maxCandidatesAge is the time after which texts of new runs appear.
const maxCandidatesAge = 10 * time.Second

// candidates returns the texts that can be labelled. Nobody may change them.
func (s *Site) candidates(ctx context.Context, cascade string) ([]trust.Candidate, error) {
	return s.recent.get(ctx, s.o.Store, cascade, maxCandidatesAge, func() ([]trust.Candidate, error) {
		return trust.Candidates(s.o.Store.Attempts(ctx, journal.Filter{Cascade: cascade}))
	})
}
