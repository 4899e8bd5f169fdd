package pages_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed61713e19/capstan/runner/measure"
)

// TestAxeFindsNothing holds every kind of page against axe-core (Deque's rules of
// accessibility: names, roles, contrast), light and dark, wide and narrow. It is
// taken from a folder of node modules:
//
//	npm install axe-core && CAPSTAN_NODE_MODULES=$PWD/node_modules go test ./runner/serve/internal/pages -run Axe
func TestAxeFindsNothing(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(os.Getenv("CAPSTAN_NODE_MODULES"), "axe-core", "axe.min.js"))
	if os.Getenv("CAPSTAN_NODE_MODULES") == "" || err != nil {
		t.Skip("ACCESSIBILITY NOT LOOKED AT: CAPSTAN_NODE_MODULES, a node_modules with axe-core, is not here")
	}
	w, d := weighing(t, 12, 3)
	_ = d.Label("post", "", measure.Label{Text: measure.TextDigest("Short."), Phase: "draft", Gate: "all", By: "ann"})
	post := w.Start("post", map[string]any{"topic": "owls"})
	blocked, waiting, choosing := w.Start("blocked", nil), w.Start("ask", nil), w.Start("choose", nil)
	fan := w.Start("tries", nil)
	b := newBrowser(t, w.HTTP.URL)
	pages := []string{
		"/", "/?words=owls&label=bad", "/?status=over_budget", "/start", "/start?cascade=form", "/compare", "/compare?a=" + post + "&b=" + blocked, "/gates", "/batches",
		"/trends", "/trends?gate=warm", "/rejections?gate=warm", "/trust?cascade=post", "/cost?cascade=post", "/label?cascade=post", "/label?cascade=post&by=bob",
		"/runs/" + post, "/runs/" + blocked, "/runs/" + waiting, "/runs/" + choosing, "/runs/" + fan, "/runs/" + post + "/graph", "/runs/" + post + "/again", "/runs/" + post + "/receipt",
		"/runs/" + post + "/phase?at=draft", "/runs/" + post + "/call?at=draft/attempt[2]/turn[0]/model", "/runs/" + post + "/diff?a=draft/attempt[1]&b=draft/attempt[2]",
	}
	for _, look := range []struct {
		scheme        string
		width, height int64
	}{{"light", 1280, 900}, {"dark", 390, 844}} {
		b.do(chromedp.EmulateViewport(look.width, look.height))
		b.media("prefers-color-scheme", look.scheme)
		for _, path := range pages {
			b.open(path)
			js[any](b, "document.querySelectorAll('details').forEach(function (d) { d.open = true })")
			js[any](b, string(axe)+"; 0")
			text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ['violations']}).then(function (r) { return JSON.stringify(r.violations.map(function (v) {
				return {id: v.id, help: v.help, where: v.nodes.slice(0, 3).map(function (n) { return n.html.slice(0, 200) + ' ' + (n.any[0] ? n.any[0].message : '') })} })) })`, chromedp.EvalAwaitPromise))
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			var found []struct {
				ID, Help string
				Where    []string
			}
			if err := json.Unmarshal([]byte(text), &found); err != nil {
				t.Fatal(err)
			}
			for _, v := range found {
				t.Errorf("%s, %s: %s: %s\n%s", path, look.scheme, v.ID, v.Help, fmt.Sprint(v.Where))
			}
		}
	}
}
