package pages_test

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
)

// hostile are replies and questions with markup.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `<a href="javascript:alert(1)">x</a>`, `javascript:alert(1)`,
	`</pre></details><h1>owned</h1>`, `<!--`, `{{.}}{{template "top"}}`, "\x1b[31mred\x1b[0m \x00 \u202etxt.exe\u202c", `<div hx-get="/x" hx-trigger="load">`,
	`<template><div id="head" hx-swap-oob="true">owned</div></template>`, "'`&lt;", `<style>*{display:none}</style>`, `<svg/onload=alert(1)>`, "\xff\xfe",
}

// tags are the elements of the pages.
var tags = strings.Fields(`a article bdi body br button caption code details div fieldset footer form h1 h2 h3 h4 head header html input kbd label legend li link
	main mark meta nav ol option p pre rect script section select span strong summary svg table tbody td textarea th thead time title tr ul img
	circle datalist dd dl dt figcaption figure g path text`)

var (
	tag       = regexp.MustCompile(`<(/?)([a-zA-Z!][^\s>/]*)([^>]*)>`)
	attribute = regexp.MustCompile(`\s([^\s="'>]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s>]+))?`)
)

var tamed sync.Map // the tags already checked

// tame fails if a page has an element or attribute that only a text could contain.
func tame(t *testing.T, path, page string) {
	t.Helper()
	for piece := range strings.SplitAfterSeq(page, ">") { // each piece has one tag
		_, piece, _ = strings.Cut(piece, "<")
		if _, known := tamed.LoadOrStore(piece, true); known {
			continue
		}
		m := tag.FindStringSubmatch("<" + piece)
		if m == nil {
			continue
		}
		name := strings.ToLower(m[2])
		if name != "!doctype" && !slices.Contains(tags, name) {
			t.Errorf("%s: element %.80q", path, m[0])
		}
		for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
			key, value := strings.ToLower(a[1]), strings.Trim(a[2], `"'`)
			if strings.HasPrefix(key, "on") || key == "style" {
				t.Errorf("%s: attribute %.80q", path, a[0])
			}
			if slices.Contains([]string{"href", "src", "action", "hx-get", "sse-connect"}, key) && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "?") {
				t.Errorf("%s: address %.80q", path, a[0])
			}
		}
	}
	for _, bad := range []string{"\x00", "\x1b", "\u202e", "\xff"} {
		if strings.Contains(page, bad) {
			t.Errorf("%s has %q", path, bad)
		}
	}
}

// crawl fetches every page that links reach.
func crawl(w *servetest.World, t *testing.T, from string) map[string]string {
	t.Helper()
	pages := map[string]string{}
	link := regexp.MustCompile(`(?:href|hx-get)="([^"#]*)`)
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := strings.ReplaceAll(queue[0], "&amp;", "&")
		if _, seen := pages[at]; seen || !strings.HasPrefix(at, "/") || strings.HasPrefix(at, "/v1") || strings.HasPrefix(at, "/static") {
			continue
		}
		r := w.Send("GET", at, nil)
		pages[at] = r.Text
		if r.StatusCode != 200 && r.StatusCode != 302 && at != "/start?cascade=wrong" {
			t.Errorf("%s: %d", at, r.StatusCode)
		}
		if strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			for _, m := range link.FindAllStringSubmatch(r.Text, -1) {
				queue = append(queue, strings.ReplaceAll(m[1], "&amp;", "&"))
			}
			part := w.Send("GET", at, nil, "HX-Request", "true")
			pages[at+" (part)"] = part.Text
		}
	}
	return pages
}

