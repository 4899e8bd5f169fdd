package pages_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/measures/trust"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// A drawer stores labels in memory.
type drawer struct {
	t      testing.TB
	runner *runner.Runner
	of     func() serve.Store
	mu     sync.Mutex
	labels []stats.Label
}

func (d *drawer) Weigh(ctx context.Context, name string) (*serve.Scale, error) {
	if name == "none" {
		return nil, orders.ErrNoCascade
	}
	runs, err := d.of().Run(ctx, "last")
	if err != nil {
		return nil, err
	}
	past := func(id string) ([]cascades.Gate, error) {
		run, err := d.of().Run(ctx, id)
		if err != nil {
			return nil, err
		}
		c, err := d.runner.Unpack(run.Start.Files)
		if err != nil {
			return nil, err
		}
		return run.Start.Gates(c)
	}
	c, err := d.runner.Unpack(runs.Start.Files)
	if err != nil {
		return nil, err
	}
	gates, err := past(runs.RunID)
	d.mu.Lock()
	defer d.mu.Unlock()
	q := trust.Question{CascadeID: c.ID, Gates: gates, Labels: stats.NewLedger(d.labels), Past: past}
	return &serve.Scale{Question: q, Cascade: c, Notes: []string{"ann.jsonl: line 2: it is <none>"}}, err
}

func (d *drawer) Label(_, _ string, l stats.Label) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.Time = time.Now()
	d.labels = append(d.labels, l)
	return nil
}

// weighing returns the world of [past] with scales.
func weighing(t testing.TB, days, each int) (*servetest.World, *drawer) {
	t.Helper()
	r, err := runner.New()
	if err != nil {
		t.Fatal(err)
	}
	d := &drawer{t: t, runner: r}
	w := past(t, days, each, func(o *serve.Options) {
		o.Scales, d.of = d, func() serve.Store { return o.Store }
	})
	return w, d
}

// TestLabels checks that the page shows verdicts only after the person's answer, and stores a
// label only of the shown text.
func TestLabels(t *testing.T) {
	w, d := weighing(t, 9, 2)
	asked := w.Want(200, "GET", "/label?cascade=post", nil).Text
	if strings.Contains(asked, `form class="labelling"`) {
		t.Error("it asks nobody")
	}
	page := w.Want(200, "GET", "/label?cascade=post&by=ann", nil).Text
	if !strings.Contains(page, "owls") && !strings.Contains(page, "Short.") {
		t.Fatal(page)
	}
	for _, hint := range []string{"said <b>so", "passed", "rejected", "The gates said"} {
		if strings.Contains(page, hint) {
			t.Errorf("it tells %q beforehand", hint)
		}
	}
	fields := url.Values{"said": {"n"}, "reason": {"too <b>short"}}
	for _, name := range []string{"cascade", "phase", "gate", "by", "order", "draw", "of", "text", "run", "at"} {
		_, rest, _ := strings.Cut(page, `type="hidden" name="`+name+`" value="`)
		fields[name] = []string{rest[:strings.IndexByte(rest, '"')]}
	}
	for name, bad := range map[string]string{"said": "x", "by": " ", "text": "0123", "of": "nowhere", "gate": "nobody", "at": "draft/attempt[99]"} {
		was := fields[name]
		fields[name] = []string{bad}
		if r := postForm(w, "/label", fields); r.StatusCode < 400 || len(d.labels) != 0 {
			t.Errorf("%s %q: %d, %d labels", name, bad, r.StatusCode, len(d.labels))
		}
		fields[name] = was
	}
	r := postForm(w, "/label", fields)
	if r.StatusCode != 303 || len(d.labels) != 1 {
		t.Fatalf("%d: %s", r.StatusCode, r.Text)
	}
	if l := d.labels[0]; l.Good || l.By != "ann" || l.Phase != "draft" || l.Gate != "all" || l.Reason != "too <b>short" || len(l.Text) != 64 || l.Draw == nil || l.Draw.Order != stats.Random {
		t.Errorf("kept %+v", l)
	}
	next := w.Want(200, "GET", r.Header.Get("Location"), nil).Text
	if !strings.Contains(next, "Your label: <strong>bad</strong>") || !strings.Contains(next, "warm") {
		t.Error(next)
	}
	if strings.Contains(next, `name="text" value="`+fields["text"][0]) {
		t.Error("it asks about the same text again")
	}
	// Naming a text does not show its verdicts.
	if page := w.Want(200, "GET", "/label?cascade=post&by=bob&past="+fields["text"][0], nil).Text; strings.Contains(page, "The gates said") {
		t.Error("it tells who has not answered")
	}
}

