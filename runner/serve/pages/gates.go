package pages

import (
	"net/http"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/links"
	"github.com/seed61713e19/capstan/runner/serve/queries"
	"github.com/seed61713e19/capstan/runner/serve/views"
)

// A gatesView is how every validator did.
type gatesView struct {
	frame
	Cascade  string
	Cascades []string
	Rows     []gateRow
}

// A gateRow is how one validator did at one moment.
type gateRow struct {
	journal.Gate
	Decided int // verdicts that are a yes or a no
	Bar     views.Bar
	Each    float64 // seconds of one verdict
	Trend   string  // the address of how it did over days
	Noes    string  // that of what it refused
}

func (s *Site) gatesPage(w http.ResponseWriter, r *http.Request) error {
	v := gatesView{frame: s.frame("Gates", "gates"), Cascade: r.URL.Query().Get("cascade")}
	gates, err := s.o.Store.Gates(r.Context(), v.Cascade)
	if err != nil {
		return err
	}
	for _, g := range gates {
		row := gateRow{Gate: g, Decided: g.Passed + g.Rejected}
		row.Trend = links.To("/trends", "cascade", v.Cascade, "gate", g.Validator, "moment", g.Moment)
		row.Noes = links.To("/noes", "cascade", v.Cascade, "gate", g.Validator, "moment", g.Moment)
		if row.Decided > 0 {
			row.Bar.Width = 1000 * float64(g.Passed) / float64(row.Decided)
		}
		if g.Verdicts > 0 {
			row.Each = g.Seconds / float64(g.Verdicts)
		}
		v.Rows = append(v.Rows, row)
	}
	if v.Cascades, err = s.cascadesSeen(r, v.Cascade); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "gates", v)
}

// cascadesSeen are the cascades of the newest runs, and the one that is looked at.
func (s *Site) cascadesSeen(r *http.Request, asked string) ([]string, error) {
	runs, err := s.o.Store.Runs(r.Context(), journal.Filter{Limit: queries.MaxList})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{asked: true}
	var list []string
	if asked != "" {
		list = append(list, asked)
	}
	for _, run := range runs {
		if !seen[run.CascadeID] {
			seen[run.CascadeID] = true
			list = append(list, run.CascadeID)
		}
	}
	return list, nil
}
