package pages

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

type gatesView struct {
	frame
	Cascade  string
	Cascades []string
	Rows     []gateRow
}

// A gateRow has the numbers of one validator at one moment.
type gateRow struct {
	journal.Gate
	Decided    int // passed and failed verdicts
	Bar        timeBar
	Each       float64 // seconds per verdict
	Trend      string  // the address of its trend
	Rejections string  // the address of its rejections
}

func (s *Site) gatesPage(w http.ResponseWriter, r *http.Request) error {
	v := gatesView{frame: s.frame("Gates", "gates"), Cascade: r.URL.Query().Get("cascade")}
	gates, err := s.o.Store.Gates(r.Context(), v.Cascade)
	if err != nil {
		return err
	}
	for _, g := range gates {
		row := gateRow{Gate: g, Decided: g.Passed + g.Rejected}
		row.Trend = link("/trends", "cascade", v.Cascade, "gate", g.Validator, "moment", g.Moment)
		row.Rejections = link("/rejections", "cascade", v.Cascade, "gate", g.Validator, "moment", g.Moment)
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
	return s.render(w, http.StatusOK, "gates", v)
}

// cascadesSeen returns the cascades of the newest runs, and the selected one.
func (s *Site) cascadesSeen(r *http.Request, asked string) ([]string, error) {
	runs, err := s.o.Store.Runs(r.Context(), journal.Filter{Limit: api.MaxList})
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

type rejectionsView struct {
	frame
	Scope
	Since, Until time.Time
	Rows         []rejection
	Earlier      int // number of older rejections
	Trend        string
}

// A rejection is a failed verdict or a gate without a verdict.
type rejection struct {
	journal.Judgement
	RunID, Phase string
	Attempt      int
	URL          string
	Long         bool // only the run has the complete reason
}

// maxRejections is the number of rejections on the page, the newest ones.
const maxRejections = 200

// rejectionsPage lists the rejections of a gate in the runs that began between two times.
func (s *Site) rejectionsPage(w http.ResponseWriter, r *http.Request) error {
	v := rejectionsView{frame: s.frame("Rejections", "trends"), Scope: scopeOf(r)}
	if v.Gate == "" {
		return orders.BadQuery("gate must be given: the name of a validator")
	}
	var err error
	if v.Since, v.Until, err = api.Between(r.URL.Query()); err != nil {
		return err
	}
	v.Trend = link("/trends", "cascade", v.Cascade, "phase", v.Phase, "gate", v.Gate, "moment", v.Moment)
	f := journal.Filter{Cascade: v.Cascade, Since: v.Since, Until: v.Until, Limit: maxTrendRuns}
	for a, err := range s.o.Store.Attempts(r.Context(), f) {
		if err != nil {
			return err
		}
		for _, g := range a.Verdicts {
			if g.Validator != v.Gate || v.Moment != "" && g.Moment != v.Moment || v.Phase != "" && a.Phase != v.Phase || g.Valid == nil && !g.Broke || g.Valid != nil && *g.Valid {
				continue
			}
			v.Rows = append(v.Rows, rejection{g, a.RunID, a.Phase, a.Number, attemptLink(a.RunID, a.Path), strings.HasPrefix(g.Reason, "#text:")})
			if len(v.Rows) >= 2*maxRejections {
				v.Earlier += len(v.Rows) - maxRejections
				v.Rows = append(v.Rows[:0], v.Rows[len(v.Rows)-maxRejections:]...)
			}
		}
	}
	if n := len(v.Rows); n > maxRejections {
		v.Earlier += n - maxRejections
		v.Rows = v.Rows[n-maxRejections:]
	}
	slices.Reverse(v.Rows)
	return s.render(w, http.StatusOK, "refused", v)
}

func rejectionsAddress(s Scope, since, until time.Time) string {
	return link("/rejections", "cascade", s.Cascade, "phase", s.Phase, "gate", s.Gate, "moment", s.Moment, "since", since.Format(time.RFC3339), "until", until.Format(time.RFC3339))
}
