package pages_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// TestAxeFindsNothing checks every kind of page with the accessibility rules of axe-core, in
// light and dark colours, on wide and narrow screens. axe-core is in a folder of node modules:
//
//	npm install axe-core && CAPSTAN_NODE_MODULES=$PWD/node_modules go test ./runner/serve/internal/pages -run Axe
func TestAxeFindsNothing(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(os.Getenv("CAPSTAN_NODE_MODULES"), "axe-core", "axe.min.js"))
	if os.Getenv("CAPSTAN_NODE_MODULES") == "" || err != nil {
		t.Skip("ACCESSIBILITY NOT LOOKED AT: CAPSTAN_NODE_MODULES, a node_modules with axe-core, is not here")
	}
	w, d := weighing(t, 12, 3)
	_ = d.Label("post", "", stats.Label{Text: stats.TextDigest("Short."), Phase: "draft", Gate: "all", By: "ann"})
	post := w.Start("post", map[string]any{"topic": "owls"})
	blocked, waiting, choosing := w.Start("blocked", nil), w.Start("ask", nil), w.Start("choose", nil)
	fan := w.Start("tries", nil)
	b := newBrowser(t, w.HTTP.URL)
	pages := []string{
		"/", "/?words=owls&label=bad", "/?status=over_budget", "/start", "/start?cascade=form", "/compare", "/questions", "/compare?a=" + post + "&b=" + blocked, "/gates", "/batches",
		"/trends", "/trends?gate=warm", "/rejections?gate=warm", "/trust?cascade=post", "/cost?cascade=post", "/label?cascade=post", "/label?cascade=post&by=bob",
		"/runs/" + post, "/runs/" + blocked, "/runs/" + waiting, "/runs/" + choosing, "/runs/" + fan, "/runs/" + post + "/graph", "/runs/" + post + "/again", "/runs/" + post + "/receipt",
		"/runs/" + post + "/phase?at=draft", "/runs/" + post + "/call?at=draft/attempt[2]/turn[0]/model", "/runs/" + post + "/diff?a=draft/attempt[1]&b=draft/attempt[2]",
	}
	for _, path := range pages {
		b.do(chromedp.EmulateViewport(1280, 900))
		b.open(path)
		js[any](b, "document.querySelectorAll('details').forEach(function (d) { d.open = true })")
		js[any](b, string(axe)+"; 0")
		b.accessible(path, "light")
		b.do(chromedp.EmulateViewport(390, 844))
		b.accessible(path, "dark")
	}
}

// accessible checks the open page in light or dark colours.
func (b *browser) accessible(path, scheme string) {
	b.Helper()
	b.media("prefers-color-scheme", scheme)
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ['violations']}).then(function (r) { return JSON.stringify(r.violations.map(function (v) {
		return {id: v.id, help: v.help, where: v.nodes.slice(0, 3).map(function (n) { return n.html.slice(0, 200) + ' ' + (n.any[0] ? n.any[0].message : '') })} })) })`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", path, err)
	}
	var found []struct {
		ID, Help string
		Where    []string
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		b.Fatal(err)
	}
	for _, v := range found {
		b.Errorf("%s, %s: %s: %s\n%s", path, scheme, v.ID, v.Help, fmt.Sprint(v.Where))
	}
}
