package inspectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/seed61713e19/capstan/validators/request"
)

// A pageCheck opens a page and goes through its clauses, in order.
type pageCheck struct {
	ref     string // a path, or a URL
	status  int    // 0: any below 400
	clauses []clause
}

// A clause is something to do on a page or to see there.
type clause struct {
	word     string // element, absent, text, title, click, fill, console, screenshot
	selector string // of text: where; empty: anywhere
	text     string
}

func (pageCheck) in() request.Type { return request.Browser }

// parsePage reads: PATH-OR-URL [status N], and as often as need be and in any
// order: element CSS [text TEXT], absent CSS, text TEXT, title TEXT, click CSS,
// fill CSS TEXT, no console errors, screenshot.
func parsePage(l *lexer) (check, error) {
	ref, err := l.argument("page:")
	if err != nil {
		return nil, err
	}
	c := pageCheck{ref: ref}
	if err := l.each(c.clause); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *pageCheck) clause(w word, l *lexer) (err error) {
	next := clause{word: w.text}
	switch {
	case w.is("element"), w.is("absent"), w.is("click"):
		next.selector, err = l.argument(w.text)
	case w.is("fill"):
		next.selector, err = l.argument(w.text)
		if err == nil {
			next.text, err = l.value(next.selector)
		}
	case w.is("text"):
		if n := len(c.clauses); n > 0 && (c.clauses[n-1].word == "element" || c.clauses[n-1].word == "text") {
			next.selector = c.clauses[n-1].selector
		}
		next.text, err = l.argument(w.text)
	case w.is("title"):
		next.text, err = l.argument(w.text)
	case w.is("status"):
		c.status, err = parseStatus(l)
		return err
	case w.is("no"):
		next.word = "console"
		err = l.expect("console", "errors")
	case w.is("screenshot"):
	default:
		return fmt.Errorf("%s is none of element, absent, text, title, click, fill, status, no console errors, screenshot", w)
	}
	c.clauses = append(c.clauses, next)
	return err
}

// value is the next word, which may be empty if it is quoted.
func (l *lexer) value(after string) (string, error) {
	w, err := l.next()
	if err == nil && w.text == "" && !w.quoted {
		err = fmt.Errorf("nothing stands behind %s", after)
	}
	return w.text, err
}

func (l *lexer) expect(words ...string) error {
	for _, keyword := range words {
		w, err := l.next()
		if err != nil {
			return err
		}
		if !w.is(keyword) {
			return fmt.Errorf("%s stands where %q should", w, keyword)
		}
	}
	return nil
}

func (c pageCheck) inspect(ctx context.Context, n *inspection) finding {
	u, err := n.services.resolve(cmp.Or(n.services.app, n.services.api), c.ref)
	if err != nil {
		return blocked("%v", cmp.Or(n.services.problem, err))
	}
	if err := n.services.up(ctx, u); err != nil {
		return blocked("%v", err)
	}
	var led finding
	if c.status/100 == 3 { // which a browser follows before it shows anything
		led = urlCheck{ref: u.String(), method: http.MethodGet, status: c.status}.inspect(ctx, n)
		if led.status != request.Passed {
			return led
		}
		c.status = 0
	}
	tab, err := n.browser.open(ctx, n.services)
	if err != nil {
		return blocked("%v", err)
	}
	defer tab.close()
	f := c.walk(tab, n, u.String())
	if refused := tab.network.refusals(); refused != nil { // which the page may need
		f = blocked("%s; page %s: %s", f.said, c.ref, strings.Join(refused, "; "))
	}
	if led.said != "" {
		f = sum([]finding{led, f})
	}
	if tab.pictures == 0 && !tab.silent {
		if err := tab.screenshot(n, "page "+c.ref+" at the end"); err != nil {
			shot := blocked("no screenshot: %v", err)
			return sum([]finding{f, shot})
		}
	}
	return f
}

// walk opens the page and goes through the clauses until one does not hold.
func (c pageCheck) walk(t *tab, n *inspection, address string) finding {
	opened, err := t.navigate(address)
	if err != nil {
		return blocked("page %s: %v", c.ref, err)
	}
	all := []finding{c.judgeStatus(opened)}
	for _, clause := range c.clauses {
		if all[len(all)-1].status != request.Passed {
			break
		}
		f, err := clause.on(t, n, c.ref)
		if err != nil {
			f = blocked("page %s: %v", c.ref, err)
		}
		all = append(all, f)
	}
	return sum(all)
}