func TestHostileTextsStayTexts(t *testing.T) {
	for i, text := range hostile {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			w := servetest.New(t)
			n := 0
			w.Model = model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
				n++
				if r.Validator == "tone" {
					return model.Response{Text: fmt.Sprintf(`{"valid": false, "reason": %q, "fix": %q, "evidence": {"x": %q}}`, strings.ToValidUTF8(text, "?"), "fix "+strings.ToValidUTF8(text, "?"), "e")}, nil
				}
				return model.Response{Text: fmt.Sprint(text, n), Model: text}, nil
			})
			id := w.Start("post", map[string]any{"topic": "xx" + strings.ToValidUTF8(text, "?")})
			w.Start("ask", nil)
			pages := crawl(w, t, "/")
			for path, page := range pages {
				if strings.HasSuffix(path, ".svg") || strings.Contains(path, "/raw?") {
					continue
				}
				tame(t, path, page)
			}
			if len(pages) < 15 || pages["/runs/"+id] == "" {
				t.Errorf("%d pages", len(pages))
			}
		})
	}
}

// TestThePathToANo checks that two clicks lead from a failed run to the check, the attempt, the
// reason, the text, the prompt and the feedback.
func TestThePathToANo(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("blocked", nil)
	page := w.Send("GET", "/runs/"+id, nil).Text
	_, troubles, _ := strings.Cut(page, `id="troubles"`)
	troubles, _, _ = strings.Cut(troubles, `id="phases-title"`)
	for _, want := range []string{"Why the text was rejected", "contains", "attempt 2", "the text does not contain", "text judged", "Still no bird.", "prompt of this attempt", "feedback sent", "was not accepted"} {
		if !strings.Contains(troubles, want) {
			t.Errorf("no %q in %s", want, troubles)
		}
	}
	if strings.Index(troubles, "attempt 2") > strings.Index(troubles, "attempt 1") {
		t.Error("the last no does not come first")
	}
	m := regexp.MustCompile(`prompt of this attempt</summary><div hx-get="([^"]*)"`).FindStringSubmatch(troubles)
	if m == nil {
		t.Fatal(troubles)
	}
	if prompt := w.Send("GET", strings.ReplaceAll(m[1], "&amp;", "&"), nil, "HX-Request", "true").Text; !strings.Contains(prompt, "was not accepted") || strings.Contains(prompt, "<html") {
		t.Error(prompt)
	}
}

// TestSoundings checks the order of soundings, the chosen one, and the filter.
func TestSoundings(t *testing.T) {
	w := servetest.New(t)
	page := w.Send("GET", "/runs/"+w.Start("tries", nil), nil).Text
	first, second := strings.Index(page, `<span class="name">sounding 1.1</span>`), strings.Index(page, `<span class="name">sounding 2.1</span>`)
	if first < 0 || second < first {
		t.Fatalf("at %d and %d of %s", first, second, page)
	}
	for _, part := range []string{page[first:second], page[second:]} {
		short := strings.Contains(part, "A short.") && !strings.Contains(part, "A longer one.")
		if strings.Contains(part, "picked") != short || strings.Contains(part, "retry post") || !strings.Contains(part, "filter ·") {
			t.Error(part)
		}
	}
}

func TestEmptyPagesSayWhatToDo(t *testing.T) {
	w := servetest.New(t)
	for path, want := range map[string]string{"/": "capstan run", "/?q=nothing": "Show all runs", "/gates": "wards:", "/compare": "Type the names"} {
		if page := w.Send("GET", path, nil); page.StatusCode != 200 || !strings.Contains(page.Text, want) {
			t.Errorf("%s: %d %s", path, page.StatusCode, page.Text)
		}
	}
}

