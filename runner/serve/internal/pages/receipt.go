package pages

import (
	"net/http"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/receipt"
	"github.com/seed61713e19/capstan/runner/trace"
)

// A receiptView is what a receipt of a run's text would say. The server has no key
// and signs nothing.
type receiptView struct {
	frame
	Head   headView
	Claim  receipt.Claim
	Raw    string // the address of the exact text
	Broken string // why there is none
	Hidden bool   // a secret stood in the text, and the run was kept without it
}

// receiptPage shows what of a released text can be proved, and how.
func (s *Site) receiptPage(w http.ResponseWriter, r *http.Request) error {
	run, err := s.o.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	v := receiptView{frame: s.frame("Receipt · "+run.RunID, "runs"), Head: headView{RunID: run.RunID, Cascade: run.CascadeID, URL: runLink(run.RunID)}}
	c, err := s.cascadeOf(run)
	if err != nil {
		v.Broken = err.Error()
		return s.render(w, http.StatusOK, "receipt", v)
	}
	gates, err := run.Start.Gates(c)
	if err != nil {
		return err
	}
	t, err := trace.Fold(s.o.Store.Events(r.Context(), run.RunID, 0, journal.Marked))
	if err != nil {
		return err
	}
	if v.Claim, err = receipt.Of(receipt.Run{Run: t, Cascade: c, Gates: gates, Program: receipt.Program{Version: "the server"}}, ""); err != nil {
		v.Broken = err.Error()
		return s.render(w, http.StatusOK, "receipt", v)
	}
	if a := t.Attempt(event.Path(v.Claim.Path)); a != nil {
		v.Hidden = journal.Redacted(a.Text)
		v.Raw = textRef{What: "attempt", At: a.Path}.URL(run.RunID, "/raw")
	}
	return s.render(w, http.StatusOK, "receipt", v)
}
