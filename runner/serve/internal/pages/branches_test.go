package pages_test

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
)

// fanOut runs a fan-out over n items, and a group. Every fortieth item fails.
func fanOut(w *servetest.World, n int) string {
	w.Model = model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		text := r.Messages[len(r.Messages)-1].Content
		if r.Phase == "lines" && strings.Contains(text, "39.") || strings.Contains(text, "it is bad") {
			return model.Response{Text: "bad"}, nil
		}
		return model.Response{Text: "A line."}, nil
	})
	list := make([]any, n)
	for i := range list {
		list[i] = fmt.Sprintf("owl %d", i)
		if i%40 != 39 {
			list[i] = fmt.Sprintf("owl %d!", i)
		}
	}
	for i := 39; i < n; i += 40 {
		list[i] = fmt.Sprintf("owl %d of 39", i)
	}
	return w.Start("fan", map[string]any{"list": list})
}

func TestAFanOutIsOneRow(t *testing.T) {
	w := servetest.New(t)
	id := fanOut(w, 120)
	page := w.Send("GET", "/runs/"+id, nil).Text
	for _, summary := range []string{"120 items, 3 failed", "2 phases in parallel"} {
		if !strings.Contains(page, summary) {
			t.Errorf("the page does not say %q", summary)
		}
	}
	opened := w.Send("GET", "/runs/"+id+"/phase?at=lines", nil, "HX-Request", "true").Text
	names := regexp.MustCompile(`class="name">(item \d+)<`).FindAllStringSubmatch(opened, -1)
	if len(names) != 50 || names[0][1] != "item 39" || names[1][1] != "item 79" || names[2][1] != "item 119" || names[3][1] != "item 0" {
		t.Errorf("%d rows, %v", len(names), names)
	}
	if !strings.Contains(opened, "1 to 50 of 120") || strings.Contains(opened, `class="attempt`) {
		t.Errorf("%.2000s", opened)
	}
	// Follow the addresses of all pages.
	seen, at := map[string]int{}, "/runs/"+id+"/phase?at=lines"
	for pages := 0; at != "" && pages < 9; pages++ {
		text := w.Send("GET", at, nil).Text
		for _, m := range regexp.MustCompile(`class="name">(item \d+)<`).FindAllStringSubmatch(text, -1) {
			seen[m[1]]++
		}
		at = ""
		if next := regexp.MustCompile(`href="([^"]+)">Next<`).FindStringSubmatch(text); next != nil {
			at = strings.ReplaceAll(next[1], "&amp;", "&")
		}
	}
	if len(seen) != 120 || seen["item 119"] != 1 || seen["item 60"] != 1 {
		t.Errorf("%d items: %v", len(seen), seen)
	}
	item := w.Send("GET", "/runs/"+id+"/phase?at="+url.QueryEscape("lines/item[39]"), nil).Text
	if !strings.Contains(item, "it is bad") || !strings.Contains(item, "attempt 2") || !strings.Contains(item, "<title>lines, item 39") {
		t.Errorf("%.3000s", item)
	}
	group := w.Send("GET", "/runs/"+id+"/phase?at=both", nil).Text
	if !strings.Contains(group, `class="name">legal<`) || !strings.Contains(group, `class="name">market<`) {
		t.Errorf("%.3000s", group)
	}
	for _, from := range []string{"-1", "120", "99999999999999999999", "x"} {
		if r := w.Send("GET", "/runs/"+id+"/phase?at=lines&from="+from, nil); r.StatusCode != 200 || !strings.Contains(r.Text, "1 to 50") {
			t.Errorf("from=%s: %d", from, r.StatusCode)
		}
	}
}

// TestItemsOverHTTP compares the records of a fan-out with the contract.
func TestItemsOverHTTP(t *testing.T) {
	w := servetest.New(t)
	run := w.Want(200, "GET", "/v1/runs/"+fanOut(w, 40), nil).JSON(t)
	for _, p := range run["phases"].([]any) {
		record := p.(map[string]any)
		if record["name"] != "lines" {
			continue
		}
		lost := record["failures"].([]any)
		if fmt.Sprint(record["items"]) != "40" || len(lost) != 1 || fmt.Sprint(lost[0].(map[string]any)["index"]) != "39" {
			t.Errorf("%v", record)
		}
	}
	w.Want(200, "GET", "/v1/runs/"+w.Start("acts", nil), nil)
}

