package pages

import (
	"maps"
	"net/http"
	"reflect"

	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// A diffPageView is the difference between two texts.
type diffPageView struct {
	frame
	RunID string
	Title string
	A, B  string // the names of the texts
	Diff  comparison
	Back  string
}

// diffPage compares the texts of two attempts.
func (s *Site) diffPage(w http.ResponseWriter, r *http.Request) error {
	id, q := r.PathValue("id"), r.URL.Query()
	_, t, err := s.trees.Load(r.Context(), id)
	if err != nil {
		return err
	}
	a, b := t.Attempt(event.Path(q.Get("a"))), t.Attempt(event.Path(q.Get("b")))
	if a == nil || b == nil {
		return orders.NewProblem(http.StatusNotFound, "not_found", "the run has no such attempts")
	}
	v := diffPageView{
		frame: s.frame("Difference · "+id, "runs"), RunID: id, Title: "What changed", A: string(a.Path), B: string(b.Path),
		Diff: compareTexts(a.Text, b.Text), Back: runLink(id) + "?open=" + b.Path.First() + "#" + anchor(string(b.Path)),
	}
	return s.renderPart(w, r, http.StatusOK, "diff", v)
}

type compareView struct {
	frame
	A, B  *side
	IDs   [2]string
	Rows  []compareRow
	Input comparison
	Alike int  // number of rows without a difference, which are left out
	All   bool // nothing is left out
	URL   string
}

// InputPage returns the difference of the inputs.
func (v compareView) InputPage() diffPageView { return diffPageView{Diff: v.Input} }

// A side is one of the two runs.
type side struct {
	Head       headView
	Rejections int
	Errors     int
	Turns      int
}

// A compareRow is one phase of both runs; nil if a run did not visit it.
type compareRow struct {
	Path    event.Path
	A, B    *phaseRow
	Output  string // differs, the same, none, or only in one
	Differs bool
	Diff    string // the address of the difference
}

func (s *Site) comparePage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	ids := [2]string{q.Get("a"), q.Get("b")}
	if picked := q["run"]; len(picked) >= 2 {
		ids = [2]string{picked[1], picked[0]} // the list has the newest run first
	} else if len(picked) == 1 {
		ids[0] = picked[0]
	}
	v := compareView{frame: s.frame("Compare", "compare"), IDs: ids, All: q.Get("all") != ""}
	if ids[0] == "" || ids[1] == "" {
		return s.render(w, http.StatusOK, "compare", v)
	}
	a, ta, err := s.side(r, ids[0])
	if err != nil {
		return err
	}
	b, tb, err := s.side(r, ids[1])
	if err != nil {
		return err
	}
	v.A, v.B, v.IDs = a, b, [2]string{a.Head.RunID, b.Head.RunID}
	v.URL = link("/compare", "a", v.IDs[0], "b", v.IDs[1])
	if at := q.Get("at"); at != "" {
		return s.outputDiff(w, r, v, at, ta, tb)
	}
	v.Input = compareTexts(prettyJSON(s.filled(r, a, ta)), prettyJSON(s.filled(r, b, tb)))
	for _, row := range align(v.IDs, ta, tb) {
		if !v.All && !row.Differs {
			v.Alike++
			continue
		}
		v.Rows = append(v.Rows, row)
	}
	return s.render(w, http.StatusOK, "compare", v)
}

// filled returns the input of a run with the defaults of missing values.
func (s *Site) filled(r *http.Request, x *side, t *trace.Run) map[string]any {
	input := map[string]any{}
	maps.Copy(input, t.Input)
	run, err := s.o.Store.Run(r.Context(), x.Head.RunID)
	if err != nil {
		return input
	}
	c, err := s.cascadeOf(run)
	if err != nil {
		return input
	}
	for _, in := range c.Inputs {
		if _, given := input[in.Name]; !given && in.HasDefault {
			input[in.Name] = in.Default
		}
	}
	return input
}

func (s *Site) side(r *http.Request, id string) (*side, *trace.Run, error) {
	run, t, err := s.trees.Load(r.Context(), id)
	if err != nil {
		return nil, nil, err
	}
	x := &side{Head: s.head(run, t)}
	for _, p := range t.Phases {
		row := newPhaseRow(id, p, t.Started, t.Finished)
		x.Rejections += row.Rejections
		x.Errors += row.Errors
		x.Turns += row.Turns
	}
	return x, t, nil
}

// align returns the phases of both runs by their paths, in the order of the first run. The
// phases that only the second run visited follow.
func align(ids [2]string, ta, tb *trace.Run) []compareRow {
	second := map[event.Path]*trace.Phase{}
	for _, p := range tb.Phases {
		second[p.Path] = p
	}
	var rows []compareRow
	for _, p := range ta.Phases {
		rows = append(rows, newCompareRow(ids, p, second[p.Path], ta, tb))
		delete(second, p.Path)
	}
	for _, p := range tb.Phases {
		if second[p.Path] != nil {
			rows = append(rows, newCompareRow(ids, nil, p, ta, tb))
		}
	}
	return rows
}

func newCompareRow(ids [2]string, a, b *trace.Phase, ta, tb *trace.Run) compareRow {
	row := compareRow{Output: "only in one", Differs: true}
	if a != nil {
		x := newPhaseRow(ids[0], a, ta.Started, ta.Finished)
		row.Path, row.A = a.Path, &x
	}
	if b != nil {
		x := newPhaseRow(ids[1], b, tb.Started, tb.Finished)
		row.Path, row.B = b.Path, &x
	}
	if a == nil || b == nil {
		return row
	}
	same := reflect.DeepEqual(a.Output, b.Output)
	row.Output = "differs"
	switch {
	case same && a.Output == nil:
		row.Output = "none"
	case same:
		row.Output = "the same"
	default:
		row.Diff = link("/compare", "a", ids[0], "b", ids[1], "at", string(a.Path))
	}
	row.Differs = !same || a.Status != b.Status || row.A.Attempts != row.B.Attempts || row.A.Turns != row.B.Turns ||
		row.A.Rejections != row.B.Rejections || row.A.Errors != row.B.Errors
	return row
}

// outputDiff compares the outputs of one phase of both runs.
func (s *Site) outputDiff(w http.ResponseWriter, r *http.Request, v compareView, at string, ta, tb *trace.Run) error {
	text := func(t *trace.Run) string {
		for _, p := range t.Phases {
			if string(p.Path) == at {
				return prettyJSON(p.Output)
			}
		}
		return ""
	}
	page := diffPageView{
		frame: s.frame("Difference", "compare"), RunID: v.IDs[1], Title: "The output of " + at, A: v.IDs[0], B: v.IDs[1],
		Diff: compareTexts(text(ta), text(tb)), Back: v.URL,
	}
	return s.renderPart(w, r, http.StatusOK, "diff", page)
}
