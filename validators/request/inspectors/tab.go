package inspectors

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	//go:embed look.js
	lookJS string
	//go:embed fill.js
	fillJS string
	//go:embed stay.js
	stayJS string
)

var (
	errNotDone = errors.New("could not be done")
	errSilent  = errors.New("the page does not respond")
)

// A tab is an open page. Questions about the page run in an isolated world,
// which the page's scripts cannot change.
type tab struct {
	ctx      context.Context
	close    func()
	browser  *chromium
	services *services
	network  *proxy
	pictures int
	silent   bool // the page was found not to respond

	mu    sync.Mutex
	wrong []string // errors of the console
}

// A view is the state of a page at one moment.
type view struct {
	Count, Visible int
	Text, Title    string
	Status         int
	Ready          bool
	At             string
}

// A question is an evaluation in the page. Its argument is one value, because a
// separate empty text would not arrive.
type question struct {
	Selector string `json:"selector"`
	Value    string `json:"value"`
}

// prepare makes the tab and listens to it. Links for a new window open in the tab.
func (t *tab) prepare() error {
	if err := chromedp.Listen(t.ctx, t.handle); err != nil {
		return err
	}
	if err := refuseDownloads(t.ctx); err != nil {
		return err
	}
	_, err := chromedp.Call(t.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: "{" + stayJS + "}"})
	return err
}

// note adds an error of the console.
func (t *tab) note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.wrong) < maxNotes {
		t.wrong = append(t.wrong, clip(text, 300))
	}
}

// errors returns the errors of the console.
func (t *tab) errors() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.wrong)
}

// handle processes an event of the browser. It must not block, because it runs in
// the reader of the messages.
func (t *tab) handle(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			t.note(spoken(e.Args))
		}
	case *runtime.EventExceptionThrown:
		message, _, _ := strings.Cut((&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error(), "\n")
		t.note(message)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && !strings.HasSuffix(e.Entry.URL, "/favicon.ico") {
			t.note(e.Entry.Text + " " + e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		go chromedp.Call(t.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
	}
}

func spoken(args []*runtime.RemoteObject) string {
	var words []string
	for _, a := range args {
		var text string
		switch {
		case json.Unmarshal(a.Value, &text) == nil:
		case a.Description != "":
			text = a.Description
		default:
			text = string(a.Value)
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

// navigate opens an address and waits until the page is loaded or the limit of
// waiting is exceeded. A page that never finishes loading can still be
// inspected.
func (t *tab) navigate(address string) (view, error) {
	opened, err := chromedp.Call(t.ctx, page.Navigate, page.NavigateParams{URL: address})
	switch {
	case err != nil:
		return view{}, t.fault(err)
	case opened.ErrorText != "":
		return view{}, fmt.Errorf("it did not open: %s", opened.ErrorText)
	}
	seen, _, err := t.await("", func(v view) bool { return v.Ready && v.At != "about:blank" })
	return seen, err
}

// problem returns why a view shows no page of the services.
func (t *tab) problem(v view) error {
	u, err := url.Parse(v.At)
	switch {
	case err != nil || u.Scheme == "chrome-error":
		return errors.New("it did not open")
	case (u.Scheme == "http" || u.Scheme == "https") && !t.services.includes(u):
		return fmt.Errorf("it leads to %s, which is not one of the request's services", clip(u.Redacted(), 300))
	}
	return nil
}

// fault returns the cause of the context's end, or the browser's error if the
// context has not ended.
func (t *tab) fault(err error) error {
	if cause := context.Cause(t.ctx); cause != nil {
		return cause
	}
	return err
}

// await views the page repeatedly until the condition is met, and returns the
// last view. An error means that the page could not be viewed.
func (t *tab) await(selector string, met func(view) bool) (last view, ok bool, err error) {
	ctx, cancel := context.WithTimeout(t.ctx, t.browser.limits.Wait)
	defer cancel()
	seen, problem := false, errSilent
	for pause := 25 * time.Millisecond; ; pause = min(2*pause, 400*time.Millisecond) {
		var v view
		switch err := t.ask(ctx, lookJS, &v, question{Selector: selector}); {
		case err == nil && t.problem(v) != nil:
			last, seen, problem = v, false, t.problem(v)
		case err == nil:
			last, seen = v, true
			if met(v) {
				return v, true, nil
			}
		case isException(err):
			return last, false, fmt.Errorf("the selector %q: %w", selector, err)
		case ctx.Err() == nil:
			problem = err // such as a page that is being left
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			switch {
			case t.ctx.Err() != nil:
				return last, false, t.fault(t.ctx.Err())
			case !seen:
				t.silent = problem == errSilent
				return last, false, problem
			}
			return last, false, nil
		}
	}
}

func isException(err error) bool {
	var thrown *chromedp.ExceptionError
	return errors.As(err, &thrown)
}

// ask calls a function in the tab's own world of the page.
func (t *tab) ask(ctx context.Context, function string, result any, about question) error {
	tree, err := chromedp.Call(ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return err
	}
	world, err := chromedp.Call(ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{
		FrameID: tree.FrameTree.Frame.ID, WorldName: "capstan",
	})
	if err != nil {
		return err
	}
	in := func(p *runtime.CallFunctionOnParams) { p.ExecutionContextID = world.ExecutionContextID }
	raw, err := chromedp.Run(ctx, chromedp.CallFunctionOn[[]byte](function, in, about))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

func (t *tab) click(selector string) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.browser.limits.Wait)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
	if err != nil && t.ctx.Err() == nil {
		return fmt.Errorf("%w: %w", errNotDone, err)
	}
	return t.fault(err)
}

func (t *tab) fill(selector, text string) error {
	ctx, cancel := context.WithTimeout(t.ctx, t.browser.limits.Wait)
	defer cancel()
	var left string
	if err := t.ask(ctx, fillJS, &left, question{selector, text}); err != nil {
		return t.fault(err)
	}
	switch left {
	case "none":
		return fmt.Errorf("%w: there is no such choice", errNotDone)
	case "type":
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return t.fault(err)
	}
	return nil
}
