package pages_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
)

// click clicks on an element. It repeats the click if an update replaces the
// element.
func (b *browser) click(selector string) {
	b.Helper()
	for {
		err := chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(selector)))
		if err == nil {
			return
		}
		if b.ctx.Err() != nil || !strings.Contains(err.Error(), "Could not find node with given id") {
			b.Fatal(err)
		}
	}
}

func (b *browser) keys(keys string) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// TestARunIsLive checks that open pages follow a run to its end.
func TestARunIsLive(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	b.open("/")
	b.until("document.body.innerText.includes('No runs yet')")
	id := w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).JSON(t)["run_id"].(string)
	b.until("document.querySelector('.runs') && document.querySelector('.runs').innerText.includes('running')")
	b.leave("a[data-open]")
	b.until("location.pathname === '/runs/" + id + "'")
	b.until("document.querySelector('details.call') !== null && document.querySelector('#head').innerText.includes('running')")
	// Updates keep closed elements closed, and open ones open.
	b.click("details.call > summary")
	b.until("document.querySelector('details.call').innerText.includes('Wait.')")
	b.shoot("live-before")
	// Repeated updates add nothing twice.
	js[any](b, "htmx.swap('body', '<ol hx-swap-oob=\"beforeend:#phases\">' + document.querySelector('#phases').innerHTML + '</ol>', {swapStyle: 'none'})")
	close(w.Hold)
	b.until("document.querySelector('#head').innerText.includes('succeeded')")
	b.until("document.querySelector('#output').innerText.includes('At last.')")
	b.until("document.querySelector('#phases .phase').innerText.includes('succeeded')")
	if n := js[int](b, "document.querySelectorAll('#phases > .phase').length"); n != 1 {
		t.Errorf("%d phases", n)
	}
	if !js[bool](b, "document.querySelector('details.call').open") {
		t.Error("what was open was closed")
	}
	if !js[bool](b, "document.querySelector('details.call').innerText.includes('Wait.')") {
		t.Error("what was fetched is gone")
	}
	b.shoot("live-after")
	b.until("htmx.find('[sse-connect]')['htmx-internal-data'].sseEventSource.readyState === 2")
}

func TestAnsweringOnThePage(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	ask, choose := w.Start("ask", nil), w.Start("choose", nil)
	b.open("/runs/" + ask)
	b.leave("button[value=yes]")
	b.until("document.querySelector('#head').innerText.includes('succeeded')")
	<-w.Done
	b.open("/runs/" + choose)
	b.click("input[value=blue]")
	b.shoot("choose")
	b.leave(".ask button")
	b.until("document.querySelector('#head').innerText.includes('succeeded')")
	<-w.Done
}

func TestKeys(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	first := w.Start("ask", nil)
	w.Start("ask", nil)
	id := w.Start("blocked", nil)
	b.open("/")
	b.keys("j")
	b.until("document.activeElement.matches('tr:nth-child(1) a[data-open]')")
	b.keys("j")
	b.keys("j")
	b.keys("j")
	b.until("document.activeElement.matches('tr:nth-child(3) a[data-open]')")
	b.keys("k")
	b.keys("k")
	b.until("document.activeElement.textContent === '" + id + "'")
	b.keys("/")
	b.until("document.activeElement.id === 'filter'")
	js[string](b, "document.activeElement.value = ''") // the tab types what the page has taken for a command
	b.keys("jk" + first[len(first)-8:] + "\r")
	b.until("location.search.includes('q=jk" + first[len(first)-8:] + "')")

	// Every entry of the navigation is a page.
	for _, path := range js[[]string](b, "Array.from(document.querySelectorAll('header nav a')).map(a => a.getAttribute('href'))") {
		b.open(path)
	}

	b.open("/runs/" + id)
	b.keys("\t")
	b.until("document.activeElement.classList.contains('skip')")
	b.keys("j")
	b.keys("\r")
	b.until("!document.querySelector('#phases details').open")
	// A jump opens its target.
	b.click("#troubles article:last-of-type [data-jump]")
	b.until("document.querySelector('#phases details').open && document.activeElement.closest('.attempt').innerText.includes('attempt 1')")
	b.until("document.querySelector('.attempt').open && location.hash.length > 1")
	b.click(".matrix td:last-child a")
	b.until("document.activeElement.classList.contains('verdict')")
}

// TestHostileTextsInABrowser checks that a browser does not interpret texts.
func TestHostileTextsInABrowser(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	all := strings.Join(hostile, "\n")
	w.Model = model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: all}, nil
	})
	id := w.Start("ask", nil)
	for _, path := range []string{"/runs/" + id, "/runs/" + id + "/phase?at=draft", "/runs/" + id + "/call?at=draft/attempt[1]/turn[0]/model", "/runs/" + id + "/text?what=attempt&at=draft/attempt[1]"} {
		b.open(path)
		if bad := js[string](b, `Array.from(document.querySelectorAll('main script, main style, main svg:not(.bar), main iframe, main [onerror], main [onload], main a[href^="javascript:"]')).map(e => e.outerHTML).join()`); bad != "" {
			t.Errorf("%s: %s", path, bad)
		}
		if !js[bool](b, `Array.from(document.querySelectorAll('pre.text')).some(e => e.textContent.includes("<script>alert(1)</script>\n"))`) {
			t.Errorf("%s does not show the text", path)
		}
	}
	b.open("/runs/" + id)
	b.shoot("hostile")
	if js[string](b, "document.querySelector('h1').textContent") != "ask" {
		t.Error("the heading was changed")
	}
	// The raw text has no markup.
	b.open("/runs/" + id + "/raw?what=attempt&at=draft/attempt[1]")
	if n := js[int](b, "document.querySelectorAll('script, h1, img').length"); n != 0 {
		t.Errorf("%d elements", n)
	}
}

