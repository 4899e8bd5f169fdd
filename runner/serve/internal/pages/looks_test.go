package pages_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
)

// TestAQuestionHeadsItsRun checks that the question is at the top of the page.
func TestAQuestionHeadsItsRun(t *testing.T) {
	w := servetest.New(t)
	page := w.Want(200, "GET", "/runs/"+w.Start("ask", nil), nil).Text
	if q, h := strings.Index(page, "waits for an answer"), strings.Index(page, "<h1>"); q < 0 || q > h {
		t.Errorf("the question is at %d, the heading at %d", q, h)
	}
}

// TestDefaultsAreNoDifference checks that a default and the same value as input are equal.
func TestDefaultsAreNoDifference(t *testing.T) {
	w := servetest.New(t)
	a := w.Start("form", map[string]any{"title": "A title", "share": 0.5, "loud": true})
	b := w.Start("form", map[string]any{"title": "A title", "share": 0.5, "loud": true, "size": 3, "colour": "blue"})
	page := w.Want(200, "GET", "/compare?a="+a+"&b="+b, nil).Text
	_, input, _ := strings.Cut(page, "<h2>Input</h2>")
	input, _, _ = strings.Cut(input, "<h2>Phases</h2>")
	if strings.Contains(input, "d-added") || strings.Contains(input, "d-removed") {
		t.Error(input)
	}
	c := w.Start("form", map[string]any{"title": "A title", "share": 0.5, "loud": true, "size": 4})
	if page := w.Want(200, "GET", "/compare?a="+a+"&b="+c, nil).Text; !strings.Contains(page, "d-added") {
		t.Error("another size is no difference")
	}
}

// TestReceiptPage checks the page of a released text, and the page of a run
// without a released text.
func TestReceiptPage(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("post", map[string]any{"topic": "owls"})
	if page := w.Want(200, "GET", "/runs/"+id, nil).Text; !strings.Contains(page, `href="/runs/`+id+`/receipt"`) {
		t.Error("its run does not lead there")
	}
	page := w.Want(200, "GET", "/runs/"+id+"/receipt", nil).Text
	for _, want := range []string{"capstan receipt sign " + id + " --signing-key private.pem", "--pub public.pem", "sha256:", "A receipt does not prove", "The exact text"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	blocked := w.Start("blocked", nil)
	if page := w.Want(200, "GET", "/runs/"+blocked+"/receipt", nil).Text; !strings.Contains(page, "There is no receipt") {
		t.Error(page)
	}
	w.Want(404, "GET", "/runs/none/receipt", nil)
}

// TestDaysFilterRuns checks the filter for days, with the last day included.
func TestDaysFilterRuns(t *testing.T) {
	w := past(t, 5, 1)
	run := w.Run("last")
	day := run.Started.Format("2006-01-02")
	page := w.Want(200, "GET", "/?since="+day+"&until="+day, nil).Text
	if n := strings.Count(page, `name="run"`); n != 2 || !strings.Contains(page, `name="since" value="`+day+`"`) {
		t.Errorf("%d runs: %s", n, page)
	}
	next := run.Started.AddDate(0, 0, 1).Format("2006-01-02")
	if page := w.Want(200, "GET", "/?until="+next+"T00:00:00Z", nil).Text; !strings.Contains(page, `name="until" value="`+day+`"`) {
		t.Error(page)
	}
}

// TestTheGraphIsFoundIn checks the zoom and the search in a graph, and the clock of a running
// run.
func TestTheGraphIsFoundIn(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	id := w.Start("post", map[string]any{"topic": "owls"})
	b.open("/runs/" + id + "/graph")
	before := js[int](b, "document.querySelector('.graph img').clientWidth")
	b.click("[data-zoom='1.25']")
	if after := js[int](b, "document.querySelector('.graph img').clientWidth"); after <= before {
		t.Errorf("it is %d wide and was %d", after, before)
	}
	js[any](b, "var f = document.getElementById('filter'); f.value = 'polish'; f.dispatchEvent(new Event('input', {bubbles: true})); 0")
	if hidden := js[bool](b, "document.querySelector('.here').hidden || document.querySelector('.here').offsetHeight < 20"); hidden {
		t.Error("polish is not shown")
	}
	b.shoot("graph-found")
	b.do(chromedp.EmulateViewport(390, 844))
	b.open("/runs/" + id + "/graph")
	b.shoot("graph-narrow")
	b.open("/runs/" + id + "/receipt")
	if wide := js[int](b, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("the receipt is %d wide", wide)
	}
	b.shoot("receipt-narrow")
	slow := w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).JSON(t)["run_id"].(string)
	b.open("/runs/" + slow)
	b.until("document.querySelector('[data-ticks]') !== null && /^[1-9]\\d* s$/.test(document.querySelector('[data-ticks]').textContent)")
	close(w.Hold)
}
