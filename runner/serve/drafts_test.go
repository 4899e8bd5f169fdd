package serve_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
)

// A speaker is a model that says a piece of each reply, and the rest when it is let.
type speaker struct {
	asked chan bool   // of each call: whether it is to stream
	says  chan string // pieces; closed, the reply ends
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

// heard reads updates of a page until one has a text.
func (l *listener) heard(text string) string {
	l.Helper()
	for {
		e, ok := l.next()
		if !ok {
			l.Fatalf("%q is never told", text)
		}
		if strings.Contains(e.data, text) {
			return e.data
		}
	}
}

// TestDrafts holds that whoever looks at a run reads what its models say while they
// say it, and that no model is made to stream where nobody does.
func TestDrafts(t *testing.T) {
	w := newWorld(t)
	s := &speaker{make(chan bool, 9), make(chan string)}
	w.model = s
	id := w.want(202, "POST", "/v1/runs", `{"cascade": "tell"}`).json(t)["run_id"].(string)
	if <-s.asked {
		t.Error("a call streams that nobody hears")
	}
	l := w.listen("/runs/" + id + "/live?after=0")
	l.heard("phase")
	s.says <- "Silent"
	s.says <- "."
	l.heard("Silent.")

	w.post("/runs/"+id+"/answer", url.Values{"value": {"more"}})
	if !<-s.asked {
		t.Fatal("somebody looks on, and the call does not stream")
	}
	s.says <- "Owls <b>hoot"
	if piece := l.heard("Owls"); !strings.Contains(piece, "Owls &lt;b&gt;hoot") || !strings.Contains(piece, "no check has seen it") {
		t.Error(piece)
	}
	s.says <- strings.Repeat("ü", 20_000)
	if piece := l.heard("üü"); strings.Contains(piece, "Owls") || strings.Contains(piece, "\ufffd") || len(piece) > 20_000 {
		t.Errorf("%d bytes", len(piece))
	}
	s.says <- ""
	s.says <- "Anew"
	if piece := l.heard("Anew"); strings.Contains(piece, "ü") {
		t.Error("it began anew")
	}
	s.says <- "."
	for {
		e, ok := l.next()
		if !ok || e.name == "end" {
			break
		}
		if strings.Contains(e.data, "no check has seen it") && strings.Contains(e.data, "s-succeeded") {
			t.Error("what was said stays a draft")
		}
	}
}

// TestDraftsFromTheStart holds that who starts a run on the page hears its first
// call too.
func TestDraftsFromTheStart(t *testing.T) {
	w := newWorld(t)
	s := &speaker{make(chan bool, 9), make(chan string)}
	w.model = s
	r := w.post("/start", form(w.send("GET", "/start?cascade=ask", nil).text))
	if r.StatusCode != 303 || !<-s.asked {
		t.Fatalf("%d %s", r.StatusCode, r.text)
	}
	s.says <- "Early"
	l := w.listen(r.Header.Get("Location") + "/live?after=0")
	l.heard("Early")
	s.says <- "."
	<-w.done
}