// TestAThousandPhasesAndAMegabyte checks large runs and texts.
func TestAThousandPhasesAndAMegabyte(t *testing.T) {
	w := servetest.MadeUp(t)
	b := newBrowser(t, w.HTTP.URL)
	w.Shelf.LongRun("long", 1000, "Owls.")
	w.Shelf.LongRun("wide", 1, strings.Repeat("x", 1<<20))
	begun := time.Now()
	b.open("/runs/long")
	b.until("document.querySelectorAll('#phases > .phase').length === 1000")
	loaded := time.Since(begun)
	begun = time.Now()
	js[any](b, "document.querySelectorAll('#phases > .phase > details > summary')[500].click()")
	b.until("document.querySelectorAll('#phases > .phase')[500].querySelector('.matrix') !== null")
	opened := time.Since(begun)
	b.shoot("thousand")
	begun = time.Now()
	b.open("/runs/wide")
	js[any](b, "document.querySelector('.attempt[open] details.text > summary').click()")
	b.until("document.querySelector('.attempt[open] pre.text') !== null && document.querySelector('.attempt[open] pre.text').textContent.length === 65536")
	b.until("document.querySelector('.attempt[open] .more a')['htmx-internal-data'] !== undefined")
	b.click(".attempt[open] .more a")
	b.until("Array.from(document.querySelectorAll('.attempt[open] pre.text')).filter(e => e.textContent.length === 65536).length === 2")
	pieces := time.Since(begun)
	if wide := js[int](b, "document.documentElement.scrollWidth"); wide > 1280 {
		t.Errorf("%d wide", wide)
	}
	b.shoot("megabyte")
	t.Logf("1,000 phases: loaded in %v, one opened in %v; a line of 1 MiB: two pieces in %v", loaded, opened, pieces)
}

// TestStartingOnThePage starts a run with keys only, after it has corrected an error.
func TestStartingOnThePage(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	b.open("/")
	b.leave(`a[href="/start"]`)
	b.shoot("start-choose")
	for range 7 { // acts, ask, blocked, both, choose, fan, form
		b.keys("j")
	}
	b.until("document.activeElement.textContent === 'form'")
	b.keys("\r")
	b.until("document.readyState === 'complete' && document.querySelector('h1').textContent === 'Start form'")
	b.shoot("start-form")
	b.do(chromedp.SendKeys(chromedp.CSS(`[name="in.title"]`), "x"), chromedp.SendKeys(chromedp.CSS(`[name="in.share"]`), "1"))
	js[any](b, `document.querySelector('[name="in.loud"]').value = 'true'`)
	b.leave("main button")
	b.quiet("422")
	b.until("document.querySelectorAll('p.wrong[id]').length === 1 && document.querySelector('[name=\"in.title\"]').value === 'x'")
	b.shoot("start-wrong")
	b.do(chromedp.EmulateViewport(390, 844))
	b.shoot("start-wrong-narrow")
	if wide := js[int](b, "document.documentElement.scrollWidth"); wide > 390 {
		t.Errorf("%d wide", wide)
	}
	b.do(chromedp.SendKeys(chromedp.CSS(`[name="in.title"]`), "yz"))
	js[any](b, `(function () { var m = document.querySelector('[name="model"]'); m.value = 'slow' })()`)
	b.leave("main button")
	b.until("location.pathname.startsWith('/runs/') && document.querySelector('#head').innerText.includes('running')")
	close(w.Hold)
	<-w.Done
	b.until("document.querySelector('#head').innerText.includes('succeeded')")
	if title := w.Run("last").Start.Input["title"]; title != "yzx" {
		t.Errorf("title %v", title)
	}
}

// TestWithoutScripts checks that links reach everything that is folded.
func TestWithoutScripts(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	id := w.Start("blocked", nil)
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	b.open("/runs/" + id)
	b.click("#troubles details:nth-of-type(2) > summary")
	b.click("#troubles details[open] a")
	b.until("document.querySelector('h1').textContent === 'Prompt'")
	b.open("/")
	b.do(chromedp.SendKeys(chromedp.CSS("#filter"), "nothing\r"))
	b.until("location.search.includes('q=nothing')")
	b.open("/start")
	b.do(chromedp.SendKeys(chromedp.CSS(`a[href="/start?cascade=slow"]`), "\r")) // a click where it stood a moment ago goes nowhere
	b.until("document.querySelector('h1').textContent === 'Start slow'")
	b.click("main button")
	b.until("location.pathname.startsWith('/runs/') && document.querySelector('#head').innerText.includes('running')")
	close(w.Hold)
}

func TestLoginInABrowser(t *testing.T) {
	w := servetest.New(t, func(o *serve.Options) { o.Token = "a-token-of-many-characters" })
	b := newBrowser(t, w.HTTP.URL)
	b.open("/gates")
	b.shoot("login")
	b.do(chromedp.SendKeys(chromedp.CSS("#token"), w.Token+"\r"))
	b.until("location.pathname === '/gates' && document.querySelector('h1').textContent === 'Gates'")
	if js[string](b, "document.cookie") != "" {
		t.Error("scripts can read the cookie")
	}
	b.open("/")
	b.until("document.querySelector('[sse-connect]')['htmx-internal-data'].sseEventSource.readyState === 1")
	b.leave(".logout button")
	b.until("location.pathname === '/login'")
}
