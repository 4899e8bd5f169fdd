package pages_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
)

// TestTheFormRunsAgain checks the inputs and the errors of the form, and that a form sent twice
// starts one run.
func TestTheFormRunsAgain(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("form", map[string]any{"title": "A <title>", "share": 0.5, "loud": true, "note": "Be brief."})
	page := w.Want(200, "GET", "/runs/"+id, nil).Text
	if !strings.Contains(page, `href="/runs/`+id+`/again?from=draft"`) {
		t.Error("no phase offers to begin there")
	}
	page = w.Want(200, "GET", "/runs/"+id+"/again", nil).Text
	fields := form(page)
	if fields.Get("in.title") != "A <title>" || fields.Get("in.share") != "0.5" || fields.Get("in.loud") != "true" || fields.Get("in.note") != "Be brief." || fields.Get("from") != "draft" {
		t.Errorf("%v", fields)
	}
	if n := strings.Count(page, "leave empty to keep the value"); n != 3 { // note, share and loud; an empty title is a text
		t.Errorf("%d fields say that they stay", n)
	}
	delete(fields, "changed")
	bad := url.Values{}
	for k, v := range fields {
		bad[k] = v
	}
	bad.Set("in.size", "many")
	if r := postForm(w, "/runs/"+id+"/again", bad); r.StatusCode != 422 || !strings.Contains(r.Text, "is no number") {
		t.Errorf("%d %s", r.StatusCode, r.Text)
	}
	fields.Set("in.title", "Another")
	fields.Set("in.share", "")
	fields.Set("in.note", "Be long.")
	first := postForm(w, "/runs/"+id+"/again", fields)
	if first.StatusCode != 303 {
		t.Fatal(first.Text)
	}
	<-w.Done
	if second := postForm(w, "/runs/"+id+"/again", fields); second.Header.Get("Location") != first.Header.Get("Location") {
		t.Error(second.Text)
	}
	run := w.Run(strings.TrimPrefix(first.Header.Get("Location"), "/runs/"))
	if run.Parent != id || run.Start.Input["title"] != "Another" || run.Start.Input["loud"] != true || fmt.Sprint(run.Start.Input["share"]) != "0.5" || run.Start.Input["note"] != "Be long." {
		t.Errorf("%+v", run.Start)
	}
}
