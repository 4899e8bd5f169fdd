package pages

import (
	"context"
	"net/http"
	"strconv"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

var errNoText = orders.NewProblem(http.StatusNotFound, "no_text", "the run has no such text")

func refOf(r *http.Request) textRef {
	q := r.URL.Query()
	return textRef{What: q.Get("what"), At: event.Path(q.Get("at")), N: number(q.Get("n"))}
}

// number returns the number in a text, 0 if it is not a number.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// text returns the text that r names.
func (s *Site) text(ctx context.Context, id string, r textRef) (string, error) {
	if r.What == "message" || r.What == "schema" {
		req, err := s.request(ctx, id, r.At)
		if err != nil {
			return "", err
		}
		if r.What == "schema" {
			return string(req.Schema), nil
		}
		if r.N < 0 || r.N >= len(req.Messages) {
			return "", errNoText
		}
		return req.Messages[r.N].Content, nil
	}
	_, run, err := s.trees.Load(ctx, id)
	if err != nil {
		return "", err
	}
	switch r.What {
	case "input":
		return prettyJSON(run.Input), nil
	case "result":
		return prettyJSON(run.Output), nil
	}
	for p := range run.All() {
		if text, ok := r.In(p); ok {
			return text, nil
		}
	}
	return "", errNoText
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

func (s *Site) textPage(w http.ResponseWriter, r *http.Request) error {
	id, which := r.PathValue("id"), refOf(r)
	text, err := s.text(r.Context(), id, which)
	if err != nil {
		return err
	}
	v := pieceView{frame: s.frame("Text", "runs"), RunID: id, Path: which.At, What: which.What, Size: len(text), Raw: which.URL(id, "/raw")}
	v.From = runeStart(text, number(r.URL.Query().Get("from")))
	v.To = runeStart(text, v.From+pieceSize)
	v.Piece = text[v.From:v.To]
	if v.To < len(text) {
		v.Next = which.URL(id, "/text") + "&from=" + strconv.Itoa(v.To)
	}
	return s.renderPart(w, r, http.StatusOK, "text", v)
}

// pieceSize is the size of a piece, in bytes.
const pieceSize = 64 << 10

// rawText serves a text unchanged, as plain text.
func (s *Site) rawText(w http.ResponseWriter, r *http.Request) error {
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
