package pages

import (
	"net/http"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/graphs"
	"github.com/seed61713e19/capstan/internal/proofs"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

type graphView struct {
	frame
	Head   headView
	Broken string // why there is no drawing
	Proof  string // the paths to tools that write, as a table; "" if no tool writes
	Places []graphs.Spot
}

func (s *Site) graphPage(w http.ResponseWriter, r *http.Request) error {
	run, t, err := s.trees.Load(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	v := graphView{frame: s.frame("Graph · "+run.RunID, "runs"), Head: s.head(run, t)}
	c, err := s.cascadeOf(run)
	if err != nil {
		v.Broken = err.Error()
	} else {
		v.Places = c.Graph(t.Marks()).Spots()
		if p := proofs.Of(c); p.Writers > 0 || p.TooLarge {
			v.Proof = p.Text()
		}
	}
	return s.render(w, http.StatusOK, "graph", v)
}

// graphSVG draws the cascade of a run and the path of the run, as a picture for an img element.
func (s *Site) graphSVG(w http.ResponseWriter, r *http.Request) error {
	return s.picture(w, r, func(c *cascades.Cascade, t *trace.Run) string { return c.Graph(t.Marks()).SVG() })
}

// proofSVG draws the paths to tools that write.
func (s *Site) proofSVG(w http.ResponseWriter, r *http.Request) error {
	return s.picture(w, r, func(c *cascades.Cascade, _ *trace.Run) string { return proofs.Of(c).Graph().SVG() })
}

func (s *Site) picture(w http.ResponseWriter, r *http.Request, draw func(*cascades.Cascade, *trace.Run) string) error {
	run, t, err := s.trees.Load(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	c, err := s.cascadeOf(run)
	if err != nil {
		return orders.NewProblem(http.StatusNotFound, "no_graph", "the run's cascade cannot be drawn: "+err.Error())
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox")
	w.Write([]byte(draw(c, t)))
	return nil
}

func (s *Site) cascadeOf(run *journal.Run) (*cascades.Cascade, error) {
	return s.o.Runner.Unpack(run.Start.Files)
}