// TestLabelDraws checks that a label records how its text was drawn.
func TestLabelDraws(t *testing.T) {
	w, d := weighing(t, 9, 2)
	label := func(query string) stats.Draw {
		t.Helper()
		page := w.Want(200, "GET", "/label?cascade=post&"+query, nil).Text
		fields := url.Values{"said": {"y"}}
		for _, name := range []string{"cascade", "phase", "gate", "by", "order", "draw", "of", "text", "run", "at"} {
			_, rest, found := strings.Cut(page, `type="hidden" name="`+name+`" value="`)
			if !found {
				t.Fatalf("%s: no %s in %s", query, name, page)
			}
			fields[name] = []string{rest[:strings.IndexByte(rest, '"')]}
		}
		if r := postForm(w, "/label", fields); r.StatusCode != 303 {
			t.Fatalf("%s: %d", query, r.StatusCode)
		}
		return *d.labels[len(d.labels)-1].Draw
	}
	if got := label("by=ann"); got != (stats.Draw{Order: stats.Random}) {
		t.Errorf("at random: %+v", got)
	}
	drawn := d.labels[0].Text
	if got := label("by=ann&text=" + drawn); got.Order != stats.Random {
		t.Errorf("a label that replaces another is of %+v", got)
	}
	if got := label("by=bob&text=" + drawn); got.Order != stats.Chosen || got.Weight() != 0 {
		t.Errorf("by name: %+v", got)
	}
	if got := label("by=eve&order=disagreement"); got.Order != stats.Disagreement || got.Weight() <= 0 {
		t.Errorf("by disagreement: %+v", got)
	}
}

// TestRunsByTheirTexts checks the filters for words and labels.
func TestRunsByTheirTexts(t *testing.T) {
	w, d := weighing(t, 5, 2)
	rows := func(query string) int {
		return strings.Count(w.Want(200, "GET", "/?"+query, nil).Text, "<tr data-row>")
	}
	all := rows("")
	short := rows("words=SHORT.")
	if short == 0 || short >= all || rows("words=no+such+words") != 0 {
		t.Errorf("%d of %d runs say Short.", short, all)
	}
	if page := w.Want(200, "GET", "/?words=sHORT.", nil).Text; !strings.Contains(page, "<mark>Short.</mark>") {
		t.Errorf("where the word stands is not reported: %s", page)
	}
	if rows("label=bad") != 0 {
		t.Error("nobody has said anything")
	}
	_ = d.Label("post", "", stats.Label{Text: stats.TextDigest("Short."), Phase: "draft", Gate: "all", By: "ann"})
	if got := rows("label=bad"); got != short || rows("label=good") != 0 || rows("label=bad&words=short") != short || rows("label=bad&words=no+such") != 0 {
		t.Errorf("%d runs have a text that is bad, %d say it", got, short)
	}
	if page := w.Want(200, "GET", "/?label=bad&words=short&limit=1", nil).Text; !strings.Contains(page, "label=bad") || !strings.Contains(page, "words=short") || strings.Contains(page, "sse-connect") {
		t.Error("the rest of the list has another filter, or the list is looked for again each second")
	}
	w.Want(400, "GET", "/?label=fine", nil)
	servetest.New(t).Want(501, "GET", "/?label=bad", nil)
}

