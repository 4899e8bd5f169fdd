package pages

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/measures/trust"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// Scales measure the gates of offered cascades.
type Scales interface {
	// Weigh returns the gates, labels and evidence of a cascade as its files are now. Its
	// errors are [syntax.Diagnostics] and errors of reading.
	Weigh(ctx context.Context, cascade string) (*Scale, error)
	// Label stores a person's label of a text, and the text, beside the cascade.
	Label(cascade, text string, l stats.Label) error
}

// A Scale contains the gates, labels and evidence of a cascade.
type Scale struct {
	trust.Question
	Cascade *cascades.Cascade
	Notes   []string // mistakes in the labels
}

// Has reports whether the cascade has a gate of that name, or the gate is "all".
func (s *Scale) Has(gate string) bool {
	return gate == stats.All || slices.ContainsFunc(s.Gates, func(g cascades.Gate) bool { return g.Name == gate })
}

// A measuredView is the common part of the pages about one offered cascade.
type measuredView struct {
	frame
	Cascades []string
	Cascade  string // the offered name; "" if none is selected
	ID       string
	Problem  *orders.Problem // why it cannot be measured
	Notes    []string
}

// weigh returns the scale of the selected cascade. The scale is nil if none is selected, or if
// the cascade cannot be measured.
func (s *Site) weigh(w http.ResponseWriter, r *http.Request, title, here, name string) (measuredView, *Scale, error) {
	v := measuredView{frame: s.frame(title, here), Cascades: s.o.Cascades, Cascade: name}
	if s.o.Scales == nil {
		return v, nil, orders.NotOffered("has no cascades to measure: name them when it is started")
	}
	if v.Cascade == "" && len(s.o.Cascades) == 1 {
		v.Cascade = s.o.Cascades[0]
	}
	if v.Cascade == "" {
		return v, nil, nil
	}
	var scale *Scale
	err := orders.ErrNoCascade
	if slices.Contains(s.o.Cascades, v.Cascade) {
		scale, err = s.o.Scales.Weigh(r.Context(), v.Cascade)
	}
	if err != nil {
		v.Problem = orders.ProblemOf(w, r, err)
		return v, nil, nil
	}
	v.ID, v.Notes = scale.Cascade.ID, scale.Notes
	return v, scale, nil
}

// report returns the measurements of the gates. It also passes each attempt to also.
func (s *Site) report(ctx context.Context, scale *Scale, also func(*journal.Attempt)) (*trust.Result, error) {
	q := scale.Question
	q.Look = also
	report, err := q.Ask(s.o.Store.Attempts(ctx, journal.Filter{Cascade: scale.Cascade.ID}))
	if err != nil {
		return nil, fmt.Errorf("attempts of %s: %w", scale.Cascade.ID, err)
	}
	return report, nil
}
