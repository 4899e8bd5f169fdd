package pages_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/request/inspectors"
)

var shots = flag.String("shots", "", "write screenshots to this folder")

// A browser is a tab of a Chromium. Errors on the console and requests to other servers fail
// the test.
type browser struct {
	*testing.T
	ctx  context.Context
	mu   sync.Mutex
	bad  []string
	base string
}

// chromium is one process for all tests. Each test has its own browser context.
var chromium = sync.OnceValues(func() (context.Context, error) {
	program, err := inspectors.FindBrowser("")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 900))
	for _, name := range []string{"disable-quic", "disable-component-update", "disable-domain-reliability", "no-proxy-server", "no-pings"} {
		options = append(options, chromedp.Flag(name, true))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	started.Store(&stop)
	ctx, _ := chromedp.NewContext(allocator, chromedp.WithLogf(quiet), chromedp.WithErrorf(quiet))
	return ctx, chromedp.Do(ctx)
})

// started ends the Chromium.
var started atomic.Pointer[context.CancelFunc]

func quiet(string, ...any) {}

// TestMain runs more browser tests in parallel than the machine has processors, because
// most tests wait.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	status := m.Run()
	if stop := started.Load(); stop != nil {
		(*stop)()
	}
	os.Exit(status)
}

func newBrowser(t *testing.T, base string) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a Chromium takes long to start")
	}
	t.Parallel()
	shared, err := chromium()
	if err != nil {
		t.Skipf("nothing to show the page in: %v", err)
	}
	ctx, quit := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	t.Cleanup(quit)
	b := &browser{T: t, base: base, ctx: ctx}
	limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	b.ctx = limited
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(limited, b.hear); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.report)
	return b
}

// hear records errors.
func (b *browser) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *log.EventEntryAdded:
		if ev.Entry.Level != log.EntryLevelInfo && ev.Entry.Level != log.EntryLevelVerbose {
			b.bad = append(b.bad, "console: "+ev.Entry.Text+" "+ev.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		b.bad = append(b.bad, "exception: "+ev.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.bad = append(b.bad, "console."+string(ev.Type))
	case *network.EventRequestWillBeSent:
		// The picture of a calendar is a data: address.
		if !strings.HasPrefix(ev.Request.URL, b.base+"/") && !strings.HasPrefix(ev.Request.URL, "data:") {
			b.bad = append(b.bad, "asks elsewhere: "+ev.Request.URL)
		}
	}
}

// quiet removes the expected errors of a status.
func (b *browser) quiet(status string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bad = slices.DeleteFunc(b.bad, func(bad string) bool { return strings.Contains(bad, "status of "+status) })
}

func (b *browser) report() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, bad := range b.bad {
		b.Error(bad)
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

func (b *browser) open(path string) {
	b.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

// js evaluates an expression.
func js[T any](b *browser, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to become true, also while pages change.
func (b *browser) until(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	look := chromedp.Evaluate[bool]("new Promise(function (done) { (function look() { if ("+expression+") done(true); else setTimeout(look, 20) })() })", chromedp.EvalAwaitPromise)
	for {
		_, err := chromedp.Run(ctx, look)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			b.shoot("failed")
			b.Fatalf("until %s: %v\n%s", expression, err, js[string](b, "document.body.innerText.slice(0, 500)"))
		}
	}
}

// leave clicks on a link and waits for the next page.
func (b *browser) leave(selector string) {
	b.Helper()
	js[int](b, "window.stay = 1")
	b.click(selector)
	b.until("window.stay === undefined && document.readyState === 'complete'")
}

func (b *browser) media(feature, value string) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: feature, Value: value}}})
		return err
	}))
}

// shoot takes a picture of the whole page if -shots is set.
func (b *browser) shoot(name string) {
	b.Helper()
	if *shots == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644); err != nil {
		b.Fatal(err)
	}
}

// TestTheBrowserComplains checks that the browser reports errors.
func TestTheBrowserComplains(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	b.open("/")
	js[bool](b, `(function () { var s = document.createElement('script'); s.textContent = 'window.pwned = 1'; document.body.append(s); document.body.setAttribute('style', 'color: red'); return true })()`)
	if js[bool](b, "window.pwned === 1") {
		t.Error("a script in the page runs")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.bad) < 2 {
		t.Errorf("heard %q", b.bad)
	}
	b.bad = nil
}