func TestPagesThatAreNot(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("post", map[string]any{"topic": "owls"})
	for path, status := range map[string]int{
		"/runs/none": 404, "/runs/" + id + "/phase?at=none": 404, "/runs/" + id + "/text?what=attempt&at=none": 404, "/runs/" + id + "/text?what=odd": 404,
		"/runs/" + id + "/diff?a=x&b=y": 404, "/nothing": 404, "/compare?a=none&b=last": 404, "/?status=odd": 400, "/runs/" + id + "/raw?what=feedback&at=draft/attempt[1]&n=7": 404,
		"/runs/" + id + "/raw?what=feedback&at=draft/attempt[1]&n=-1": 404, "/runs/" + id + "/raw?what=message&at=draft/attempt[1]/turn[0]/model&n=99": 404,
		"/runs/%2e%2e/x": 404,
	} {
		if r := w.Send("GET", path, nil); r.StatusCode != status {
			t.Errorf("%s: %d, want %d", path, r.StatusCode, status)
		}
	}
	if r := w.Send("GET", "/runs/last", nil); r.StatusCode != 302 || r.Header.Get("Location") != "/runs/"+id {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
}

// TestLongTextsComeInPieces checks that the pieces form the whole text.
func TestLongTextsComeInPieces(t *testing.T) {
	w := servetest.New(t)
	text := strings.Repeat("é", 1<<19) + "end"
	w.Model = model.Func(func(context.Context, model.Request) (model.Response, error) { return model.Response{Text: text}, nil })
	id := w.Start("ask", nil)
	if n := len(w.Send("GET", "/runs/"+id, nil).Text); n > 64<<10 {
		t.Errorf("the page has %d bytes", n)
	}
	var got strings.Builder
	next := regexp.MustCompile(`hx-get="([^"]*)"`)
	for at := "/runs/" + id + "/text?what=attempt&at=draft%2Fattempt%5B1%5D"; at != ""; {
		part := w.Send("GET", at, nil, "HX-Request", "true").Text
		if len(part) > 80<<10 {
			t.Errorf("a piece has %d bytes", len(part))
		}
		_, piece, _ := strings.Cut(part, ">")
		piece, rest, _ := strings.Cut(piece, "</pre>")
		got.WriteString(piece)
		at = ""
		if m := next.FindStringSubmatch(rest); m != nil {
			at = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if got.String() != text {
		t.Errorf("%d bytes of %d", got.Len(), len(text))
	}
	if raw := w.Send("GET", "/runs/"+id+"/raw?what=attempt&at="+url.QueryEscape("draft/attempt[1]"), nil).Text; raw != text {
		t.Errorf("%d bytes of %d", len(raw), len(text))
	}
}

func TestOrdersOnThePage(t *testing.T) {
	w := servetest.New(t)
	form := func(path, value string) servetest.Reply { return postForm(w, path, url.Values{"value": {value}}) }
	id := w.Start("ask", nil)
	if r := form("/runs/"+id+"/answer", "maybe"); r.StatusCode != 422 {
		t.Errorf("%d", r.StatusCode)
	}
	if r := form("/runs/"+id+"/answer", "yes"); r.StatusCode != 303 || r.Header.Get("Location") != "/runs/"+id {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	<-w.Done
	if s := w.Run(id).Status; s != "succeeded" {
		t.Errorf("status %s", s)
	}
	for range 2 { // the second answer is refused
		id = w.Start("ask", nil)
		w.Want(202, "POST", "/v1/runs/"+id+"/answer", `{"value": true}`)
		<-w.Done
		if r := form("/runs/"+id+"/answer", "yes"); r.StatusCode != 409 {
			t.Errorf("%d", r.StatusCode)
		}
	}
	slow := w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).JSON(t)["run_id"].(string)
	if r := form("/runs/"+slow+"/cancel", ""); r.StatusCode != 303 {
		t.Errorf("%d", r.StatusCode)
	}
	<-w.Done
	close(w.Hold)
	if r := form("/runs/"+slow+"/resume", ""); r.StatusCode != 303 {
		t.Errorf("%d", r.StatusCode)
	}
	<-w.Done
	if r := form("/runs/none/answer", "yes"); r.StatusCode != 404 {
		t.Errorf("%d", r.StatusCode)
	}
}

// TestTheGatesPage compares the page with the journal.
func TestTheGatesPage(t *testing.T) {
	w := servetest.New(t)
	for range 3 {
		w.Start("post", map[string]any{"topic": "owls"})
	}
	page := w.Send("GET", "/gates?cascade=post", nil).Text
	for _, want := range []string{"word_count", "50 %", "tone", "0 %", "2.00"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if page := w.Send("GET", "/gates?cascade=none", nil).Text; !strings.Contains(page, "No verdicts yet") {
		t.Error(page)
	}
}