// TestCallsThatWereRefused checks that a call shows the verdicts of its wards, and whether it
// was made.
func TestCallsThatWereRefused(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("acts", nil)
	page := w.Send("GET", "/runs/"+id, nil).Text
	calls := regexp.MustCompile(`(?s)<details class="call"[^>]*><summary>((?:[^<]|<[^/]|</[^s]|</s[^u])*)</summary>`)
	tags := regexp.MustCompile(`<[^>]*>`)
	for phase, want := range map[string][]string{
		"work": {"tool set_state", "refused tool set_state", "withheld tool set_state"},
		"more": {"tool set_state", "not made tool set_state", "refused tool set_state"},
	} {
		text := w.Send("GET", "/runs/"+id+"/phase?at="+phase, nil, "HX-Request", "true").Text
		var got []string
		for _, m := range calls.FindAllStringSubmatch(text, -1) {
			shown := strings.Join(strings.Fields(tags.ReplaceAllString(m[1], " ")), " ")
			if i := strings.Index(shown, "tool set_state"); i >= 0 {
				got = append(got, strings.TrimLeft(shown[:i], "⚠✗■–…· ")+"tool set_state")
			}
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: got %q, want %q", phase, got, want)
		}
	}
	if !strings.Contains(page, "tool set_state</span></h3>") {
		t.Errorf("what went wrong does not name the call: %.3000s", page)
	}
}

// TestAFanOutInABrowser shows a fan-out of a thousand items, and refused calls.
func TestAFanOutInABrowser(t *testing.T) {
	w := servetest.New(t)
	b := newBrowser(t, w.HTTP.URL)
	fan, acts := fanOut(w, 1000), ""
	w.Model = nil
	acts = w.Start("acts", nil)
	b.open("/runs/" + fan)
	if n := js[int](b, "document.querySelectorAll('#phases > li').length"); n != 2 {
		t.Errorf("%d rows", n)
	}
	if !js[bool](b, "document.querySelector('#phases > li > details').open") {
		b.click("#phases > li > details > summary")
	}
	b.until("document.querySelectorAll('#phases > li:first-child .phases > li').length === 50")
	js[any](b, "document.querySelector('#phases > li:first-child .phases > li summary').click()")
	b.until("document.querySelector('#phases > li:first-child .phases .attempt') !== null")
	b.looks("fan")
	b.open("/runs/" + acts)
	b.looks("acts")
	b.open("/runs/" + acts + "/phase?at=work")
	b.looks("acts-work")
}

// TestAnItemThatIsOpen checks that updates of an open item keep its open elements.
func TestAnItemThatIsOpen(t *testing.T) {
	w := servetest.New(t)
	owl, bat := make(chan struct{}), make(chan struct{})
	w.Model = model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		wait := map[bool]chan struct{}{strings.Contains(r.Messages[0].Content, "owl") && len(r.Messages) > 1: owl, strings.Contains(r.Messages[0].Content, "bat"): bat}[true]
		switch {
		case strings.Contains(r.Messages[0].Content, "owl") && len(r.Messages) == 1:
			return model.Response{Text: "It is bad."}, nil
		case wait != nil:
			select {
			case <-wait:
			case <-ctx.Done():
				return model.Response{}, context.Cause(ctx)
			}
		}
		return model.Response{Text: "A line at last."}, nil
	})
	b := newBrowser(t, w.HTTP.URL)
	id := w.Want(202, "POST", "/v1/runs", `{"cascade": "fan", "input": {"list": ["an owl", "a bat", "a cat"]}}`).JSON(t)["run_id"].(string)
	b.open("/runs/" + id)
	item := func(n int) string {
		return fmt.Sprintf("Array.from(document.querySelectorAll('#phases .phases > li > details')).find(d => d.querySelector('.name').textContent === 'item %d')", n)
	}
	says := func(n int, what string) string {
		return fmt.Sprintf("(%s || document.body).textContent.includes('%s')", item(n), what)
	}
	b.until("document.querySelectorAll('#phases .phases > li').length === 3 && " + says(0, "rejected: expr"))
	// Open a part before htmx has processed it.
	js[any](b, "(i => i.replaceWith(i.cloneNode(true)))("+item(0)+")")
	js[any](b, item(0)+".querySelector('summary').click()")
	b.until(says(0, "asking"))
	js[any](b, item(0)+".querySelector('details.attempt').open = true")
	js[any](b, item(0)+".querySelector('details.call > summary').click()")
	b.until(says(0, "Write of an owl."))
	stays := func(when string) {
		t.Helper()
		if !js[bool](b, says(0, "Write of an owl.")+" && "+item(0)+".open && "+item(0)+".querySelector('details.call').open") {
			t.Errorf("%s: what was open in an item is not", when)
		}
	}
	close(bat)
	b.until(says(1, "succeeded"))
	b.until(says(0, "asking"))
	stays("news of another")
	close(owl)
	b.until(says(0, "succeeded") + " && " + says(0, "A line at last."))
	b.until("!" + says(0, "asking"))
	stays("news of it")
	b.shoot("open-item")
	b.until("document.querySelector('#head').innerText.includes('succeeded')")
	stays("the end")
}
