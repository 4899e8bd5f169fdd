package serve

import (
	"context"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/serve/formats"
	"github.com/seed61713e19/capstan/runner/serve/links"
	"github.com/seed61713e19/capstan/runner/serve/problems"
	"github.com/seed61713e19/capstan/runner/trace"
)

// Texts of up to shortText bytes stand in the page; of longer ones the page
// shows pieces of pieceSize bytes when they are asked for.
const (
	shortText = 16 << 10
	pieceSize = 64 << 10
)

// A ref names one text of a run.
type ref struct {
	what string // what the text is of At: see text
	at   event.Path
	n    int
}

// A textView is a text as the page shows it.
type textView struct {
	Label string
	Text  string // whole, where it is short
	Size  int
	Long  bool
	URL   string // its first piece
	Raw   string
}

func newText(run, label, text string, r ref) textView {
	v := textView{Label: label, Size: len(text), Long: len(text) > shortText, URL: r.url(run, "/text"), Raw: r.url(run, "/raw")}
	if !v.Long {
		v.Text = text
	}
	return v
}

func (r ref) url(run, page string) string {
	n := ""
	if r.n > 0 {
		n = strconv.Itoa(r.n)
	}
	return links.To(links.Run(run, page), "what", r.what, "at", string(r.at), "n", n)
}

var errNoText = problems.New(http.StatusNotFound, "no_text", "the run has no such text")

func refOf(r *http.Request) ref {
	q := r.URL.Query()
	return ref{q.Get("what"), event.Path(q.Get("at")), number(q.Get("n"))}
}

// number reads a number; 0 where there is none.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// text gives the text that is meant.
func (s *Server) text(ctx context.Context, id string, r ref) (string, error) {
	if r.what == "message" || r.what == "schema" {
		req, err := s.o.Store.Request(ctx, id, r.at)
		if err != nil {
			return "", err
		}
		if r.what == "schema" {
			return string(req.Schema), nil
		}
		if r.n < 0 || r.n >= len(req.Messages) {
			return "", errNoText
		}
		return req.Messages[r.n].Content, nil
	}
	_, run, err := s.load(ctx, id)
	if err != nil {
		return "", err
	}
	switch r.what {
	case "input":
		return formats.Pretty(run.Input), nil
	case "result":
		return formats.Pretty(run.Output), nil
	}
	for p := range run.All() {
		if text, ok := textOf(p, r); ok {
			return text, nil
		}
	}
	return "", errNoText
}

// textOf looks for a text in a phase, but not in the phases within it.
func textOf(p *trace.Phase, r ref) (string, bool) {
	if p.Path == r.at && r.what == "output" {
		return formats.Pretty(p.Output), true
	}
	text, ok := "", false
	p.Visit(trace.Visitor{
		Attempt: func(a *trace.Attempt) {
			if a.Path != r.at {
				return
			}
			switch {
			case r.what == "attempt":
				text, ok = a.Text, true
			case r.what == "feedback" && r.n >= 0 && r.n < len(a.Feedback):
				text, ok = a.Feedback[r.n], true
			}
		},
		Call: func(c *trace.Call) {
			if c.Path == r.at && r.what == "reply" && c.Response != nil {
				text, ok = c.Response.Text, true
			}
		},
		Use: func(u *trace.Use) {
			switch {
			case u.Path != r.at:
			case r.what == "arguments" && u.Call != nil:
				text, ok = formats.Pretty(u.Call.Arguments), true
			case r.what == "told" && u.Result != nil:
				text, ok = formats.Pretty(u.Result.Value), true
			}
		},
		Verdict: func(v *trace.Verdict) {
			if v.Path != r.at {
				return
			}
			switch r.what {
			case "reason":
				text, ok = v.Reason, true
			case "fix":
				text, ok = v.Fix, true
			case "evidence":
				text, ok = formats.Pretty(v.Evidence), true
			case "details":
				text, ok = formats.Pretty(v.Details), true
			}
		},
	})
	return text, ok
}

// A pieceView is a piece of a long text.
type pieceView struct {
	frame
	RunID    string
	Path     event.Path
	What     string
	Piece    string
	From, To int // bytes
	Size     int
	Next     string // the address of the next piece; "" at the end
	Raw      string
}

func (s *Server) textPage(w http.ResponseWriter, r *http.Request) error {
	id, which := r.PathValue("id"), refOf(r)
	text, err := s.text(r.Context(), id, which)
	if err != nil {
		return err
	}
	v := pieceView{frame: s.frame("Text", "runs"), RunID: id, Path: which.at, What: which.what, Size: len(text), Raw: which.url(id, "/raw")}
	v.From = boundary(text, number(r.URL.Query().Get("from")))
	v.To = boundary(text, v.From+pieceSize)
	v.Piece = text[v.From:v.To]
	if v.To < len(text) {
		v.Next = which.url(id, "/text") + "&from=" + strconv.Itoa(v.To)
	}
	return s.renderPart(w, r, http.StatusOK, "text", v)
}

// boundary is the beginning of the character at an offset, within the text.
func boundary(text string, at int) int {
	at = max(0, min(at, len(text)))
	for back := 0; at > 0 && at < len(text) && back < utf8.UTFMax-1 && !utf8.RuneStart(text[at]); back++ {
		at--
	}
	return at
}

// rawText gives a text as it is, as plain text that no browser takes for more.
func (s *Server) rawText(w http.ResponseWriter, r *http.Request) error {
	text, err := s.text(r.Context(), r.PathValue("id"), refOf(r))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	w.Write([]byte(text))
	return nil
}
