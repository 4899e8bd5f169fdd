package pages_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
)

// A speaker is a model whose replies the test controls.
type speaker struct {
	asked chan bool   // for each call: whether it streams
	says  chan string // pieces; closing it ends the reply
}

func (s *speaker) Call(ctx context.Context, req model.Request) (model.Response, error) {
	s.asked <- req.OnText != nil
	text := ""
	for {
		select {
		case piece, ok := <-s.says:
			if !ok || piece == "." {
				return model.Response{Text: text + "."}, nil
			}
			text += piece
			if req.OnText != nil {
				req.OnText(piece)
			}
		case <-ctx.Done():
			return model.Response{}, context.Cause(ctx)
		}
	}
}

// hears reads updates of a page until one contains a text.
func hears(l *servetest.Listener, text string) string {
	l.Helper()
	for {
		e, ok := l.Next()
		if !ok {
			l.Fatalf("%q is never reported", text)
		}
		if strings.Contains(e.Data, text) {
			return e.Data
		}
	}
}

// TestDrafts checks that the page shows drafts, and that models stream only for readers.
func TestDrafts(t *testing.T) {
	t.Parallel()
	w := servetest.New(t)
	s := &speaker{make(chan bool, 9), make(chan string)}
	w.Model = s
	id := w.Want(202, "POST", "/v1/runs", `{"cascade": "tell"}`).JSON(t)["run_id"].(string)
	if <-s.asked {
		t.Error("a call streams that nobody hears")
	}
	l := w.Listen("/runs/" + id + "/live?after=0")
	hears(l, "phase")
	s.says <- "Silent"
	s.says <- "."
	hears(l, "Silent.")

	postForm(w, "/runs/"+id+"/answer", url.Values{"value": {"more"}})
	if !<-s.asked {
		t.Fatal("somebody looks on, and the call does not stream")
	}
	s.says <- "Owls <b>hoot"
	if piece := hears(l, "Owls"); !strings.Contains(piece, "Owls &lt;b&gt;hoot") || !strings.Contains(piece, "not yet checked") {
		t.Error(piece)
	}
	s.says <- strings.Repeat("ü", 20_000)
	if piece := hears(l, "üü"); strings.Contains(piece, "Owls") || strings.Contains(piece, "\ufffd") || len(piece) > 20_000 {
		t.Errorf("%d bytes", len(piece))
	}
	s.says <- ""
	s.says <- "Anew"
	if piece := hears(l, "Anew"); strings.Contains(piece, "ü") {
		t.Error("it began anew")
	}
	s.says <- "."
	for {
		e, ok := l.Next()
		if !ok || e.Name == "end" {
			break
		}
		if strings.Contains(e.Data, "not yet checked") && strings.Contains(e.Data, "s-succeeded") {
			t.Error("what was said stays a draft")
		}
	}
}

// TestDraftsFromTheStart checks that a run started on the page streams from its first call.
func TestDraftsFromTheStart(t *testing.T) {
	w := servetest.New(t)
	s := &speaker{make(chan bool, 9), make(chan string)}
	w.Model = s
	r := postForm(w, "/start", form(w.Send("GET", "/start?cascade=ask", nil).Text))
	if r.StatusCode != 303 || !<-s.asked {
		t.Fatalf("%d %s", r.StatusCode, r.Text)
	}
	s.says <- "Early"
	l := w.Listen(r.Header.Get("Location") + "/live?after=0")
	hears(l, "Early")
	s.says <- "."
	<-w.Done
}
