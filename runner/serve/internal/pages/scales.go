package pages

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/runner/trust"
)

// Scales weigh the gates of offered cascades.
type Scales interface {
	// Weigh gives what a cascade is weighed with, as its files, labels and evidence
	// are now. Its errors are [orders.ErrNoCascade], [cascades.Diagnostics] and those of
	// what is read.
	Weigh(ctx context.Context, cascade string) (*Scale, error)
	// Label keeps a person's word on a text beside the cascade, and the text.
	Label(cascade, text string, l measure.Label) error
}

// A Scale is what a cascade is weighed with.
type Scale struct {
	trust.Question
	Cascade *cascades.Cascade
	Notes   []string // what is wrong with its labels, for people
}

// Has tells whether the cascade has a gate of that name; all is every text's.
func (s *Scale) Has(gate string) bool {
	return gate == measure.All || slices.ContainsFunc(s.Gates, func(g cascades.Gate) bool { return g.Name == gate })
}

// A weighed is what pages about one offered cascade have in common.
type weighed struct {
	frame
	Cascades []string
	Cascade  string // the name that it is offered under; "" where it is still to be chosen
	ID       string
	Problem  *orders.Problem // why it cannot be weighed
	Notes    []string
}

// weigh reads which cascade a page is about and gives its scale, nil where none was
// chosen or it cannot be weighed, which the page then says.
func (s *Site) weigh(w http.ResponseWriter, r *http.Request, title, here, name string) (weighed, *Scale, error) {
	v := weighed{frame: s.frame(title, here), Cascades: s.o.Cascades, Cascade: name}
	if s.o.Scales == nil {
		return v, nil, orders.NotOffered("has no cascades to measure: name them when it is started")
	}
	if v.Cascade == "" && len(s.o.Cascades) == 1 {
		v.Cascade = s.o.Cascades[0]
	}
	if v.Cascade == "" {
		return v, nil, nil
	}
	scale, err := s.o.Scales.Weigh(r.Context(), v.Cascade)
	if err != nil {
		v.Problem = orders.ProblemOf(s.o.Log, w, r, err)
		return v, nil, nil
	}
	v.ID, v.Notes = scale.Cascade.ID, scale.Notes
	return v, scale, nil
}

// report asks trust, and tells who else wants them of the attempts.
func (s *Site) report(ctx context.Context, scale *Scale, also func(*journal.Attempt)) (*trust.Report, error) {
	q := scale.Question
	q.Look = also
	report, err := q.Ask(s.o.Store.Attempts(ctx, journal.Filter{Cascade: scale.Cascade.ID}))
	if err != nil {
		return nil, fmt.Errorf("attempts of %s: %w", scale.Cascade.ID, err)
	}
	return report, nil
}