// TestNothingSticksOut checks that long names and differences fit a narrow screen, and that
// scrolling parts do not lengthen the page.
func TestNothingSticksOut(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	n := 0
	w.Model = model.Func(func(context.Context, model.Request) (model.Response, error) {
		n++
		return model.Response{Text: strings.Repeat(fmt.Sprintf("Line %d.\n", n), 500), Model: strings.Repeat("model", 40)}, nil
	})
	first, second := w.Start("blocked", nil), w.Start("blocked", nil)
	b.do(chromedp.EmulateViewport(390, 844))
	for name, path := range map[string]string{
		"long-run": "/runs/" + first, "long-call": "/runs/" + first + "/call?at=draft/attempt[1]/turn[0]/model",
		"long-diff": "/runs/" + first + "/diff?a=draft/attempt[1]&b=draft/attempt[2]", "long-compare": "/compare?all=1&a=" + first + "&b=" + second,
	} {
		b.open(path)
		if high := js[int](b, "document.documentElement.scrollHeight"); high > 3000 {
			t.Errorf("%s is %d high", path, high)
		}
		js[any](b, "document.querySelectorAll('main p').forEach(function (p) { p.append('x'.repeat(200)) })")
		if wide := js[int](b, "document.documentElement.scrollWidth"); wide > 390 {
			t.Errorf("%s is %d wide", path, wide)
		}
		b.shoot(name)
	}
	// A difference in a row is a table.
	owls := map[string]any{"topic": "owls"}
	b.open("/compare?a=" + w.Start("post", owls) + "&b=" + w.Start("post", owls))
	b.click(".aligned summary")
	b.until("document.querySelector('.aligned .diff tr') !== null")
	b.shoot("narrow-row-diff")
	if kind := js[string](b, "getComputedStyle(document.querySelector('.aligned .diff td')).display"); kind != "table-cell" {
		t.Errorf("a cell of a difference is a %s", kind)
	}
}

// looks checks that the open page fits a wide and a narrow screen. Dark colours change no
// size: they are only for pictures.
func (b *browser) looks(name string, checks ...func()) {
	b.Helper()
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{{"light", "light", 1280, 900}, {"narrow", "light", 390, 844}, {"dark", "dark", 1280, 900}} {
		if look.name == "dark" && *shots == "" {
			continue
		}
		b.do(chromedp.EmulateViewport(look.width, look.height))
		b.media("prefers-color-scheme", look.scheme)
		if wide := js[int](b, "document.documentElement.scrollWidth"); wide > int(look.width) {
			b.Errorf("%s is %d wide on a screen of %d", name, wide, look.width)
		}
		for _, check := range checks {
			check()
		}
		b.shoot(name + "-" + look.name)
	}
}

// TestPages shows every page on a wide and on a narrow screen.
func TestPages(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	b.open("/")
	b.shoot("empty")
	b.open("/gates")
	b.shoot("gates-empty")
	first, second := w.Start("post", map[string]any{"topic": "owls"}), w.Start("blocked", nil)
	third := w.Start("post", map[string]any{"topic": "night owls"})
	waiting := w.Start("ask", nil)
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`)
	pages := map[string]string{
		"runs": "/", "run": "/runs/" + first, "blocked": "/runs/" + second, "waiting": "/runs/" + waiting, "gates": "/gates",
		"compare": "/compare?a=" + first + "&b=" + third, "compare-empty": "/compare", "graph": "/runs/" + first + "/graph",
		"diff": "/runs/" + first + "/diff?a=draft/attempt[1]&b=draft/attempt[2]", "call": "/runs/" + first + "/call?at=draft/attempt[2]/turn[0]/model",
		"phase": "/runs/" + first + "/phase?at=draft", "filtered": "/?status=over_budget", "last": "/runs/last", "questions": "/questions",
	}
	for name, path := range pages {
		b.open(path)
		if n := js[int](b, "document.querySelectorAll('h1').length"); n != 1 {
			t.Errorf("%s has %d h1", name, n)
		}
		b.looks(name)
	}
}
