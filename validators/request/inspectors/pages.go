package inspectors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/hints"
)

// page opens a page and executes its clauses in order.
func (c check) page(ctx context.Context, n *inspection) finding {
	u, err := n.services.resolve(cmp.Or(n.services.app, n.services.api), c.Args[0])
	if err != nil {
		return blocked("%v", err)
	}
	if err := n.services.up(ctx, u); err != nil {
		return blocked("%v", err)
	}
	var led finding
	if c.Status()/100 == 3 { // a browser follows it before it shows anything
		led = c.ask(ctx, n, http.MethodGet, u)
		if led.status != request.Pass {
			return led
		}
		c.Clauses = slices.DeleteFunc(slices.Clone(c.Clauses), func(one hints.Clause) bool { return one.Word == "status" })
	}
	tab, err := n.browser.open(ctx, n.services)
	if err != nil {
		return blocked("%v", err)
	}
	defer tab.close()
	f := c.walk(tab, n, u.String())
	if refused := tab.network.refusals(); refused != nil { // which the page may need
		f = blocked("%s; page %s: %s", f.message, c.Args[0], strings.Join(refused, "; "))
	}
	if led.message != "" {
		f = sum([]finding{led, f})
	}
	if tab.pictures == 0 && !tab.silent {
		if err := tab.screenshot(n, "page "+c.Args[0]+" at the end"); err != nil {
			shot := blocked("no screenshot: %v", err)
			return sum([]finding{f, shot})
		}
	}
	return f
}

// walk opens the page and checks the clauses up to the first that fails.
func (c check) walk(t *tab, n *inspection, address string) finding {
	opened, err := t.navigate(address)
	if err != nil {
		return blocked("page %s: %v", c.Args[0], err)
	}
	all := []finding{c.judgeOpened(opened)}
	for _, one := range c.Clauses {
		if all[len(all)-1].status != request.Pass {
			break
		}
		if one.Word == "status" {
			continue
		}
		f, err := clause(one).on(t, n, c.Args[0])
		if err != nil {
			f = blocked("page %s: %v", c.Args[0], err)
		}
		all = append(all, f)
	}
	return sum(all)
}

func (c check) judgeOpened(opened view) finding {
	status := c.Status()
	switch {
	case status != 0 && opened.Status != status:
		return fails(fmt.Sprintf("make page %s answer with status %d", c.Args[0], status),
			"page %s opened with status %d, not %d", c.Args[0], opened.Status, status)
	case status == 0 && opened.Status >= 400:
		return fails("make page "+c.Args[0]+" open", "page %s opened with status %d", c.Args[0], opened.Status)
	}
	return holds("page %s opened with status %d, title %q", c.Args[0], opened.Status, clip(opened.Title, 100))
}

// A clause is a demand of a check of a page.
type clause hints.Clause

// on executes a clause and waits for the expected state. An error means that
// the state is unknown.
func (c clause) on(t *tab, n *inspection, ref string) (finding, error) {
	switch c.Word {
	case "screenshot":
		if err := t.screenshot(n, "page "+ref); err != nil {
			return finding{}, err
		}
		return holds("screenshot taken"), nil
	case "no":
		return c.console(t), nil
	case "click":
		return c.act(t, ref, func() error { return t.click(c.Selector) })
	case "fill":
		return c.act(t, ref, func() error { return t.fill(c.Selector, c.Text) })
	}
	last, met, err := t.await(c.Selector, c.met)
	if err != nil {
		return finding{}, err
	}
	if met {
		return holds("%s", c.wanted(ref)), nil
	}
	return fails("see to it that "+c.wanted(ref), "%s", c.missed(ref, last)), nil
}

// act waits for a visible element and performs an action with it.
func (c clause) act(t *tab, ref string, do func() error) (finding, error) {
	element := clause{Word: "element", Selector: c.Selector}
	last, met, err := t.await(c.Selector, element.met)
	switch {
	case err != nil:
		return finding{}, err
	case !met:
		return fails("see to it that "+element.wanted(ref), "%s", element.missed(ref, last)), nil
	}
	err = do()
	if errors.Is(err, errNotDone) {
		return fails(fmt.Sprintf("make %s of %q on page %s possible", c.Word, c.Selector, ref), "page %s: %s %q: %v", ref, c.Word, c.Selector, err), nil
	}
	return holds("%s %q done", c.Word, c.Selector), err
}

func (c clause) met(v view) bool {
	switch c.Word {
	case "element":
		return v.Visible > 0
	case "absent":
		return v.Count == 0
	case "title":
		return strings.Contains(squeezed(v.Title), squeezed(c.Text))
	}
	return strings.Contains(squeezed(v.Text), squeezed(c.Text))
}

func (c clause) wanted(ref string) string {
	switch {
	case c.Word == "element":
		return fmt.Sprintf("page %s shows an element %q", ref, c.Selector)
	case c.Word == "absent":
		return fmt.Sprintf("page %s has no element %q", ref, c.Selector)
	case c.Word == "title":
		return fmt.Sprintf("the title of page %s contains %q", ref, c.Text)
	case c.Selector != "":
		return fmt.Sprintf("%q on page %s shows %q", c.Selector, ref, c.Text)
	}
	return fmt.Sprintf("page %s shows %q", ref, c.Text)
}

func (c clause) missed(ref string, v view) string {
	switch {
	case c.Word == "element" && v.Count > 0:
		return fmt.Sprintf("page %s has %d elements %q, and shows none of them", ref, v.Count, c.Selector)
	case c.Word == "element":
		return fmt.Sprintf("page %s has no element %q", ref, c.Selector)
	case c.Word == "absent":
		return fmt.Sprintf("page %s has %d elements %q", ref, v.Count, c.Selector)
	case c.Word == "title":
		return fmt.Sprintf("the title of page %s is %q, and does not contain %q", ref, clip(v.Title, 200), c.Text)
	}
	where := "page " + ref
	if c.Selector != "" {
		where = fmt.Sprintf("%q on %s", c.Selector, where)
	}
	return fmt.Sprintf("%s does not show %q but %q", where, c.Text, clip(squeezed(v.Text), 300))
}

func (c clause) console(t *tab) finding {
	if message := t.errors(); len(message) > 0 {
		return fails("mend what the console complains of", "the console has errors: %s", clip(strings.Join(message, "; "), 1000))
	}
	return holds("the console has no errors")
}

// squeezed returns a text with each run of blanks as one.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