// TestMeasuredPages checks pages without measurements, and the page of a cascade that does
// not load.
func TestMeasuredPages(t *testing.T) {
	w, d := weighing(t, 5, 2)
	for _, path := range []string{"/trust?cascade=post", "/cost?cascade=post", "/label?cascade=post"} {
		page := w.Want(200, "GET", path, nil).Text
		if strings.Contains(page, "NaN") || strings.Contains(page, "<none>") {
			t.Error(page)
		}
		tame(t, path, page)
	}
	page := w.Want(200, "GET", "/trust?cascade=post", nil).Text
	if strings.Count(page, "unknown") < 4 || !strings.Contains(page, "label 68 bad texts") {
		t.Error(page)
	}
	random := &stats.Draw{Order: stats.Random}
	_ = d.Label("post", "", stats.Label{Text: stats.TextDigest("Short."), Phase: "draft", Gate: "all", By: "ann", Draw: random})
	_ = d.Label("post", "", stats.Label{Text: stats.TextDigest("A long enough text about owls."), Phase: "draft", Gate: "all", By: "ann", Good: true, Draw: random})
	page = w.Want(200, "GET", "/trust?cascade=post", nil).Text
	for _, want := range []string{"0 of 1, 0.0 % (0.0-99.0)", `<th scope="row">bad</th>`, "of 1 released labelled texts, 0 are bad"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	_ = d.Label("post", "", stats.Label{Text: stats.TextDigest("Short."), Phase: "draft", Gate: "all", By: "bob <i>", Good: true})
	if page = w.Want(200, "GET", "/trust?cascade=post", nil).Text; !strings.Contains(page, "Contradicting labels") || !strings.Contains(page, "unknown") || !strings.Contains(page, `data-label="Kappa">0.00<`) {
		t.Error(page)
	}
	for _, path := range []string{"/trust?cascade=none", "/cost?cascade=none", "/label?cascade=none&by=ann"} {
		w.Want(422, "GET", path, nil)
	}
	w.Want(200, "GET", "/trust", nil)
	w.Want(400, "GET", "/label?cascade=post&gate=nobody&by=ann", nil)
	bare := servetest.New(t)
	bare.Want(501, "GET", "/trust", nil)
}

// TestLabelledWithKeys checks labelling with single keys, and shows the pages of measurements.
func TestLabelledWithKeys(t *testing.T) {
	w, d := weighing(t, 30, 9)
	b := newBrowser(t, w.HTTP.URL)
	b.open("/label?cascade=post&by=ann")
	first := js[string](b, "document.querySelector('[name=text]').value")
	b.keys("r")
	b.keys("ynsyn")
	b.until("document.getElementById('reason').value.endsWith('ynsyn')")
	b.keys("\x1b")
	b.keys("s")
	b.until("document.readyState === 'complete' && document.querySelector('[name=text]').value !== '" + first + "'")
	b.keys("y")
	b.until("document.querySelector('.told') !== null")
	d.mu.Lock()
	if len(d.labels) != 1 || !d.labels[0].Good {
		t.Errorf("%+v", d.labels)
	}
	for i := range 40 {
		d.labels = append(d.labels, stats.Label{Text: stats.TextDigest(fmt.Sprint(i)), Phase: "draft", Gate: "all", By: "ann", Good: i%3 > 0, Draw: &stats.Draw{Order: stats.Random}})
	}
	d.mu.Unlock()
	for _, look := range []struct {
		name, scheme  string
		width, height int64
	}{{"light", "light", 1280, 900}, {"dark", "dark", 1280, 900}, {"narrow", "light", 390, 844}} {
		b.do(chromedp.EmulateViewport(look.width, look.height))
		b.media("prefers-color-scheme", look.scheme)
		for name, path := range map[string]string{"trust": "/trust?cascade=post", "cost": "/cost?cascade=post", "label": "/label?cascade=post&by=bob"} {
			b.open(path)
			if wide := js[int](b, "document.documentElement.scrollWidth"); wide > int(look.width) {
				t.Errorf("%s is %d wide on a screen of %d", name, wide, look.width)
			}
			b.shoot("measured-" + name + "-" + look.name)
		}
	}
}
