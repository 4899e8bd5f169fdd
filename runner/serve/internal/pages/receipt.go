package pages

import (
	"net/http"

	"github.com/seed61713e19/capstan/internal/receipts"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A receiptView is the content of a receipt. The server has no key and signs nothing.
type receiptView struct {
	frame
	Head   headView
	Claim  receipts.Claim
	Raw    string // the address of the exact text
	Broken string // why there is no receipt
	Hidden bool   // the journal has replaced a secret in the text
}

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
	if v.Claim, err = receipts.ClaimOf(receipts.Run{Run: t, Cascade: c, Gates: gates, Program: receipts.Program{Version: "the server"}}, ""); err != nil {
		v.Broken = err.Error()
		return s.render(w, http.StatusOK, "receipt", v)
	}
	if a := t.Attempt(event.Path(v.Claim.Path)); a != nil {
		v.Hidden = journal.Redacted(a.Text)
		v.Raw = textRef{What: "attempt", At: a.Path}.URL(run.RunID, "/raw")
	}
	return s.render(w, http.StatusOK, "receipt", v)
}