func (c pageCheck) judgeStatus(opened view) finding {
	switch {
	case c.status != 0 && opened.Status != c.status:
		return fails(fmt.Sprintf("make page %s answer with status %d", c.ref, c.status),
			"page %s opened with status %d, not %d", c.ref, opened.Status, c.status)
	case c.status == 0 && opened.Status >= 400:
		return fails("make page "+c.ref+" open", "page %s opened with status %d", c.ref, opened.Status)
	}
	return holds("page %s opened with status %d, title %q", c.ref, opened.Status, clip(opened.Title, 100))
}

// on does what a clause says, and waits for what it wants to see. An error says
// that it cannot be known.
func (c clause) on(t *tab, n *inspection, ref string) (finding, error) {
	switch c.word {
	case "screenshot":
		if err := t.screenshot(n, "page "+ref); err != nil {
			return finding{}, err
		}
		return holds("screenshot taken"), nil
	case "console":
		return c.console(t), nil
	case "click":
		return c.act(t, ref, func() error { return t.click(c.selector) })
	case "fill":
		return c.act(t, ref, func() error { return t.fill(c.selector, c.text) })
	}
	last, met, err := t.await(c.selector, c.met)
	if err != nil {
		return finding{}, err
	}
	if met {
		return holds("%s", c.wanted(ref)), nil
	}
	return fails("see to it that "+c.wanted(ref), "%s", c.missed(ref, last)), nil
}

// act waits for a visible element and does something with it.
func (c clause) act(t *tab, ref string, do func() error) (finding, error) {
	element := clause{word: "element", selector: c.selector}
	last, met, err := t.await(c.selector, element.met)
	switch {
	case err != nil:
		return finding{}, err
	case !met:
		return fails("see to it that "+element.wanted(ref), "%s", element.missed(ref, last)), nil
	}
	err = do()
	if errors.Is(err, errNotDone) {
		return fails(fmt.Sprintf("make %s of %q on page %s possible", c.word, c.selector, ref), "page %s: %s %q: %v", ref, c.word, c.selector, err), nil
	}
	return holds("%s %q done", c.word, c.selector), err
}

func (c clause) met(v view) bool {
	switch c.word {
	case "element":
		return v.Visible > 0
	case "absent":
		return v.Count == 0
	case "title":
		return strings.Contains(squeezed(v.Title), squeezed(c.text))
	}
	return strings.Contains(squeezed(v.Text), squeezed(c.text))
}

func (c clause) wanted(ref string) string {
	switch {
	case c.word == "element":
		return fmt.Sprintf("page %s shows an element %q", ref, c.selector)
	case c.word == "absent":
		return fmt.Sprintf("page %s has no element %q", ref, c.selector)
	case c.word == "title":
		return fmt.Sprintf("the title of page %s contains %q", ref, c.text)
	case c.selector != "":
		return fmt.Sprintf("%q on page %s shows %q", c.selector, ref, c.text)
	}
	return fmt.Sprintf("page %s shows %q", ref, c.text)
}

func (c clause) missed(ref string, v view) string {
	switch {
	case c.word == "element" && v.Count > 0:
		return fmt.Sprintf("page %s has %d elements %q, and shows none of them", ref, v.Count, c.selector)
	case c.word == "element":
		return fmt.Sprintf("page %s has no element %q", ref, c.selector)
	case c.word == "absent":
		return fmt.Sprintf("page %s has %d elements %q", ref, v.Count, c.selector)
	case c.word == "title":
		return fmt.Sprintf("the title of page %s is %q, and does not contain %q", ref, clip(v.Title, 200), c.text)
	}
	where := "page " + ref
	if c.selector != "" {
		where = fmt.Sprintf("%q on %s", c.selector, where)
	}
	return fmt.Sprintf("%s does not show %q but %q", where, c.text, clip(squeezed(v.Text), 300))
}

func (c clause) console(t *tab) finding {
	if said := t.errors(); len(said) > 0 {
		return fails("mend what the console complains of", "the console has errors: %s", clip(strings.Join(said, "; "), 1000))
	}
	return holds("the console has no errors")
}
